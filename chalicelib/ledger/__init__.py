"""The stock ledger: every change of a tracked quantity is one entry, which nothing edits.

- `model`: the entry, its causes, the query of the list
- `store`: from commits to entries, the list, the nightly comparison with the stock
- `routes`: the API
"""
