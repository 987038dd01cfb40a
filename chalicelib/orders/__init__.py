"""Orders, their money and their lists.

- HTTP: `routes`, `schemas`; what is stored: `model`
- an order after a request, pure functions: `lifecycle` (creation, PATCH, events), `transitions`
  (moves of its status), `lines` (lines and sums), `editing`, `closing`, `shipments`, `pieces` (what
  was shipped, came back, and is still to ship), `production` (work on what is made), `stages` (of
  the workshop, and work as stored); its money: `account` (what
  follows from payments and refunds), `payments`, `refunds`
- the table: `store` (an order and its effects in one commit), `room` (what fits into that commit),
  `numbers`, `transactions`, `due` (the list of what is due), `carriers` (that the shop knows),
  `shop_settings` (how those and the stages are replaced), `files` (stored apart from the order),
  `sales` and `spending` (totals, and their comparison with the orders)
"""
