"""DynamoDB.

- items: `table` (get, query, write), `attributes` (an item as DynamoDB's JSON), `conditions`
- a write with all its effects: `commit` (one transaction), `outbox` (its events), `idempotency`,
  `actor` (who writes)
- work on many outbox items: `lockstep` (work that shares its calls), `logs` (entries, each once)
- `dynamodb`: the calls, one or several in a round trip
"""
