"""Each limit that can refuse a request is in the API's description and in docs/limits.md.

A limit is a constant with such a name (`IS_LIMIT`) in any module, or a bound of an input field.
"""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from chalicelib.description.limits import LIMITS
from chalicelib.request.routes import operations
from infra import limits as limits_page
from tests.support.shop import Shop

PROJECT: Final = Path(__file__).resolve().parents[2]
IS_LIMIT: Final = re.compile(r"_?(MAX|MOST|LARGEST|LONGEST|DEEPEST|HIGHEST)(_\w+)?|\w+_PER_MINUTE")
# Limits that refuse no request.
INTERNAL: Final = {
    "how much one step reads, writes or looks at; there are more steps": """
        erasures.texts._MOST_BYTES events.store.MOST_BYTES imports.csv.workbooks._MOST_ROWS
        jobs.model.MOST_AT_ONCE listing.best.MOST_CANDIDATES
        files.images._MOST_SCANS
        listing.search._MOST_READ listing.shelf._MOST_LOADED listing.shelf._MOST_READ
        listing.search._MOST_WHOLE orders.refunds._MOST_METHODS
        orders.room._MOST_ITEMS
        orders.room._MOST_PRODUCTS_WITH_NUMBER orders.room.MOST_TRANSACTION_ENTRIES
        products.stock._MOST_CONDITIONS
        safe_post.post.MOST_TRIED_ADDRESSES values.forgetting._DEEPEST""",
    "how much of a text or number is kept, shown, or found by": """
        customers.model._MOST_DIGITS files.images._LARGEST_PROFILE
        imports.formats.proposal._LONGEST_SAMPLE
        imports.preview._LONGEST imports.preview._MOST imports.store.MOST_PREVIEWS
        listing.index._LONGEST_SORT listing.words.LONGEST_WORD listing.words._LONGEST_WHOLE
        orders.editing._LONGEST_CHANGE
        orders.editing._MOST_CHANGES orders.production._MOST_MOVES
        orders.production._LARGEST_MOVES orders.production._LARGEST_REMOVED
        orders.lifecycle._LONGEST_CHANGE
        request.routes._LONGEST_HINTED
        safe_post.response.LONGEST_BODY safe_post.response.LONGEST_RAW_BODY search.store.MOST_FOUND
        values.changes.LONGEST values.changes.MOST
        values.slugs.LONGEST summary.store.MOST_COUNTED
        products.model.MOST_LOW_OF_ONE summary.store.MOST_LOW webhooks.deliveries._LONGEST_NAME""",
    "how long something waits": """
        webhooks.deliver._LONGEST_BACKOFF
        webhooks.retry.LONGEST_QUEUE_DELAY webhooks.retry.LONGEST_RETRY_AFTER
        webhooks.retry.MOST_JITTER
        webhooks.retry.MOST_JITTER_SECONDS""",
    "what a process remembers": """
        request.authenticate._MOST_REMEMBERED request.rate._MOST_ADDRESSES""",
    "what no cursor of an answer has": "listing.cursor._LONGEST listing.cursor._MOST_PAGES",
    "what is no number, address or quoted record any more, and is read as something else": """
        imports.csv.rows._LONGEST_ODD imports.formats.cells._LONGEST
        imports.csv.lines._LONGEST imports.csv.number_formats._LONGEST
        request.proxies._MOST_HOPS""",
    "events or items that other limits keep below it": """
        storage.outbox.MOST_COMMIT_EVENTS""",
}
LARGEST: Final = ("max_length", "le", "lt")
# Comparisons such as `len(…) > 20` that are no documented limits.
BARE: Final = {
    "imports.formats.cells: len(digits) > 10": "so many digits has the largest stock",
    "imports.formats.wix: len(cell) > 20": "no amount has as many",
    "safe_post.destination: len(host) > 253": "DNS: the longest name",
}

# The bounds of input fields, with the fields that have them. Below them, clients of a release would
# be refused what they may send.
BOUNDS: Final = {
    "min_length 1": """
        addTags address1 choices city columns events fileName id ids into lineItemId
        lineItems lines mapping moves name productId q reason remove removeTags saveAs
        slug stage tags title url variantId variantIds""",
    "max_length 10": "payments refunds",
    "max_length 20": "addresses carriers method parcels postalCode source",
    "max_length 30": "field specification",
    "max_length 40": """
        deliveredAt dueOn encoding from name orderDate processedAt receivedAt shippedAt to
        updatedFrom""",
    "max_length 50": """
        addTags barcode carrier choices columns format mapping method name number
        paymentMethod reason removeTags source tag tags""",
    "max_length 60": """
        customerId defaultAddressId id ids into jobId keyId lineItemId name orderId
        paymentId productId remove stage subject variantId variantIds""",
    "max_length 64": "salesRepId",
    "max_length 100": """
        addTags address1 address2 choices city company contentType cursor externalId firstName
        images lastName name phone province reference removeTags saveAs savedMapping sheet sku
        storefront tag tags trackingNumber type vendor""",
    "max_length 200": """
        add after blocked change lineItems lines location name q reason recordId remove search
        slug title""",
    "max_length 254": "email",
    "max_length 255": "fileName tag title type vendor",
    "max_length 500": "alt description ids lines moves name note reason value variants",
    "max_length 1_000": "columns description mapping note",
    "max_length 2_000": "columns cursor mapping trackingUrl url",
    "max_length 2_048": "url",
    "max_length 5_000": "note",
    "max_length 10_000": "variantIds",
    "max_length 200_000": "mapping",
    "ge -1_000_000_000": "by",
    "ge -100": "percent",
    "ge 0": """
        before counted headerRow leadDays lowStockThreshold made overlapHours percent priority
        quantity returned stock to""",
    "ge 1": "bytes limit page quantity",
    "gt 0": "percent",
    "le 9": "priority",
    "le 72": "overlapHours",
    "le 730": "leadDays",
    "le 100": "percent",
    "le 1_000": "headerRow percent",
    "le 1_000_000": "made quantity returned",
    "le 1_000_000_000": "before by counted lowStockThreshold stock to",
    "le 1_000_000_000_000_000": "limit page",
    "decimal_places 2": "percent",
}


