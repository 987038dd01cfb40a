"""Senders that crash at each call: see `tests/support/kill.py`."""

from tests.support.kill import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
