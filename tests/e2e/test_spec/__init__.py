"""docs/contract.md, statement by statement in its order, over HTTP against the deployed stack.

Each test is one statement and is named after it; a case of a table is named by its row. The client
uses only what the contract promises. How the parts work is tested elsewhere.
"""
