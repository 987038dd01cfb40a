"""Numbers with a unit on the pages are those of the code, or named here as AWS's or as measured."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from backroom import webhooks as client

from chalicelib.audit import model as audit
from chalicelib.description.limits import LIMITS
from chalicelib.erasures import texts
from chalicelib.events import model as events
from chalicelib.exports import store as exports
from chalicelib.files import images
from chalicelib.files import model as pictures
from chalicelib.imports import chunks, model, store
from chalicelib.imports.steps import plan
from chalicelib.jobs import model as jobs
from chalicelib.listing import lists, menus, positions, search, shelf, words
from chalicelib.nightly import pictures as nightly
from chalicelib.orders import model as order_model
from chalicelib.orders import numbers, production
from chalicelib.orders import schemas as orders
from chalicelib.products import routes as products
from chalicelib.products import schemas as catalogue
from chalicelib.reindexing import work as reindexing
from chalicelib.reports import work as reports
from chalicelib.safe_post.response import LONGEST_BODY
from chalicelib.search import store as found
from chalicelib.stocktaking import work as counts
from chalicelib.storage import idempotency, outbox
from chalicelib.summary import store as summary
from chalicelib.values import changes
from chalicelib.webhooks import model as webhooks
from chalicelib.webhooks import retry, view
from chalicelib.webhooks.redrive import PER_SECOND
from tests.support.templates import load_template

pytestmark = pytest.mark.thorough

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
DAY, HOUR = 86_400, 3_600
WORDS: Final = {1: "an", 5: "five", 8: "eight"}
LIMIT: Final = {what: int(most) for what, most in LIMITS.items()}
KEPT: Final = f"{outbox.KEPT_SECONDS // DAY} days"
UNDONE: Final = f"{jobs.KEPT_SECONDS // DAY} days"
ANSWER: Final = f"{LIMIT['bytes of an answer'] // 10**6} MB"


def count_attempts(queue: str) -> int:
    """Return how often a queue's message is received before it is a dead letter."""
    redrive = load_template("resources.yaml")["Resources"][queue]["Properties"]["RedrivePolicy"]
    return int(redrive["maxReceiveCount"])


# What each page says of a number of the code.
SAYS: Final = {
    "api": [
        f"at most {LIMIT['characters of a number']} characters",
        f"1 to {idempotency.LONGEST_KEY} characters",
        f"valid for {idempotency.KEPT_SECONDS // HOUR} hours",
        f"No answer exceeds {ANSWER}",
        f"an answer that would exceed {ANSWER}",
        f"stops after {lists.MOST_COUNTED:,} keys (of movements and of the audit log "
        f"{audit._COUNTED:,})",
        f"If more than {search.MOST_MATCHES:,} records match",
        f"not written after {products._BULK_SECONDS:.0f} seconds",
        f"more than {products._WHOLE_ANSWERS // 10**6} MB",
        f"up to {LIMIT['products of a bulk call']} products",
        f"{LIMIT['variants, tags and words of all products of a bulk call']:,} variants",
        f"Up to {menus.MOST_VALUES} values",
        f"list has up to {shelf.FEW} entries",
        f"up to {WORDS[found.MOST_FOUND]} orders",
    ],
    "audit": [
        f"at most {changes.MOST} fields",
        f"cut to {changes.LONGEST} characters",
    ],
    "customers": [
        f"within {KEPT}",
        f"{KEPT} after the event",
        f"{UNDONE} after the change",
        f"{UNDONE} after they were made",
        f"exceed {texts._MOST_BYTES // 1_000} KB",
    ],
    "feed": [f"last {KEPT}", f"at most {events.MOST_FEED_EVENTS}", f"more than {KEPT} ago"],
    "files": [
        f"at most {LIMIT['bytes of a picture'] // 1024**2} MiB",
        f"{pictures.MOST_PIXELS // 10**6} megapixels",
        f"{images._SHORTEST} to {pictures.LONGEST_SIDE:,} pixels",
        "{small}, {medium} or {large:,} pixels".format_map(pictures.SIZES),
        "at most {small} and {large:,} pixels".format_map(pictures.SIZES),
        f"up to {images._LARGEST_PROFILE // 1024} KB",
        f"unused for {nightly.UNUSED.days} days",
        f"up to {LIMIT['files of an order']} files",
        f"up to {LIMIT['bytes of a file of an order'] // 1024**2} MiB",
        f"more than {LIMIT['bytes of a file of an order'] // 1024**2} MiB",
        f"more than {LIMIT['bytes of their names and notes']:,} bytes",
    ],
    "formats": [f"more than {catalogue.BARCODE_CHARACTERS} characters"],
    "import": [
        f"up to {model.LARGEST_FORM / 10**6} MB",
        f"up to {LIMIT['bytes of an upload'] // 1024**3} GB",
        f"first {store.MOST_PREVIEWS} products",
        f"kept for {UNDONE}",
        f"after {UNDONE}, or",
        f"within {plan._PLANNING_SECONDS // 60} minutes",
        f"a product {LIMIT['rows of one product in a file']:,} rows",
        f"{LIMIT['characters of the rows of one product'] // 1024**2} MB",
        f"up to {chunks._ROWS} rows",
        f"After {model._ASKED.days} days without",
        f"({count_attempts('ImportChunks')} attempts)",
        f"first {jobs.INLINE_ERRORS}, by line",
    ],
    "jobs": [
        f"last {UNDONE}",
        f"kept for {UNDONE}",
        f"{jobs.MOST_AT_ONCE} records of a bulk edit",
        f"{counts._AT_ONCE} lines of a count",
        f"{reports._PAGE * reports._PAGES:,} records of a report",
        f"up to {LIMIT['products of a bulk call']} rows",
        f"valid for {WORDS[exports.URL_SECONDS / HOUR]} hour",
    ],
    "listing": [
        f"up to {positions._FEW} records",
        f"up to {reindexing._LOOKED_AT_ONCE} records",
        f"up to {shelf.FEW} entries",
        f"up to {shelf._MOST_READ:,} entries",
        f"more than {shelf._MOST_READ:,} entries",
        f"first {words.LONGEST_WORD} characters",
        f"more than {search.MOST_MATCHES:,} words",
        f"more than {search._MOST_WHOLE:,}, it is 422",
        f"at most {lists.MOST_COUNTED:,}",
        f"the {WORDS[search._MOST_READ]} longest",
    ],
    "lost": [f"For {KEPT} the event", f"After {KEPT}", f"for {UNDONE} ([what"],
    "orders": [
        f"up to {orders.MOST_LINES} [lines]",
        f"at most {LIMIT['products of an order']} products",
        f"at most {LIMIT['bytes of an order']:,} bytes",
        f"from {numbers._BEFORE + 1}",
        f"latest {order_model.MOST_HISTORY - 1} changes",
        f"at most {orders.EARLY // timedelta(hours=1)} hours ahead",
        f"more than {summary.MOST_COUNTED:,} transactions",
        f"up to {summary.MOST_LOW} variants",
    ],
    "production": [
        f"{orders.LARGEST_SPECIFICATION:,} bytes",
        f"At most {LIMIT['lines of an order that are made']} lines",
        f"at most {LIMIT['products of an order']}",
        f"latest {production._MOST_MOVES} ({production._LARGEST_MOVES:,} bytes",
        f"up to {production._LARGEST_REMOVED:,} bytes",
        f"2 to {orders.MOST_STAGES}",
        f"up to {catalogue.MOST_SPECIFIED} of",
    ],
    "stock": [f"up to {LIMIT['variants of a count of stock']:,} variants", f"for {UNDONE}"],
    "webhooks": [
        f"for {KEPT}",
        f"the {KEPT} that",
        f"more than {KEPT} ago",
        f"exceed {view._ANSWERS // 10**6} MB",
        f"at most {PER_SECOND} a second",
        f"at most {client.TOLERANCE} seconds",
        f"first {LONGEST_BODY // 1024} KB",
        f"(up to {webhooks.LONGEST_OVERLAP})",
        f"{webhooks.RECEIVER_SECONDS} seconds",
        f"{len(retry.SCHEDULE) + 1} attempts",
        f"more than {retry.LONGEST_QUEUE_DELAY // 60} minutes",
        f"at most {retry.LONGEST_QUEUE_DELAY // 60} minutes",
        f"to {retry.LONGEST_RETRY_AFTER // HOUR} hours",
    ],
}


