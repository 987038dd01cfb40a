"""What the interface promises, statement by statement, over HTTP against the deployed stack.

Each test is one statement and is named after it; a case of a table is named by its row. The client
uses only what the interface promises. How the parts work is tested elsewhere.
"""
