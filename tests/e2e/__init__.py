"""The deployed service, asked through HTTP, as its users do.

`tour` calls everything once, `test_spec` has a test for each statement of the interface, `console`
uses it in a browser. The rest is named after what it tries.
"""
