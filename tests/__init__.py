"""The tests. A folder tests the slice of its name; modules here test mechanisms and the repository.

- `jobs`: bulk edits, exports, undo and reindexing; `customers`: also merges and erasures;
  `orders`: also stock moves, low stock, sales and the summary; `events`: the change feed
- `listing`: lists, search, totals and upgrades; `request`: authentication, rate limits,
  bodies and answers; `infra`: templates, scripts and the package; `console`: the served files
- `webhooks`: also `safe_post`; `client`: `clients/python`
- `e2e`: the deployed service on the embedded AWS, in a browser too (`e2e/console`); `deploy`:
  deployments; `runtime`: the package in Lambda's runtime client; `conformance`: AWS's own DynamoDB
  engine and permissions
- `support`: code that tests and benchmarks share; `examples`: makes the description's examples;
  `generators`: runs client generators (`make description`); `mutants`: `make mutants`
"""
