"""Webhooks: an event becomes a signed POST to each endpoint that wants it.

- endpoints: `routes`, `model`, `store`, `shown`, `master_key` (secrets), `filter`
- from an event to deliveries: `fan_out`; `sample_event` (tests)
- deliveries: `deliveries` (their states), `sending` (claim, post, settle, retry), `parked` (what
  waits longer than a queue can hold it), `replay`, `view` (their lists)
- `summaries`: e-mails about what failed
"""
