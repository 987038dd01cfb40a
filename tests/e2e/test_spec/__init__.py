"""What the interface promises, over HTTP against the deployed stack.

The client uses only what the interface promises. Each rule with all its cases is tested in the
process (`tests/orders`, `tests/products`, `tests/request`, …); this shows what only a deployment
can: gateway, stream, queues, clocks and receivers.
"""
