"""What tests and benchmarks share.

- `shop`, `documented`: the application behind API Gateway's events; each answer is held against the
  description.
- `import_desk`, `job_desk`, `webhook_world`, `webhook_events`: imports, jobs and deliveries with
  their queues, run as Lambda does.
- `dynamodb_double` (with `_expressions`, `_partition`, `_faults`), `units`: a DynamoDB in memory,
  the faults that it injects, and what AWS would bill.
- `last_release`: a shop as the last release wrote it, with what waited then.
- `faults`, `environment`: faults below botocore; the settings, and an account in memory.
- `running`: the whole service on the embedded AWS.
- `buyers`, `kill`, `round_trips`: buyers who race for stock, senders that die, and the longest
  chain of calls that waited for one another.
"""
