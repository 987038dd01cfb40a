"""Erasing a customer.

`routes` starts a job, `work` rewrites whatever stays, `texts` keeps what it searches for until the
job ends, `jobs` says what is left of other jobs.

What ends by itself within 30 days is not rewritten: kept replies, events, deliveries, logs for
undo, files. `work.GONE_AFTER` lists it.
"""
