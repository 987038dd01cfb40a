"""The audit log: every write is one entry, which nothing edits.

- `model`: the entry, the query of the list
- `store`: from commits to entries, the list, what is left of an erased person
- `routes`: the API
"""
