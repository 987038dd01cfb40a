"""The deployed service, over HTTP.

`tour` calls everything once, `test_spec` checks each statement of the contract, `console`
uses a browser.
"""
