"""Benchmarks (`make bench`, `python -m bench requests`). docs/performance.md has the results.

- requests: `requests`, `orders`, `releases` (against another commit), `cold_start`
- growth: `growth`, `storefront`, `facets` (the first read of lists, by the values that a shop uses)
- files and jobs: `imports`, `jobs`
- deliveries: `webhooks`, `kill`
- monthly costs: `shops`
- shared: `stage` and `dynamodb` (the environment), `meter`
"""
