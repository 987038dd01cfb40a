"""Benchmarks (`make bench`, `python -m bench requests`). docs/performance.md has the results.

- requests: `requests`, `orders`, `releases` (against another commit), `cold_start`, `memory`
- growth and concurrency: `growth`, `growth_orders`, `contention`
- files and jobs: `imports`, `jobs`; `laptop`, on `make run`
- deliveries: `webhooks`, `isolation`, `outage`, `kill`
- monthly costs: `shops`
- shared: `stage` and `dynamodb` (the environment), `meter`
"""
