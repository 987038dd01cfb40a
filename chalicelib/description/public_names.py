"""Names in the API's description: commerce terms for schemas and operations, and a sentence for
each property that its model does not explain.

Whoever generates a client gets these names, so they change only with the API.
"""

import re
from typing import Final

from pydantic.alias_generators import to_camel


def schema(name: str) -> str:
    """The public name of a schema that pydantic calls `name`, such as `ShownOrder`,
    `Walked_ShownOrder_` or `Image-Input`."""
    if name == "Walked_Union_ImportJobSummary__JobSummary__":
        return "JobList"
    if found := re.fullmatch(r"(?:Listed|Walked)_(\w+?)_", name):
        return schema(found[1]).removeprefix("Listed") + "List"
    if name.endswith("-Input"):
        return schema(name.removesuffix("-Input")) + "Input"
    return name.removesuffix("-Output").removeprefix("Shown")


def operation(name: str) -> str:
    """The operationId of a route: `listOrders` for `orders.list_orders`, `createOrder` for
    `orders.create`."""
    folder, _, view = name.partition(".")
    return to_camel(view if "_" in view else f"{view}_{folder.removesuffix('s')}")


def event(kind: str) -> str:
    """The operationId of an event's delivery: `orderPaidEvent`."""
    return to_camel(f"{kind.replace('.', '_')}_event")


def event_schema(kind: str) -> str:
    """The schema of an event's body: `OrderPaidEvent`."""
    name = event(kind)
    return name[0].upper() + name[1:]


def parameter(path: str, name: str) -> str:
    """What a path parameter is."""
    before = path.partition("{" + name + "}")[0].rstrip("/").rpartition("/")[2]
    return _PATH_PARAMETERS[before, name]


def property(schema: str, name: str) -> str | None:
    """A sentence about a property, if there is one."""
    return PROPERTIES.get(f"{schema}.{name}", PROPERTIES.get(name))


def summary(schema: str) -> str | None:
    """A sentence about a schema whose class has none."""
    return SUMMARIES.get(schema)


TAGS: Final = {
    "API": "This description.",
    "Bulk edits": "Many products or orders at once, by a job.",
    "Customers": "Who has ordered.",
    "Events": "Everything that happened, for programs that keep a copy of the shop.",
    "Exports": "Files of products, orders and customers.",
    "Imports": "Products from files of other systems.",
    "Jobs": "Progress of imports, exports, bulk edits, undos, merges and erasures.",
    "Keys": "API keys and their roles.",
    "Orders": "Orders, their status and payment.",
    "Products": "The catalogue with its stock.",
    "Search": "One field for orders, products and customers.",
    "Storefront": "What the public sees of the catalogue, without a key.",
    "Summary": "The shop at a glance.",
    "Webhooks": "Addresses that events are sent to, and their deliveries.",
}

_PATH_PARAMETERS: Final = {
    ("customers", "id"): "Id of the customer, `cus_…`",
    ("deliveries", "id"): "Id of the delivery, `dlv_…`",
    ("jobs", "id"): "Id of the job, `job_…`",
    ("keys", "id"): "Id of the key, `key_…`; not the key itself",
    ("mappings", "name"): "Name of the saved mapping",
    ("orders", "id"): "Id of the order, `ord_…`",
    ("products", "id"): "Id of the product, `prod_…`",
    ("products", "id_or_slug"): "Id of the product, `prod_…`, or its slug",
    ("webhooks", "id"): "Id of the webhook, `wh_…`",
}

SUMMARIES: Final = {
    "ApiKey": "An API key, without the key itself.",
    "BulkStatus": "The new status, and the products that get it.",
    "BulkStatusSummary": "How many were updated, and how many were not.",
    "BulkSummary": "How many were created, and how many were not.",
    "CustomerAddress": "A postal address of a customer.",
    "CustomerSort": "The order of a list of customers.",
    "Deleted": "What was deleted.",
    "Delivery": "One event on its way to one webhook.",
    "ExportColumns": "The columns of a CSV.",
    "ExportFormat": "How a file of records is written.",
    "ExportType": "The records to export.",
    "Image": "An image of a product.",
    "ImageInput": "An image of a product.",
    "ImportJob": "An import: its progress, and the results for the file's products.",
    "ImportJobSummary": "An import, as a list shows it.",
    "ImportUpload": "The address for uploading a large file.",
    "LineItemInput": "A line of a new order.",
    "ListedApiKey": "An API key as the list shows it, without the key itself.",
    "NewApiKey": "The rights of a new key, and its expiry.",
    "NewImportUpload": "A file that will be uploaded, and how it is imported.",
    "NewProducts": "The products of a bulk creation; each succeeds or fails independently.",
    "NewWebhook": "The address for events, and which events.",
    "OpenOrders": "Orders that are neither delivered, cancelled nor refunded.",
    "OrderSort": "The order of a list of orders.",
    "Pagination": "The page, and the number of pages.",
    "PaymentStatus": "Whether an order is paid.",
    "ProductSort": "The order of a list of products.",
    "ProductStatus": "ACTIVE products can be sold; the storefront shows those of them that are"
    " published.",
    "PublicVariant": "A variant as the storefront shows it.",
    "RecoverDeliveries": "The failed deliveries to send again.",
    "RecoveryResult": "How many deliveries are sent again.",
    "SalesDay": "What was sold on one day.",
    "SavedMapping": "A mapping of a file's columns, saved for files with the same columns.",
    "SavedMappingList": "All saved mappings.",
    "Seo": "What search engines show.",
    "SeoInput": "What search engines show.",
    "StartedJob": "The job that does it.",
    "StockMoves": "Moves of the stock of one product's variants.",
    "AttemptRequest": "The request of an attempt, without the body.",
    "TestEvent": "The kind of test event, and whether it is sent.",
    "RotateSecret": "How long the previous secret also signs.",
    "Job": "A bulk edit, export, undo, merge or erasure: its progress and its results.",
    "Variant": "A variant of a product.",
    "VariantInput": "A variant of a product; an existing one by `id` or SKU.",
    "CursorPagination": "The page, the number of pages, and the cursor of the next page.",
    "Webhook": "An address that events are sent to.",
}

