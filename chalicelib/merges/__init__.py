"""Merging two customers who are one person.

`routes` starts a job, `work` does it.
"""
