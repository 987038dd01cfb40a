"""The interface, statement by statement and in its order, through HTTP against the deployed stack.

Each test is one statement and is named after it; a case of a table is named by its line. How the
parts work is tested elsewhere; here is what a client may rely on (docs/contract.md), seen by a
client that knows nothing else.
"""
