"""The deployed service, over HTTP.

`tour` calls everything once, `test_spec` has a test for each statement of the contract, `console`
uses a browser.
"""
