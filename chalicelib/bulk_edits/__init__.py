"""One change to many products or orders, each of which succeeds or fails independently.

`routes` starts a job, `work` does it; `prices` computes changed prices.
"""
