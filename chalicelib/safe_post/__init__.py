"""One HTTP POST to a receiver that is not trusted.

`post` sends, `destination` checks the URL and addresses, `wire` enforces the deadline and the
limit, also inside TLS, `response` reads the answer.
"""
