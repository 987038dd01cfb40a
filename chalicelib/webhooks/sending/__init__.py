"""One attempt to deliver, from the message to its record.

`deliver` handles a batch, `claim` and `life` decide which attempts may be made, `settle` stores
what came back, `retry` decides when the next attempt is.
"""
