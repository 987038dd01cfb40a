"""The client for asyncio. `generate.py` writes the synchronous one from it."""
