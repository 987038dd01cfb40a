"""How a program of an operator ends if AWS refuses a call: with a sentence, not a traceback."""

from collections.abc import Callable
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.problems import Problem

ERRORS: Final = (BotoCoreError, ClientError, Problem)


def run(main: Callable[[], None]) -> None:
    """Run a program. It ends with status 1 and what AWS said if AWS refuses it.

    Such as: no credentials, no permission, no such stage in this region.
    """
    try:
        main()
    except ERRORS as refused:
        raise SystemExit(str(refused)) from refused
