"""What jobs changed, and taking it back.

A job that changes products or orders writes one log entry into the commit of each record: `store`.
`model` says what is put back, `work` does it.
"""
