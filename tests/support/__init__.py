"""What tests and benchmarks share.

- `shop`, `documented`: the application, called with API Gateway's events; each answer is compared
  with the description.
- `import_desk`, `job_desk`, `webhook_world`, `webhook_events`: imports, jobs and deliveries with
  their queues, run as in Lambda.
- `dynamodb_double` (with `_expressions`, `_partition`, `_faults`), `units`: a DynamoDB in memory,
  the faults that it injects, and what AWS would bill.
- `faults`, `environment`: faults below botocore; the settings, and an account in memory.
- `forms`, `strict_json`: forms with a file; JSON as other languages' parsers read it.
- `schedule`, `cases`: the order of the test files; what `make test` leaves out.
- `running`: the whole service on the embedded AWS.
- `examples`, `generators`, `mutants`: the programs of `make examples`, `description` and `mutants`.
- `templates`: the CloudFormation templates, read.
- `kill`, `round_trips`: senders that crash, and the number of calls that waited for one another.
"""
