"""Hand each committed event to the consumers of the outbox's stream.

The consumers write the deliveries, the values in use, the stock ledger, the audit log and the
change feed.

- `fan_out`: the list of consumers, the stream, and what it lost

The items are `storage/outbox.py`; a consumer is `consume` in the `consumer.py` of its slice.
"""
