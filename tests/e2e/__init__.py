"""The deployed service, over HTTP.

`tour` calls everything once, `test_spec` shows the contract, `console` uses a browser.
"""
