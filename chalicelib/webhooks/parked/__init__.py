"""Deliveries that wait longer than SQS can hold a message.

`parking` stores them, `waking` starts the Step Functions wait, `redrive` puts them back on SQS,
`recover` sends failed ones again.
"""
