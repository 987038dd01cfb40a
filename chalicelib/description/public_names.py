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
    "addTags": "Tags to add.",
    "address": "The IP address that was connected to; null: none was.",
    "address1": "Street and number.",
    "address2": "Further details, such as a floor.",
    "addresses": "Where parcels and bills may go, at most 20.",
    "after": "The fields that differ, afterwards.",
    "allowZeroPrices": "Whether prices above zero may become zero.",
    "alt": "Alternative text of the image.",
    "at": "When it happened.",
    "attemptCount": "How often it was tried.",
    "attempts": "Every attempt, oldest first.",
    "available": "Whether it can be ordered: its stock is above zero, or is not tracked.",
    "before": "The fields that differ, as they are now; null where it would be created.",
    "billingAddress": "Where the bill goes; a copy, null if none was given.",
    "body": "The text, as it was sent.",
    "by": "Name of the API key.",
    "byStatus": "How many have each status.",
    "change": "What is changed.",
    "OrderHistoryEntry.change": "What was changed, such as `status PENDING → PAID`.",
    "city": "City.",
    "clear": "Remove it.",
    "code": "What happened, for programs.",
    "column": "Name of the file's column.",
    "columns": "Column → field; null: not read.",
    "company": "Company.",
    "compareAtPrice": "What it cost before; a decimal amount.",
    "completedAt": "When it ended; null: it has not.",
    "count": "How many deliveries.",
    "countryCode": "Country, ISO 3166-1 alpha-2.",
    "created": "How many were created.",
    "createdAt": "When it was created.",
    "currency": "The shop's currency, ISO 4217.",
    "customer": "Who ordered; null: no customer.",
    "customerId": "Orders of this customer.",
    "customers": "Customers that were found.",
    "data": "The items.",
    "Event.data": "What its webhooks get as `data`.",
    "date": "The day, in the shop's time zone.",
    "days": "Each of the last 30 days, the oldest first.",
    "defaultAddressId": "Id of the default address.",
    "deleted": "How many were deleted.",
    "Deleted.deleted": "Always true.",
    "delimiter": "What separates the file's columns.",
    "description": "Free text.",
    "dryRun": "Whether it only reports what would happen.",
    "durationMs": "How long it took, in milliseconds.",
    "email": "E-mail address.",
    "NewWebhook.email": "Gets a mail when deliveries fail. Without it, the shop's address does.",
    "Webhook.email": "Gets a mail when deliveries fail; null: the shop's address does.",
    "WebhookChange.email": "Gets a mail when deliveries fail; null: the shop's address does.",
    "WebhookWithSecret.email": "Gets a mail when deliveries fail; null: the shop's address does.",
    "enabled": "false pauses it: new events make no deliveries, and pending ones wait.",
    "endpointId": "Id of the webhook.",
    "error": "Why it failed; null: it did not.",
    "event": "Kind of the event.",
    "events": "Kinds of events that it gets.",
    "excludeStatus": "Only orders with none of these statuses.",
    "expiresAt": "When it expires; null: never.",
    "failed": "How many failed.",
    "field": "The field that it is about; for a file its column.",
    "ImportColumn.field": "The field that it is read as, or proposed as; null: none.",
    "fields": "Form fields that come before `file`.",
    "fileName": "Name of the file.",
    "filter": "A pattern (docs/webhooks.md#filters): events whose body does not fit are not sent.",
    "filters": "Query parameters of the list: all that match.",
    "firstName": "Given name.",
    "format": "Name of the format that the file has; null: its columns are mapped.",
    "fromPrice": "The price before this change becomes the compare-at price.",
    "headers": "HTTP headers.",
    "history": "What changed, oldest first.",
    "id": "Identifier.",
    "ids": "Identifiers, up to 500.",
    "ignored": "Whether it is not read.",
    "ignoredColumns": "Columns that are not read.",
    "images": "Images, the main one first.",
    "index": "Place in the request, from 0.",
    "jobId": "Id of the job: get the job until it has ended.",
    "key": "The API key itself, shown only once.",
    "last30Days": "Of the last 30 days, today included.",
    "lastError": "`error` of the newest attempt.",
    "lastName": "Family name.",
    "lastStatus": "HTTP status of the newest attempt.",
    "limit": "Items per page.",
    "limits": "How often it may call.",
    "lineItems": "Items of the order.",
    "lowStock": "Variants whose stock is below the threshold, the most recent first.",
    "lowStockThreshold": "A stock below this is low.",
    "message": "What happened, for people.",
    "metadata": "Any data of the shop: JSON up to 16 KB, 28 levels deep.",
    "mode": "Import mode: which products may be created or changed.",
    "moves": "The moves: all of them happen, or none.",
    "name": "Name.",
    "DeliverySubject.name": "Number of the order, or name of the product or customer.",
    "next": "Send it as `after` of the next request; always present.",
    "nextAttemptAt": "The time of the next attempt; null: none.",
    "nextCursor": "Send it as `cursor` for what follows; null at the end.",
    "note": "Free text about it.",
    "notices": "What its owner should know.",
    "number": "Number for people, such as 1001.",
    "DeliveryAttempt.number": "Which attempt it was, from 1.",
    "occurredAt": "When it was committed.",
    "openOrders": "Orders that are neither delivered, cancelled nor refunded.",
    "orderDate": "When it was ordered; may be in the past.",
    "orders": "How many orders.",
    "SearchResult.orders": "Orders that were found.",
    "outcome": "What would happen to it: created, updated or failed.",
    "page": "Number of the page, from 1.",
    "pagination": "Which page this is.",
    "paymentMethod": "How it is paid, such as CARD_TERMINAL.",
    "paymentStatus": "Whether it is paid.",
    "percent": "Percent to add; negative to reduce.",
    "phone": "Phone number, as it is written.",
    "postalCode": "Postal code.",
    "previousSecretExpiresAt": "Until when a previous secret also signs; null: none does.",
    "price": "A decimal amount, in the shop's currency.",
    "LineItem.price": "Of one piece, when the order was placed.",
    "Product.price": "Its own price, or the lowest of its variants'.",
    "PublicProduct.price": "Its own price, or the lowest of its variants'.",
    "ProductEdit.price": "The change of the prices of the product and its variants.",
    "processed": "How many were worked on.",
    "product": "The product, where it was created.",
    "productId": "Id of the product.",
    "productName": "Name of the product.",
    "products": "Products that were found.",
    "province": "State, province or region.",
    "published": "Whether the storefront may show it.",
    "quantity": "How many pieces.",
    "read": "Reads per minute.",
    "reason": "Why, such as RECEIVED, COUNTED or DAMAGED.",
    "recovery": "The newest recovery; null: there was none.",
    "removeTags": "Tags to remove.",
    "replay": "Whether the attempt was requested as a replay.",
    "request": "What was sent.",
    "response": "What came back; null: nothing did.",
    "revenue": "Totals of what was paid; a decimal amount.",
    "role": "What the key may do.",
    "row": "Line of the file, the header being 1; null: the whole file.",
    "salesRepId": "Employee who sold it, `emp_…`; null: none.",
    "saveAs": "Keep the mapping under this name.",
    "secret": "Signs deliveries; all of it, `whsec_` included, is the key. Shown this once.",
    "sent": "How many were sent.",
    "seo": "What search engines show.",
    "set": "The new amount.",
    "shippedAt": "When it was shipped; null: it is not.",
    "shippingAddress": "Where the parcel goes; a copy, null if none was given.",
    "since": "The start time.",
    "sku": "Stock keeping unit.",
    "slug": "Its part of a web address, such as blue-shirt.",
    "sort": "The order of the list.",
    "source": "Where the order came from, such as IN_PERSON.",
    "startedAt": "When it began; null: it has not.",
    "status": "Its state.",
    "BulkRow.status": "The result for this product.",
    "BulkStatusRow.status": "The result for this product.",
    "AttemptResponse.status": "HTTP status.",
    "stock": "How many there are; null: not tracked.",
    "storefront": "The storefront that it is assigned to; null: all.",
    "subject": "What the event is about; null: not known.",
    "subtotal": "Sum of the lines; a decimal amount.",
    "summary": "The number of products with each result.",
    "tags": "Words to find it by.",
    "tax": "A decimal amount.",
    "test": "Whether it is a test event.",
    "threshold": "The product's threshold.",
    "title": "Title.",
    "today": "Of today, in the shop's time zone.",
    "total": "How many there are in all.",
    "Order.total": "What is to be paid; a decimal amount.",
    "NewOrder.total": "What is to be paid; a decimal amount.",
    "LineItem.total": "Quantity times price; a decimal amount.",
    "totalPages": "Number of pages.",
    "trackingNumber": "Of the parcel; null: none is known.",
    "truncated": "Whether it was longer, or was cut off.",
    "type": "Product type.",
    "NewExport.type": "Which records.",
    "Job.type": "bulk_edit, export, undo, customer_merge or customer_erasure.",
    "JobSummary.type": "bulk_edit, export, undo, customer_merge or customer_erasure.",
    "ImportJob.type": "Always product_import.",
    "ImportJobSummary.type": "Always product_import.",
    "types": "Only events of these kinds.",
    "unchanged": "How many needed no change.",
    "updated": "How many were updated.",
    "updatedAt": "When it was last changed.",
    "url": "Web address.",
    "variantId": "Id of the variant, `var_…`.",
    "variantTitle": "Title of the variant.",
    "variants": "Variants; there is at least one.",
    "vendor": "Who makes or supplies it.",
    "warnings": "Warnings; nothing failed.",
    "write": "Writes per minute.",
}
