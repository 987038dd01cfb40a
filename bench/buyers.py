"""Concurrent buyers of little stock: see `tests/support/buyers.py`."""

from tests.support.buyers import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
