"""Shops as releases left them: `kept` fills and loads them, `test_kept` reads them."""
