"""The service.

A folder is a slice (one capability of the shop) or a mechanism; a module here is a mechanism that
all of them use. `docs/architecture.md` shows how they work together.

Slices:

- the catalogue: `products`, `storefront`
- sales: `orders`, `customers`, `merges`, `erasures`, `summary`
- files and many records at once: `imports`, `exports`, `bulk_edits`, `undo`; `reports` of a period
- events: `outbox` (its stream, and its consumers), `webhooks`, `events` (the change feed)
- stock: `ledger`, of every change of a quantity; `stocktaking`: counts of what is there
- access and overview: `api_keys`, `audit` (who wrote what), `search`, `facets` (the values used so
  far), `console`; `nightly`, the check of totals
- `jobs`: long work in steps, with states and a list; `reindexing`, after an upgrade

Mechanisms:

- `values`: ids, amounts, times, slugs, addresses; nothing in it calls AWS
- `storage`: DynamoDB: items, one transaction, events, idempotency keys
- `listing`: lists, searches, totals
- `request`: what every HTTP request passes; `description`: the OpenAPI document
- `safe_post`: a POST to an address that a client chose
- modules here, which any of them may use: `settings`, `telemetry`, `problems` (errors), `schemas`
  and `validation` (input), `aws` (clients), `sqs`, `deadline` (retries),
  `threads`
"""

__version__ = "1.1.0"
"""The release: of this package, and of its client (`clients/python`)."""
