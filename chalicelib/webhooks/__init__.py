"""Webhooks: an event becomes a signed POST to each endpoint that wants it.

- endpoints: `routes`, `model`, `store`, `schemas`, `master_key` (secrets), `filter`, `health`
  (failures in a row), `summaries` (e-mails about what failed)
- from an event to its deliveries: `consumer`; `sample_event` (tests)
- a delivery: `deliveries` (all its states), `attempts` (a request and its response), `retry` (when
  the next one is), `view` (lists of deliveries)
- sending: `deliver` (a batch of messages), `signature`, `messages` (the queues), `replay`
- waiting longer than a queue can hold a message: `parking`, `executions` (timers), `redrive` (what
  is due is sent), `recover` (what failed or waits is replayed)
"""
