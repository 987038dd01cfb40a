"""Orders, their money and their lists.

- HTTP: `routes`, `schemas`; what is stored: `model`
- an order after a request, pure functions: `lifecycle` (creation, PATCH, events), `transitions`
  (moves of its status), `lines` (lines and sums), `editing`, `closing`; its money: `account` (what
  follows from payments and refunds), `payments`, `refunds`
- the table: `store` (an order and its effects in one commit), `room` (what fits into that commit),
  `numbers`, `transactions`, `sales` and `spending` (totals, and their comparison with the orders)
"""
