"""`python -m backroom`."""

from backroom.cli import main

main()