@cache
def modules() -> dict[str, ast.Module]:
    return {
        ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(
            ".__init__"
        ): ast.parse(path.read_text())
        for path in sorted(PROJECT.glob("chalicelib/**/*.py"))
    }


def assigned(module: str) -> dict[str, ast.expr]:
    """The constants of a module."""
    found = {}
    for node in modules()[module].body:
        if isinstance(node, ast.AnnAssign) and node.value:
            found[ast.unparse(node.target)] = node.value
        elif isinstance(node, ast.Assign):
            found[ast.unparse(node.targets[0])] = node.value
    return found


def imported(module: str) -> dict[str, str]:
    """Its imported names, with the names they have in their modules."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in modules()[module].body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def origin(module: str, text: str) -> str:
    """Where a name such as `filter.MOST` comes from: `chalicelib.webhooks.filter.MOST`."""
    first, dot, rest = text.partition(".")
    known = imported(module).get(first)
    if known in modules():
        return origin(known, rest) if dot else known
    if known:
        return origin(*known.rsplit(".", 1)) if known.rpartition(".")[0] in modules() else known
    value = assigned(module).get(first)
    if isinstance(value, ast.Name | ast.Attribute):
        return origin(module, ast.unparse(value))
    return f"{module}.{first}"


def limits() -> set[str]:
    return {
        origin(module, name)
        for module in modules()
        for name in assigned(module)
        if IS_LIMIT.fullmatch(name)
    } - {"chalicelib.description.limits.LIMITS"}


def described() -> set[str]:
    known = assigned("chalicelib.description.limits")
    nodes = [*ast.walk(known["LIMITS"]), *ast.walk(known["_INTRODUCTION"])]
    names = {ast.unparse(n) for n in nodes if isinstance(n, ast.Name | ast.Attribute)}
    return {origin("chalicelib.description.limits", name) for name in names}


def test_every_limit_is_described_or_internal() -> None:
    internal = {f"chalicelib.{name}" for names in INTERNAL.values() for name in names.split()}
    assert limits() - described() == internal


def test_every_compared_length_is_a_named_limit() -> None:
    found = {
        f"{module.removeprefix('chalicelib.')}: {ast.unparse(each)}"
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and any(isinstance(one, ast.Raise) for one in node.body)
        for each in ast.walk(node.test)
        if isinstance(each, ast.Compare) and re.fullmatch(r"len\(.*\) >=? \d\d+", ast.unparse(each))
    }
    assert found == BARE.keys()


def test_the_description_and_the_page_have_each_limit(shop: Shop) -> None:
    description = shop.get("/api/openapi.json").json["info"]["description"]
    assert all(f"{most:,} {what}" in description for what, most in LIMITS.items())
    assert limits_page.PAGE.read_text() == limits_page.render_page(), "run `make examples`"


def test_every_bound_of_an_input_field_is_in_its_schema(shop: Shop) -> None:
    described = set(in_schemas(shop.get("/api/openapi.json").json))
    sent = {(field, bound) for field, kind, bound in all_bounds() if kind in LARGEST}
    assert ("lineItems", 200) in sent
    assert sent - described == set()


def test_the_bounds_of_input_fields_stay_as_they_are() -> None:
    known = {(field, bound) for bound, fields in BOUNDS.items() for field in fields.split()}
    assert {(field, f"{kind} {bound:_}") for field, kind, bound in all_bounds()} == known


def models() -> set[type[BaseModel]]:
    """The models of everything that clients send."""
    found: set[type[BaseModel]] = set()
    waiting = [each for one in operations.values() for each in (one.body, one.query)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, type) and issubclass(node, BaseModel):
            if node not in found:
                found.add(node)
                waiting += [field.annotation for field in node.model_fields.values()]
        else:
            waiting += get_args(node)
    return found


def all_bounds() -> set[tuple[str, str, float]]:
    """The name of each input field, with the kinds and values of its bounds."""
    return {
        (field.alias or name, kind, bound)
        for model in models()
        for name, field in model.model_fields.items()
        for kind, bound in bounds(field)
        if (kind, bound) != ("min_length", 0)
    }


def bounds(node: Any) -> Iterator[tuple[str, float]]:
    """The lengths and numbers that bound what an annotation allows, at any depth."""
    inner = [node.annotation, *node.metadata] if isinstance(node, FieldInfo) else get_args(node)
    for kind in (*LARGEST, "min_length", "ge", "gt", "decimal_places"):
        bound = getattr(node, kind, None)
        if isinstance(bound, int | float):
            yield kind, bound
    for one in inner:
        yield from bounds(one)


def in_schemas(node: Any) -> Iterator[tuple[str, float]]:
    """The name of each property or parameter, with each bound that its schema has."""
    if isinstance(node, list):
        for one in node:
            yield from in_schemas(one)
    if isinstance(node, dict):
        named = dict(node.get("properties") or {})
        if "in" in node and "schema" in node:
            named[node["name"]] = node["schema"]
        for name, schema in named.items():
            text = json.dumps(schema)
            for most in re.findall(r'"(?:max\w+|exclusiveMaximum)": ([\d.]+)', text):
                yield name, float(most)
        for one in node.values():
            yield from in_schemas(one)
