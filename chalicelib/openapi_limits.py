"""What the description says of the service as a whole, above all its limits."""

from typing import Final

from chalicelib import money
from chalicelib.api_keys.model import READS_PER_MINUTE, WRITES_PER_MINUTE
from chalicelib.bulk_edits.model import MOST_IDS
from chalicelib.customers.model import MOST_ADDRESSES
from chalicelib.events.model import MOST_FEED_EVENTS
from chalicelib.idempotency import LONGEST_KEY
from chalicelib.imports.model import (
    LARGEST_CELLS,
    LARGEST_FORM,
    LARGEST_GROUP,
    LARGEST_ROW,
    LARGEST_SHEET,
    LARGEST_UNPACKED,
    LARGEST_UPLOAD,
    LARGEST_WORKBOOK,
    LONGEST_HEADER,
    LONGEST_MAPPING_NAME,
    MOST_COLUMNS,
    MOST_MAPPINGS,
    MOST_ROWS,
)
from chalicelib.listing import MOST_WORD_BYTES
from chalicelib.listing.lists import MOST_COUNTED
from chalicelib.listing.query import MOST_ACCEPTED_VALUES
from chalicelib.listing.search import MOST_MATCHES
from chalicelib.orders.model import (
    LARGEST_HISTORY,
    LARGEST_ORDER,
    MOST_HISTORY,
    MOST_LINES,
    MOST_PIECES,
    MOST_PRODUCTS,
)
from chalicelib.products.model import (
    BULK_PRODUCTS,
    DEEPEST_METADATA,
    DEEPEST_PUBLIC,
    LARGEST_BULK,
    LARGEST_DESCRIPTION,
    LARGEST_METADATA,
    LARGEST_PRODUCT,
    MOST_PARTS,
    MOST_STOCK,
    MOST_VARIANTS,
)
from chalicelib.request.parse import LARGEST_EXPONENT, LONGEST_NUMBER
from chalicelib.request.rate import FAILED_SIGN_INS_PER_MINUTE, STOREFRONT_PER_MINUTE
from chalicelib.request.routes import LARGEST_BODY
from chalicelib.request.size import LARGEST_ANSWER
from chalicelib.safe_post.destination import LONGEST_URL
from chalicelib.safe_post.response import LONGEST_HEAD, MOST_HEADERS
from chalicelib.safe_post.wire import MOST_RECEIVED
from chalicelib.schemas import LARGEST_PAGE
from chalicelib.validation import DEEPEST, MOST_ERRORS
from chalicelib.webhooks.model import (
    DEEPEST_FILTER,
    LARGEST_FILTER,
    LONGEST_OVERLAP,
    MOST_FILTER_VALUES,
    MOST_SECRETS,
)

_INTRODUCTION: Final = (
    "Products, orders and webhooks of one shop. Requests below `/api/admin` carry an API key;"
    " the others are open. Times are ISO 8601 in UTC, amounts are strings with the decimals of"
    f" the shop's currency. Limits are per minute: {READS_PER_MINUTE} reads and {WRITES_PER_MINUTE}"
    f" writes a key, {STOREFRONT_PER_MINUTE} requests without one and"
    f" {FAILED_SIGN_INS_PER_MINUTE} failed sign-ins a source address."
)
# What protects the service, besides what the schemas say of single fields; docs/api.md#limits has
# the same (tests/test_limits.py).
_LIMITS: Final = {
    "bytes of a body": LARGEST_BODY,
    "bytes of the body of a bulk call": LARGEST_BULK,
    "levels of objects and lists in a body": DEEPEST,
    "characters of a number": LONGEST_NUMBER,
    "as the exponent of a number": LARGEST_EXPONENT,
    "of an amount, which is below that": money.LARGEST,
    "characters of an `Idempotency-Key`": LONGEST_KEY,
    "bytes of an answer": LARGEST_ANSWER,
    "errors in an answer": MOST_ERRORS,
    "items of a page": LARGEST_PAGE,
    "values of a filter": MOST_ACCEPTED_VALUES,
    "matches that a search reads": MOST_MATCHES,
    "records that are counted by their keys for a total": MOST_COUNTED,
    "results that the storefront's pages reach": DEEPEST_PUBLIC,
    "bytes of a product": LARGEST_PRODUCT,
    "bytes of its `description`": LARGEST_DESCRIPTION,
    "bytes of its `metadata`": LARGEST_METADATA,
    "levels in its `metadata`": DEEPEST_METADATA,
    "variants of a product": MOST_VARIANTS,
    "bytes of words that it is found by": MOST_WORD_BYTES,
    "pieces in stock": MOST_STOCK,
    "products of a bulk call": BULK_PRODUCTS,
    "variants, tags and words of all of them": MOST_PARTS,
    "records of a bulk edit by `ids`": MOST_IDS,
    "bytes of an order": LARGEST_ORDER,
    "lines of an order": MOST_LINES,
    "pieces of each": MOST_PIECES,
    "products of an order": MOST_PRODUCTS,
    "entries of its history, of which the first and the latest stay": MOST_HISTORY,
    "bytes of these": LARGEST_HISTORY,
    "addresses of a customer": MOST_ADDRESSES,
    "events of a page of the feed": MOST_FEED_EVENTS,
    "bytes of a file by form": LARGEST_FORM,
    "bytes of an upload": LARGEST_UPLOAD,
    "bytes of a workbook": LARGEST_WORKBOOK,
    "bytes of a workbook that is unpacked": LARGEST_UNPACKED,
    "bytes of its cells in memory": LARGEST_CELLS,
    "bytes of its sheet as CSV": LARGEST_SHEET,
    "columns of a file": MOST_COLUMNS,
    "characters of its header": LONGEST_HEADER,
    "bytes of a row of it": LARGEST_ROW,
    "rows of one product in it": MOST_ROWS,
    "bytes of these rows": LARGEST_GROUP,
    "saved mappings": MOST_MAPPINGS,
    "characters of the name of one": LONGEST_MAPPING_NAME,
    "characters of a webhook's URL": LONGEST_URL,
    "values in its filter": MOST_FILTER_VALUES,
    "bytes of its filter": LARGEST_FILTER,
    "levels of its filter": DEEPEST_FILTER,
    "secrets of it that sign at once": MOST_SECRETS,
    "hours in which an earlier secret signs": LONGEST_OVERLAP,
    "lines of the head of a receiver's answer": MOST_HEADERS,
    "bytes of this head": LONGEST_HEAD,
    "bytes that a receiver sends, encryption and all": MOST_RECEIVED,
}
DESCRIPTION: Final = (
    f"{_INTRODUCTION}\n\nAt most: "
    + "; ".join(f"{most:,} {what}" for what, most in _LIMITS.items())
    + "."
)
