"""Values of the shop: how each is read, checked and written. Nothing here calls AWS.

- what records have: `addresses`, `ids`, `metadata`, `money`, `slugs`
- time: `clock` (now), `times` (what a client sends), `timezone` (the shop's days)
- texts: `compact_json`, `spreadsheets` (what one makes of a cell)
- whole records: `batches`, `changes` (for the audit log), `forgetting` (an erasure)
"""
