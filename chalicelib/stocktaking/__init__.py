"""Counting what is on the shelves: a count takes lines while the shop sells, then a job applies it.

- `model`: the count, its lines, what clients send
- `store`: counts in the table
- `work`: the steps of the job
- `routes`: the API
"""
