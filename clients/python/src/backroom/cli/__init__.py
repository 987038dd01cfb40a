"""The command `backroom`."""

from backroom.cli.commands import main

__all__ = ["main"]
