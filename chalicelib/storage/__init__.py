"""DynamoDB.

- items: `table` (get, query, write), `attributes` (an item as DynamoDB's JSON), `conditions`
- a write with all its effects: `commit` (one transaction), `outbox` (its events), `idempotency`
- `feed`: the events of all commits, in order
- `dynamodb`: the calls, one or several in a round trip
"""
