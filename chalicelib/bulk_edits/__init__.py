"""One change to many products or orders, each of which succeeds or fails for itself.

`routes` starts a job, `work` does it; `prices` says what a change of prices makes of a product.
"""
