"""Names in the API's description.

They are the terms of commerce for schemas and operations, and texts for tags and parameters of
paths. Generated clients have these names, so they change only with the API.
"""

import re
from typing import Final

from pydantic.alias_generators import to_camel


def schema(name: str) -> str:
    """Return the public name of a schema by pydantic's name.

    Such as `ShownOrder`, `Walked_ShownOrder_` or `Image-Input`.
    """
    if name == "Walked_Union_ImportJobSummary__JobSummary__":
        return "JobList"
    if match := re.fullmatch(r"(?:Listed|Walked)_(\w+?)_", name):
        return schema(match[1]).removeprefix("Listed") + "List"
    # `NewOrder` is what generators for Go call the constructor of `Order`.
    if match := re.fullmatch(r"New(\w+)", name):
        return f"Create{match[1]}"
    if name.endswith("-Input"):
        return schema(name.removesuffix("-Input")) + "Input"
    return name.removesuffix("-Output").removeprefix("Shown")


def operation(name: str) -> str:
    """Return the operationId of a route.

    `listOrders` for `orders.list_orders`, `createOrder` for `orders.create`.
    """
    folder, _, view = name.partition(".")
    return to_camel(view if "_" in view else f"{view}_{folder.removesuffix('s')}")


def event(kind: str) -> str:
    """Return the operationId of an event's delivery: `orderPaidEvent`."""
    return to_camel(f"{kind.replace('.', '_')}_event")


def event_schema(kind: str) -> str:
    """Return the name of the schema of an event's body: `OrderPaidEvent`."""
    name = event(kind)
    return name[0].upper() + name[1:]


def parameter(path: str, name: str) -> str:
    before = path.partition("{" + name + "}")[0].rstrip("/").rpartition("/")[2]
    return _PATH_PARAMETERS[before, name]


TAGS: Final = {
    "API": "This description.",
    "Bulk edits": "Many products or orders at once, by a job.",
    "Customers": "Who has ordered.",
    "Events": "Everything that happened, for programs that keep a copy of the shop.",
    "Exports": "Files of products, orders and customers.",
    "Imports": "Products from files of other systems.",
    "Jobs": "Progress of imports, exports, reports, bulk edits, undos, counts and other long work.",
    "Keys": "API keys and their roles.",
    "Orders": "Orders, their status, payments, refunds and shipments.",
    "Pictures": "Pictures of products, uploaded and shown in three sizes.",
    "Products": "The catalogue with its stock.",
    "Reports": "Sales, money and tax of a period.",
    "Search": "One field for orders, products and customers.",
    "Audit": "Who wrote what, and when.",
    "Stock": "The ledger: every change of a tracked quantity; and counts.",
    "Storefront": "What the public sees of the catalogue, without a key.",
    "Summary": "The shop at a glance.",
    "Webhooks": "Addresses that events are sent to, and their deliveries.",
    "Received events": "What a receiver gets: one request for each event.",
}

_PATH_PARAMETERS: Final = {
    ("pictures", "id"): "Id of the picture, `pic_…`",
    ("counts", "id"): "Id of the count, `cnt_…`",
    ("customers", "id"): "Id of the customer, `cus_…`",
    ("deliveries", "id"): "Id of the delivery, `dlv_…`",
    ("jobs", "id"): "Id of the job, `job_…`",
    ("keys", "id"): "Id of the key, `key_…`; not the key itself",
    ("mappings", "name"): "Name of the saved mapping",
    ("orders", "id"): "Id of the order, `ord_…`",
    ("payments", "payment_id"): "Id of the payment, `pay_…`",
    ("files", "file_id"): "Id of the file, `fil_…`",
    ("shipments", "shipment_id"): "Id of the shipment, `shp_…`",
    ("work", "line_item_id"): "Id of the line, `li_…`",
    ("products", "id"): "Id of the product, `prod_…`",
    ("products", "id_or_slug"): "Id of the product, `prod_…`, or its slug",
    ("webhooks", "id"): "Id of the webhook, `wh_…`",
}
