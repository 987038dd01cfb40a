"""What was sold, taxed and paid in a period: a job adds up the period's orders and transactions.

`sums` has the rules, `work` adds up a part of the period in each step, `store` keeps what it has.
"""
