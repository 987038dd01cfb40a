"""One HTTP POST to a receiver that is not trusted.

`post` sends, `destination` says where that may be, `response` reads the answer.
"""
