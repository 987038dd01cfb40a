"""The service. A folder is a slice (one capability of the shop) or a mechanism; a module here is a
mechanism that all of them use. `docs/architecture.md` shows how they work together.

Slices:

- the catalogue: `products`, `storefront`
- sales: `orders`, `customers`, `merges`, `erasures`, `summary`
- files and many records at once: `imports`, `exports`, `bulk_edits`, `undo`
- events: `webhooks`, `events` (the change feed)
- access and overview: `api_keys`, `search`, `console`; `counts`, the nightly check of totals

Mechanisms:

- DynamoDB: `table`, `batches`, `commit`, `conditions`, `attributes`, `dynamodb` (one call),
  `round_trips` (several), `listing` (lists, searches, totals), `outbox` and `feed` (events),
  `idempotency`
- other AWS services: `aws` (clients), `sqs`, `safe_post` (a POST to an address that a client chose)
- HTTP: `request`, `validation`, `schemas`, `problems`; the description: `openapi`,
  `openapi_limits`, `openapi_schemas`, `public_names`
- long work: `jobs`, `deadline` (retries)
- values: `ids`, `clock`, `timezone`, `money`, `slugs`, `addresses`, `spreadsheets` (their
  errors), `forgetting` (a person's data)
- the process: `settings`, `telemetry`
"""
