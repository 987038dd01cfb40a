"""The tests. A folder tests the slice of its name; modules here test mechanisms and the repository.

- `e2e`: the deployed service on the embedded AWS; `deploy`: deployments; `runtime`: the package in
  Lambda's own runtime client; `conformance`: AWS's own DynamoDB engine and IAM rules
- `support`: what tests and benchmarks share; `generators`: values for hypothesis
- `examples`: makes the description's examples; `mutants`: `make mutants`
"""
