"""One HTTP POST to a receiver that is not trusted.

`post` sends, `destination` says where that may be, `wire` holds the deadline and the limit, also
inside TLS, `response` reads the answer.
"""
