"""The differences of moto and the double from AWS's engine, with reasons (docs/conformance.md)."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """`who` answers an `operation` differently in `what`, an expression; `why` that is accepted."""

    who: str
    operation: str
    what: str
    why: str

    def covers(self, who: str, operation: str, what: str) -> bool:
        is_there = (self.who, self.operation) == (who, operation)
        return is_there and re.fullmatch(self.what, what, re.DOTALL) is not None


KNOWN = [
    Known(
        "moto",
        "TransactWriteItems",
        "TransactionCanceledException instead of ",
        "Moto forgets client tokens: a transaction that is sent again fails its own conditions.",
    ),
    Known(
        "moto",
        "TransactWriteItems",
        "ValidationException instead of ",
        "Moto takes an item of nearly 400 KB for a larger one.",
    ),
]
