"""What the description contains about the whole service, above all its limits."""

from typing import Final

from chalicelib import listing, schemas, validation
from chalicelib.api_keys import model as api_keys
from chalicelib.bulk_edits import model as bulk_edits
from chalicelib.customers import schemas as customers
from chalicelib.events import model as events
from chalicelib.files import model as files
from chalicelib.imports import model as imports
from chalicelib.listing import lists, menus, pages, search, shelf
from chalicelib.orders import model as orders
from chalicelib.orders.schemas import (
    LARGEST_SPECIFICATION,
    MOST_LINES,
    MOST_PARCELS,
    MOST_PIECES,
    MOST_SHIPMENTS,
    MOST_STAGES,
)
from chalicelib.products import model as products
from chalicelib.products import schemas as product_schemas
from chalicelib.reports import model as reports
from chalicelib.request import parse, rate, routes, size
from chalicelib.safe_post import destination, response, wire
from chalicelib.stocktaking import model as stocktaking
from chalicelib.storage import idempotency
from chalicelib.values import metadata, money
from chalicelib.webhooks import model as webhooks

_INTRODUCTION: Final = (
    "Products, orders and webhooks of one shop. Requests below `/api/admin` carry an API key;"
    " the others are open. Times are ISO 8601 in UTC, amounts are strings with the decimals of"
    " the shop's currency. A record that was read may be sent back: members that only the service"
    " sets are ignored, although the schemas of bodies do not have them."
    f" Limits are per minute: {api_keys.READS_PER_MINUTE} reads and"
    f" {api_keys.WRITES_PER_MINUTE} writes a key, {rate.STOREFRONT_PER_MINUTE} requests without"
    f" one a source address, and {rate.FAILED_SIGN_INS_PER_MINUTE} failed sign-ins a source address"
    " in one process of the function."
)
# What protects the service, besides what the schemas say of single fields; docs/limits.md
# has the same (infra/limits.py).
LIMITS: Final = {
    "bytes of a body": routes.LARGEST_BODY,
    "bytes of a bulk call; quotes, backslashes and line breaks count twice": products.LARGEST_BULK,
    "levels of objects and lists in a body": validation.DEEPEST,
    "characters of a number": parse.LONGEST_NUMBER,
    "as the exponent of a number": parse.LARGEST_EXPONENT,
    "as an amount, exclusive": money.LARGEST,
    "characters of an `Idempotency-Key`": idempotency.LONGEST_KEY,
    "bytes of an answer": size.LARGEST_ANSWER,
    "errors in an answer": validation.MOST_ERRORS,
    "items of a page": schemas.LARGEST_PAGE,
    "values of a filter": validation.MOST_VALUES,
    "matches that a search reads": search.MOST_MATCHES,
    "records that may have an exact `sku` or `email`": pages.MOST_NAMED,
    "records that are counted by their keys for a total": lists.MOST_COUNTED,
    "results that the storefront's pages reach": product_schemas.DEEPEST_PUBLIC,
    "matches of a search of the storefront that is sorted, or limited by price": shelf.MOST_FOUND,
    "values of each of the storefront's facets": menus.MOST_VALUES,
    "bytes of a product": products.LARGEST_PRODUCT,
    "bytes of its `description`": product_schemas.LARGEST_DESCRIPTION,
    "bytes of any `metadata`": metadata.LARGEST,
    "levels in any `metadata`": metadata.LEVELS,
    "bytes of a picture": files.LARGEST_PICTURE,
    "pixels of a picture": files.MOST_PIXELS,
    "pixels of a side of a picture": files.LONGEST_SIDE,
    "bytes of a file of an order": files.LARGEST_FILE,
    "files of an order": files.MOST_FILES,
    "bytes of their names and notes": files.LARGEST_METADATA,
    "external ids that one write of a product sets or clears": products.MOST_EXTERNAL_IDS,
    "variants of a product": product_schemas.MOST_VARIANTS,
    "images of a product": product_schemas.MOST_IMAGES,
    "bytes of its search words": listing.MOST_WORD_BYTES,
    "pieces in stock": product_schemas.MOST_STOCK,
    "variants of a count of stock": stocktaking.MOST_VARIANTS,
    "lines that one request enters into a count": stocktaking.MOST_LINES,
    "bytes of its answer, with an `Idempotency-Key`": idempotency.LONGEST_TEXT,
    "products of a bulk call": product_schemas.BULK_PRODUCTS,
    "variants, tags and words of all products of a bulk call": products.MOST_PARTS,
    "records of a bulk edit by `ids`": bulk_edits.MOST_IDS,
    "bytes of an order": orders.LARGEST_ORDER,
    "lines of an order": MOST_LINES,
    "pieces of a line": MOST_PIECES,
    "products of an order": orders.MOST_PRODUCTS,
    "payments and refunds of an order": orders.MOST_TRANSFERS,
    "bytes of an order with them, without note, tags and history": orders.LARGEST_GROWN,
    "names of a product's specification, and of a line's": product_schemas.MOST_SPECIFIED,
    "bytes of a line's specification": LARGEST_SPECIFICATION,
    "lines of an order that are made": orders.MOST_WORK,
    "stages of the workshop": MOST_STAGES,
    "shipments of an order": MOST_SHIPMENTS,
    "parcels of an order": MOST_PARCELS,
    "entries of an order's history; the first and the latest are kept": orders.MOST_HISTORY,
    "bytes of an order's history": orders.LARGEST_HISTORY,
    "edits of an order; the latest are kept": orders.MOST_EDITS,
    "bytes of an order's edits": orders.LARGEST_EDITS,
    "addresses of a customer": customers.MOST_ADDRESSES,
    "days of a report": reports.MOST_DAYS,
    "rows of a report": reports.MOST_ROWS,
    "rows of a report's file": reports.MOST_KEPT,
    "events of a page of the feed": events.MOST_FEED_EVENTS,
    "bytes of a file by form": imports.LARGEST_FORM,
    "bytes of an upload": imports.LARGEST_UPLOAD,
    "bytes of a workbook": imports.LARGEST_WORKBOOK,
    "bytes of memory for reading a workbook": imports.READER_BYTES,
    "seconds of CPU for reading a workbook": imports.READER_SECONDS,
    "bytes of a workbook's sheet as CSV": imports.LARGEST_SHEET,
    "columns of a file": imports.MOST_COLUMNS,
    "bytes of a file's header, and of the names in a mapping": imports.LARGEST_HEADER,
    "characters of a row of a file": imports.LARGEST_ROW,
    "rows of one product in a file": imports.MOST_ROWS,
    "characters of the rows of one product": imports.LARGEST_GROUP,
    "saved mappings": imports.MOST_MAPPINGS,
    "bytes of all saved mappings": imports.LARGEST_MAPPINGS,
    "characters of a saved mapping's name": imports.LONGEST_MAPPING_NAME,
    "characters of a webhook's URL": destination.LONGEST_URL,
    "values in a webhook's filter": webhooks.MOST_FILTER_VALUES,
    "bytes of a webhook's filter": webhooks.LARGEST_FILTER,
    "levels of a webhook's filter": webhooks.DEEPEST_FILTER,
    "secrets of a webhook that sign at once": webhooks.MOST_SECRETS,
    "hours for which an earlier secret also signs": webhooks.LONGEST_OVERLAP,
    "attempts of a delivery that are shown": webhooks.MOST_ATTEMPTS,
    "headers of a receiver's answer": response.MOST_HEADERS,
    "bytes of the headers of a receiver's answer": response.LONGEST_HEAD,
    "bytes that a receiver sends, encryption included": wire.MOST_RECEIVED,
}
DESCRIPTION: Final = (
    f"{_INTRODUCTION}\n\nAt most: "
    + "; ".join(f"{most:,} {what}" for what, most in LIMITS.items())
    + "."
)
