"""Writes docs/limits.md from the limits in the description of the API (`make examples`)."""

from pathlib import Path

from chalicelib.api_keys.model import READS_PER_MINUTE, WRITES_PER_MINUTE
from chalicelib.description.limits import LIMITS
from chalicelib.request.rate import FAILED_SIGN_INS_PER_MINUTE, STOREFRONT_PER_MINUTE

PAGE = Path(__file__).resolve().parent.parent / "docs/limits.md"
_INTRODUCTION = f"""# Limits

`make examples` writes this page from the code. [The API](api.md#limits) says what a source address
is, and how one key gets more. The schemas of the description have the limits of single fields.

Requests a minute:

- {READS_PER_MINUTE} GET and HEAD of a key
- {WRITES_PER_MINUTE} of all else of a key; a bulk call or an import is one
- {STOREFRONT_PER_MINUTE} of the storefront, from a source address
- {FAILED_SIGN_INS_PER_MINUTE} failed sign-ins from a source address, in one process

At most:

"""


def render_page() -> str:
    """Return the page as Markdown."""
    return _INTRODUCTION + "".join(f"- {most:,} {what}\n" for what, most in LIMITS.items())


if __name__ == "__main__":
    PAGE.write_text(render_page())
