"""Imports on the double: `files` has a file for each format; `test_crashes.py` uses `model` (random
files and their expected result) and `moves` (products that change between files).
"""
