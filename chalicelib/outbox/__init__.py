"""What is made of each committed event: one function reads the outbox's stream, and its consumers
write the deliveries, the values in use, the stock ledger, the audit log and the change feed.

- `fan_out`: the list of consumers, the stream, and what it lost

The items are `storage/outbox.py`; a consumer is `consume` in the `consumer.py` of its slice.
"""
