"""The changes of jobs, and undoing them.

A job that changes products or orders writes one log entry into the commit of each record: `store`.
`model` computes what is restored, `work` does it.
"""
