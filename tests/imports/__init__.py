"""Imports on the double: `files` has a file for each format; `model` and `moves` are the state
machine's.
"""