def read_line(page: str) -> str:
    """Return a page's text in one line."""
    return " ".join((DOCS / f"{page}.md").read_text().split())


@pytest.mark.parametrize("page", SAYS)
def test_a_page_says_the_numbers_of_the_code(page: str) -> None:
    text = read_line(page)
    assert [phrase for phrase in SAYS[page] if phrase not in text] == []


UNITS: Final = (
    "KB|MB|MiB|GB|bytes|characters|seconds|minutes|hours|days|products|variants|orders|lines|rows|"
    "records|levels|pieces|parcels|shipments|attempts|keys|events|tags|megapixels|pixels|entries|"
    "values|secrets|columns|units|fields|stages"
)
NUMBER: Final = re.compile(rf"(?<![\w.,#/`-])\d[\d,.]* (?:\w+ )?(?:{UNITS})\b")
# Numbers of AWS, of another test, of a measurement or an example.
OTHERS: Final = {
    "api": {"29 seconds", "10 MB", "10,240 bytes", "400 KB", "40 characters"},
    "audit": {"400 KB"},
    "customers": {"35 days"},
    "feed": {"6 MB"},
    "files": {"1 MB", "12 write units"},
    "formats": {"1, whose columns"},
    "import": {"50,000 products", "4,000 write units", "19 minutes", "1 GB", "90 bytes"},
    "listing": {
        "0.02 units",
        "0.036 units",
        "0.037 units",
        "0.05 units",
        "133 units",
        "18,000 units",
        "25 units",
        "3,000 read units",
        "43 units",
        "480 units",
        "91 write units",
        "500 variants",
        "100,000 products",
        "512 MB",
    },
    "lost": {"35 days"},
    "orders": {"400 bytes", "24 hours"},
    "production": {"730 calendar days", "200 characters"},
    "stock": {"33 write units", "8 read units", "16 write units", "2 GB"},
    "webhooks": {"5 minutes", "30 minutes", "2 hours", "12 hours", "7 days", "300 events"},
}


@pytest.mark.parametrize("page", SAYS)
def test_each_number_of_a_page_is_compared_or_of_others(page: str) -> None:
    text = re.sub(r"```.*?```", "", (DOCS / f"{page}.md").read_text(), flags=re.DOTALL)
    text = " ".join(text.split())
    for phrase in sorted(SAYS[page], key=len, reverse=True):
        text = text.replace(phrase, "")
    assert set(NUMBER.findall(text)) - OTHERS.get(page, set()) == set()
