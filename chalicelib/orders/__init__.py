"""Orders, their money and their lists.

- HTTP: `routes`, `schemas`, `model`
- an order after a request, pure functions: `lifecycle` (creation, PATCH, events), `transitions`
  (moves of its status), `lines` (lines and sums), `editing`, `payments`
- the table: `store` (an order and its effects in one commit), `numbers`, `transactions`,
  `sales` and `spending` (totals, and their recount)
"""
