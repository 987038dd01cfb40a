"""DynamoDB.

- items: `table` (get, query, write), `attributes` (an item as DynamoDB's JSON), `conditions`
- a write with all its effects: `commit` (one transaction), `outbox` (its events), `idempotency`
- `feed`: the events of all commits, in order
- the calls: `dynamodb` (one), `round_trips` (several)
"""
