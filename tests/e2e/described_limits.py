"""A check of schemathesis: what the description allows is refused by no limit of a single field.

Rules of several fields, and of what there is in the shop, are no part of a schema; their errors
have other codes.
"""

from typing import Any, Final

import schemathesis
from schemathesis import GenerationMode

_LIMITS: Final = {"too_short", "too_long", "out_of_range", "invalid_type"}


@schemathesis.check
def every_limit_is_described(context: Any, response: Any, case: Any) -> None:
    is_valid = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
    if is_valid and response.status_code == 422:
        errors = response.json().get("errors", ())
        found = [error for error in errors if error["code"] in _LIMITS]
        assert not found, f"a limit that the description does not have: {found}"