PROPERTIES: Final = {
    "after": "The fields that differ, afterwards.",
    "allowZeroPrices": "Whether prices above zero may become zero.",
    "at": "When it happened.",
    "before": "The fields that differ, as they are now; null where it would be created.",
    "billingAddress": "Where the bill goes; a copy, null if none was given.",
    "by": "Name of the API key.",
    "OrderHistoryEntry.change": "What was changed, such as `status PENDING → PAID`.",
    "code": "What happened, for programs.",
    "column": "Name of the file's column.",
    "columns": "Column → field; null: not read.",
    "completedAt": "When it ended; null: it has not.",
    "created": "How many were created.",
    "createdAt": "When it was created.",
    "currency": "The shop's currency, ISO 4217.",
    "customer": "Who ordered; null: no customer.",
    "customerId": "Orders of this customer.",
    "data": "The items.",
    "delimiter": "What separates the file's columns.",
    "dryRun": "Whether it only reports what would happen.",
    "error": "Why it failed; null: it did not.",
    "excludeStatus": "Only orders with none of these statuses.",
    "expiresAt": "When it expires; null: never.",
    "failed": "How many failed.",
    "field": "The field that it is about; for a file its column.",
    "ImportColumn.field": "The field that it is read as, or proposed as; null: none.",
    "fields": "Form fields that come before `file`.",
    "fileName": "Name of the file.",
    "format": "Name of the format that the file has; null: its columns are mapped.",
    "history": "What changed, oldest first.",
    "id": "Identifier.",
    "ignored": "Whether it is not read.",
    "ignoredColumns": "Columns that are not read.",
    "jobId": "Id of the job: get the job until it has ended.",
    "lineItems": "Items of the order.",
    "message": "What happened, for people.",
    "mode": "Import mode: which products may be created or changed.",
    "name": "Name.",
    "note": "Free text about it.",
    "number": "Number for people, such as 1001.",
    "orderDate": "When it was ordered; may be in the past.",
    "outcome": "What would happen to it: created, updated or failed.",
    "paymentMethod": "How it is paid, such as CARD_TERMINAL.",
    "paymentStatus": "Whether it is paid.",
    "LineItem.price": "Of one piece, when the order was placed.",
    "processed": "How many were worked on.",
    "productId": "Id of the product.",
    "quantity": "How many pieces.",
    "row": "Line of the file, the header being 1; null: the whole file.",
    "salesRepId": "Employee who sold it, `emp_…`; null: none.",
    "saveAs": "Keep the mapping under this name.",
    "shippedAt": "When it was shipped; null: it is not.",
    "shippingAddress": "Where the parcel goes; a copy, null if none was given.",
    "sku": "Stock keeping unit.",
    "slug": "Its part of a web address, such as blue-shirt.",
    "sort": "The order of the list.",
    "source": "Where the order came from, such as IN_PERSON.",
    "startedAt": "When it began; null: it has not.",
    "status": "Its state.",
    "subtotal": "Sum of the lines; a decimal amount.",
    "tags": "Words to find it by.",
    "tax": "A decimal amount.",
    "title": "Title.",
    "Order.total": "What is to be paid; a decimal amount.",
    "NewOrder.total": "What is to be paid; a decimal amount.",
    "LineItem.total": "Quantity times price; a decimal amount.",
    "trackingNumber": "Of the parcel; null: none is known.",
    "ImportJob.type": "Always product_import.",
    "ImportJobSummary.type": "Always product_import.",
    "unchanged": "How many needed no change.",
    "updated": "How many were updated.",
    "updatedAt": "When it was last changed.",
    "url": "Web address.",
    "variantId": "Id of the variant, `var_…`.",
    "warnings": "Warnings; nothing failed.",
}
