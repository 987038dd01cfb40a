"""One method for each operation of the API.

Written by `generate.py` from the description of the API: do not edit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any, Literal

from backroom.models import (
    Amount,
    ApiKey,
    ApiKeyList,
    ApiKeyWithSecret,
    Audit,
    AuditList,
    Balance,
    BulkMode,
    BulkOrderEdit,
    BulkProductEdit,
    BulkResult,
    BulkStatus,
    BulkStatusResult,
    CancelShipment,
    ChosenMapping,
    CloseOrder,
    ClosePreview,
    CorrectPayment,
    CountedLines,
    CreateApiKey,
    CreateCustomer,
    CreateExport,
    CreateFile,
    CreateImportUpload,
    CreateMapping,
    CreateOrder,
    CreatePicture,
    CreateProduct,
    CreateProducts,
    CreateReport,
    CreateShipment,
    CreateStockCount,
    CreateWebhook,
    Customer,
    CustomerChange,
    CustomerList,
    CustomerSort,
    Deleted,
    Delivery,
    DeliveryList,
    DeliveryStatus,
    DeliveryWithAttempts,
    DueIn,
    EditOrder,
    EditPreview,
    EnteredLines,
    EventFeed,
    EventKind,
    FacetOf,
    Facets,
    File,
    FileChange,
    FilesOfOrder,
    FileUpload,
    ImportJob,
    ImportJobSummary,
    ImportMode,
    ImportUpload,
    Job,
    JobList,
    JobSummary,
    LineState,
    ListedApiKey,
    ListedShipment,
    LowStock,
    LowStockVariant,
    MappingPreview,
    Merge,
    MoneyClock,
    Movement,
    MovementCause,
    MovementList,
    Order,
    OrderChange,
    OrderList,
    OrderPreview,
    OrderSort,
    OrderStatus,
    PaymentsPreview,
    PaymentStatus,
    Picture,
    PictureUpload,
    PreviewedMapping,
    Product,
    ProductChange,
    ProductionSettings,
    ProductionSettingsInput,
    ProductList,
    ProductSort,
    ProductStatus,
    PublicFacets,
    PublicProduct,
    PublicProductList,
    PublicSort,
    RecoverDeliveries,
    RecoveryResult,
    RefundInput,
    RefundPreview,
    RefundStatus,
    ReportJob,
    RotateSecret,
    SavedMapping,
    SavedMappingList,
    SearchResult,
    ShipmentChange,
    ShipmentList,
    ShipmentPreview,
    ShipmentState,
    ShippingMethod,
    ShippingSettings,
    ShippingSettingsInput,
    ShopSummary,
    StartedJob,
    StockCount,
    StockCountLine,
    StockCountLineList,
    StockCountList,
    StockMoves,
    TakePayments,
    TestDelivery,
    TestEvent,
    Transaction,
    TransactionKind,
    TransactionList,
    TriedEvent,
    UnknownColumnsMode,
    VoidPayment,
    Webhook,
    WebhookChange,
    WebhookList,
    WebhookWithSecret,
    Work,
    WorkChange,
    WorkDue,
    WorkList,
    WorkOfOrder,
    WorkState,
)
from backroom.shared import AUTOMATIC
from backroom.transport import Transport, walk


class Operations:
    _transport: Transport

    def list_audit(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        record_id: str | None = None,
        customer_id: str | None = None,
        key_id: str | None = None,
        action: str | Sequence[str] | None = None,
        type: str | Sequence[str] | None = None,
        timeout: float | None = None,
    ) -> AuditList:
        """List what was written.

        Newest first. Every write by a request or a job is one entry for each record that it
        wrote, half a minute after it at the latest; so is a request that was refused because of
        its role. This needs the role ADMIN; with the `recordId` of an order, product, customer
        or job, or with a `customerId`, STAFF. With filters, `total` counts to 1,000.

        `GET /api/admin/audit`, from the role STAFF on.
        """
        answer: AuditList = self._transport.call(
            "GET",
            "/api/admin/audit",
            (),
            query={
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "from": from_,
                "to": to,
                "recordId": record_id,
                "customerId": customer_id,
                "keyId": key_id,
                "action": action,
                "type": type,
            },
            timeout=timeout,
        )
        return answer

    def iter_audit(
        self,
        *,
        limit: int = 100,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        record_id: str | None = None,
        customer_id: str | None = None,
        key_id: str | None = None,
        action: str | Sequence[str] | None = None,
        type: str | Sequence[str] | None = None,
        timeout: float | None = None,
    ) -> Iterator[Audit]:
        """Yield all items of `list_audit`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "limit": limit,
            "from": from_,
            "to": to,
            "recordId": record_id,
            "customerId": customer_id,
            "keyId": key_id,
            "action": action,
            "type": type,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/audit", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def list_customers(
        self,
        *,
        fields: str | Sequence[str] | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        search: str | None = None,
        tag: str | None = None,
        external_id: str | None = None,
        email: str | None = None,
        sort: CustomerSort | None = None,
        updated_from: str | None = None,
        timeout: float | None = None,
    ) -> CustomerList:
        """List customers.

        Newest first. `search` finds the beginnings of words in name, e-mail, company and city,
        and the digits of the phone number.

        `GET /api/admin/customers`, from the role READER on.
        """
        answer: CustomerList = self._transport.call(
            "GET",
            "/api/admin/customers",
            (),
            query={
                "fields": fields,
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "search": search,
                "tag": tag,
                "externalId": external_id,
                "email": email,
                "sort": sort,
                "updatedFrom": updated_from,
            },
            timeout=timeout,
        )
        return answer

    def iter_customers(
        self,
        *,
        fields: str | Sequence[str] | None = None,
        limit: int = 100,
        search: str | None = None,
        tag: str | None = None,
        external_id: str | None = None,
        email: str | None = None,
        sort: CustomerSort | None = None,
        updated_from: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[Customer]:
        """Yield all items of `list_customers`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "fields": fields,
            "limit": limit,
            "search": search,
            "tag": tag,
            "externalId": external_id,
            "email": email,
            "sort": sort,
            "updatedFrom": updated_from,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/customers", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def create_customer(
        self,
        body: CreateCustomer,
        *,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> Customer:
        """Create a customer.

        With at least an e-mail, a phone, a company or a name. If another customer has the
        e-mail: 409 `email_taken` with that `id`. Emits customer.created.

        `POST /api/admin/customers`, from the role STAFF on.
        """
        answer: Customer = self._transport.call(
            "POST",
            "/api/admin/customers",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def get_customer(
        self, id: str, *, fields: str | Sequence[str] | None = None, timeout: float | None = None
    ) -> Customer:
        """Get a customer.

        The `id` may be `externalId:4711`. With `fields` there is no ETag. A merged customer is
        404 `merged` with `into`.

        `GET /api/admin/customers/{id}`, from the role READER on.
        """
        answer: Customer = self._transport.call(
            "GET", "/api/admin/customers/{}", (id,), query={"fields": fields}, timeout=timeout
        )
        return answer

    def update_customer(
        self,
        id: str,
        body: CustomerChange,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Customer:
        """Change a customer.

        Absent fields stay, null clears; `addresses` replaces the list, each as a whole, and one
        with an `id` keeps it. Orders keep their copies. 409 `email_taken` has the `id` of the
        customer with the e-mail. Orders placed since do not cause a 412. Emits
        customer.updated.

        `PATCH /api/admin/customers/{id}`, from the role STAFF on.
        """
        answer: Customer = self._transport.call(
            "PATCH",
            "/api/admin/customers/{}",
            (id,),
            body=body,
            headers={"If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def delete_customer(
        self, id: str, *, if_match: str | None = None, timeout: float | None = None
    ) -> Deleted:
        """Delete a customer.

        Only without orders; otherwise 409 `has_orders`. Emits customer.deleted.

        `DELETE /api/admin/customers/{id}`, from the role STAFF on.
        """
        answer: Deleted = self._transport.call(
            "DELETE",
            "/api/admin/customers/{}",
            (id,),
            headers={"If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def erase_customer(
        self, id: str, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> StartedJob:
        """Erase a customer.

        Removes name, e-mail, phone, addresses and notes from the customer, its orders, search,
        lists, the audit log, values in use, saved mappings and the names of jobs. Numbers,
        lines, money and countries stay. Kept replies, events, deliveries, logs for undo,
        exports and files of imports end by themselves within 30 days: `goneBy` of the job says
        when, `touched` how many of each it changed. It cannot be cancelled or undone. From the
        answer on, the customer takes no more orders, and the e-mail is free. Emits
        order.updated for each order, and customer.updated.

        `POST /api/admin/customers/{id}/erase`, from the role OWNER on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/customers/{}/erase",
            (id,),
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def merge_customer(
        self,
        id: str,
        body: Merge,
        *,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> StartedJob:
        """Merge a customer into another.

        Orders, totals and addresses (without duplicates) move to `into`, and so do values that
        `into` lacks. Then this id is 404 `merged` with `into`. Merging into itself, or into an
        erased or merged customer, or one that is being merged, is 422. It cannot be cancelled
        or undone. Emits order.updated for each order, customer.updated and customer.deleted.

        `POST /api/admin/customers/{id}/merge`, from the role STAFF on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/customers/{}/merge",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def list_deliveries(
        self,
        *,
        status: DeliveryStatus | Sequence[DeliveryStatus] | None = None,
        event: EventKind | Sequence[EventKind] | None = None,
        since: str | date | datetime | None = None,
        limit: int | None = None,
        subject: str | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> DeliveryList:
        """List all webhooks' deliveries.

        Of all webhooks, the newest event first; otherwise as for one webhook.

        `GET /api/admin/deliveries`, from the role ADMIN on.
        """
        answer: DeliveryList = self._transport.call(
            "GET",
            "/api/admin/deliveries",
            (),
            query={
                "status": status,
                "event": event,
                "since": since,
                "limit": limit,
                "subject": subject,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def iter_deliveries(
        self,
        *,
        status: DeliveryStatus | Sequence[DeliveryStatus] | None = None,
        event: EventKind | Sequence[EventKind] | None = None,
        since: str | date | datetime | None = None,
        limit: int = 100,
        subject: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[Delivery]:
        """Yield all items of `list_deliveries`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "status": status,
            "event": event,
            "since": since,
            "limit": limit,
            "subject": subject,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/deliveries", (), query={**asked, **at}, timeout=timeout
            ),
            begin={},
        )

    def get_delivery(self, id: str, *, timeout: float | None = None) -> DeliveryWithAttempts:
        """Get a delivery with every attempt.

        Get a delivery with every attempt.

        `GET /api/admin/deliveries/{id}`, from the role ADMIN on.
        """
        answer: DeliveryWithAttempts = self._transport.call(
            "GET", "/api/admin/deliveries/{}", (id,), timeout=timeout
        )
        return answer

    def replay_delivery(self, id: str, *, timeout: float | None = None) -> Delivery:
        """Replay a delivery.

        Posts it again now, with the same id and body: outside its schedule while that runs, or
        as the start of a new one. Returns the delivery as it was before.

        `POST /api/admin/deliveries/{id}/replay`, from the role ADMIN on.
        """
        answer: Delivery = self._transport.call(
            "POST", "/api/admin/deliveries/{}/replay", (id,), timeout=timeout
        )
        return answer

    def read_events(
        self,
        *,
        after: str | None = None,
        since: str | date | datetime | None = None,
        types: EventKind | Sequence[EventKind] | None = None,
        limit: int | None = None,
        stock: bool | None = None,
        timeout: float | None = None,
    ) -> EventFeed:
        """Read the change feed.

        The oldest first, 30 days back, each event once, deletions included. Keep asking with
        `next` as `after`: an empty answer is the end for now. The feed lags half a minute, so
        that nothing is missed. A cursor from before the oldest event is 410 `cursor_expired`. A
        sale changes the stock of its variants without a product.updated: to follow stock, send
        `stock=true` and use the `stock` of every event.

        `GET /api/admin/events`, from the role STAFF on.
        """
        answer: EventFeed = self._transport.call(
            "GET",
            "/api/admin/events",
            (),
            query={"after": after, "since": since, "types": types, "limit": limit, "stock": stock},
            timeout=timeout,
        )
        return answer

    def start_export(
        self, body: CreateExport, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> StartedJob:
        """Export products, orders, customers, transactions or movements.

        Those that match `filters`, or with `"all": true` all, as CSV or one JSON object a line.
        The job has `downloadUrl` when it is COMPLETED. A file of products can be imported
        again. Cells that a spreadsheet would run as formulas begin with an apostrophe, which
        the import removes.

        `POST /api/admin/exports`, from the role STAFF on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/exports",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def list_facets(
        self,
        *,
        type: FacetOf,
        field: Literal[
            "paymentMethod", "salesRepId", "source", "storefront", "tag", "type", "vendor"
        ],
        search: str | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Facets:
        """List values in use.

        The values that the shop has used in a field, in alphabetical order: of products `type`,
        `vendor`, `storefront` and `tag`; of orders `source`, `salesRepId`, `paymentMethod` and
        `tag`; of customers `tag`. A new value is here half a minute after its first use at the
        latest. Values that no record has any more are left out where they are counted.

        `GET /api/admin/facets`, from the role READER on.
        """
        answer: Facets = self._transport.call(
            "GET",
            "/api/admin/facets",
            (),
            query={"type": type, "field": field, "search": search, "limit": limit},
            timeout=timeout,
        )
        return answer

    def list_jobs(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> JobList:
        """List jobs.

        Newest first: imports, exports, reports, bulk edits, undos, counts, merges, erasures and
        reindexings.

        `GET /api/admin/jobs`, from the role READER on.
        """
        answer: JobList = self._transport.call(
            "GET",
            "/api/admin/jobs",
            (),
            query={"page": page, "limit": limit, "cursor": cursor},
            timeout=timeout,
        )
        return answer

    def iter_jobs(
        self, *, limit: int = 100, timeout: float | None = None
    ) -> Iterator[ImportJobSummary | JobSummary]:
        """Yield all items of `list_jobs`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {"limit": limit}
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/jobs", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def get_job(self, id: str, *, timeout: float | None = None) -> ImportJob | ReportJob | Job:
        """Get a job.

        Its progress, and the first 100 errors; an import's report has all. A Reader gets a
        report without costs and its `downloadUrl`, but no other file, no preview and no samples
        of columns: they may show what products cost.

        `GET /api/admin/jobs/{id}`, from the role READER on.
        """
        answer: ImportJob | ReportJob | Job = self._transport.call(
            "GET", "/api/admin/jobs/{}", (id,), timeout=timeout
        )
        return answer

    def cancel_job(self, id: str, *, timeout: float | None = None) -> ImportJob | ReportJob | Job:
        """Cancel a job.

        No more work is started; records that were written stay, and are counted.

        `POST /api/admin/jobs/{id}/cancel`, from the role STAFF on.
        """
        answer: ImportJob | ReportJob | Job = self._transport.call(
            "POST", "/api/admin/jobs/{}/cancel", (id,), timeout=timeout
        )
        return answer

    def map_import_columns(
        self, id: str, body: ChosenMapping, *, timeout: float | None = None
    ) -> ImportJob:
        """Map the columns of a file.

        Continues a job that is NEEDS_MAPPING with `columns` (column → field, null if it is not
        read), a known `format`, or both: the format with these columns changed. With
        `encoding`, `delimiter` or `headerRow` instead, the file is read again and its columns
        are shown again. `saveAs` saves the mapping for files with these columns.

        `POST /api/admin/jobs/{id}/mapping`, from the role STAFF on.
        """
        answer: ImportJob = self._transport.call(
            "POST", "/api/admin/jobs/{}/mapping", (id,), body=body, timeout=timeout
        )
        return answer

    def preview_import_mapping(
        self, id: str, body: PreviewedMapping, *, timeout: float | None = None
    ) -> MappingPreview:
        """Preview a mapping.

        What the first half megabyte of the file becomes with this mapping: how many products
        and variants, and the first three. Nothing is written, and the job still waits.

        `POST /api/admin/jobs/{id}/mapping/preview`, from the role STAFF on.
        """
        answer: MappingPreview = self._transport.call(
            "POST", "/api/admin/jobs/{}/mapping/preview", (id,), body=body, timeout=timeout
        )
        return answer

    def retry_import(
        self, id: str, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> StartedJob:
        """Retry failed rows.

        A new job for the rows that failed, or for the whole file if the job failed or was
        cancelled. Products already written are `unchanged`.

        `POST /api/admin/jobs/{id}/retry`, from the role STAFF on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/jobs/{}/retry",
            (id,),
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def run_import(
        self, id: str, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> StartedJob:
        """Import the file of a dry run.

        A new job with the same file, mapping and options, which writes.

        `POST /api/admin/jobs/{id}/run`, from the role STAFF on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/jobs/{}/run",
            (id,),
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def undo_job(
        self, id: str, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> StartedJob:
        """Undo an import, a bulk edit or a count.

        Every field that the job changed, and that was not changed since, gets its old value;
        stock changes by the difference. A product that the job created is deleted, unless it
        was changed, ordered or moved since. What cannot be undone is in the new job's errors,
        with the reason. Undoing twice changes nothing; an undo can be undone. Within 30 days.

        `POST /api/admin/jobs/{id}/undo`, from the role STAFF on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/jobs/{}/undo",
            (id,),
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def list_api_keys(
        self, *, page: int | None = None, limit: int | None = None, timeout: float | None = None
    ) -> ApiKeyList:
        """List keys.

        Newest first, without the keys themselves, which are not stored.

        `GET /api/admin/keys`, from the role OWNER on.
        """
        answer: ApiKeyList = self._transport.call(
            "GET", "/api/admin/keys", (), query={"page": page, "limit": limit}, timeout=timeout
        )
        return answer

    def iter_api_keys(
        self, *, limit: int = 100, timeout: float | None = None
    ) -> Iterator[ListedApiKey]:
        """Yield all items of `list_api_keys`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {"limit": limit}
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/keys", (), query={**asked, **at}, timeout=timeout
            ),
            begin={},
        )

    def create_api_key(
        self, body: CreateApiKey, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> ApiKeyWithSecret:
        """Create a key.

        `key` in the answer is the key. It is not stored, and shown only once.

        `POST /api/admin/keys`, from the role OWNER on.
        """
        answer: ApiKeyWithSecret = self._transport.call(
            "POST",
            "/api/admin/keys",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def revoke_api_key(self, id: str, *, timeout: float | None = None) -> Deleted:
        """Revoke a key.

        The key stops working at once. The last Owner key cannot be revoked: 409
        `last_owner_key`.

        `DELETE /api/admin/keys/{id}`, from the role OWNER on.
        """
        answer: Deleted = self._transport.call(
            "DELETE", "/api/admin/keys/{}", (id,), timeout=timeout
        )
        return answer

    def get_current_key(self, *, timeout: float | None = None) -> ApiKey:
        """The key in use.

        The key in use.

        `GET /api/admin/me`, from the role READER on.
        """
        answer: ApiKey = self._transport.call("GET", "/api/admin/me", (), timeout=timeout)
        return answer

    def list_orders(
        self,
        *,
        fields: str | Sequence[str] | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        search: str | None = None,
        status: OrderStatus | Sequence[OrderStatus] | None = None,
        exclude_status: OrderStatus | Sequence[OrderStatus] | None = None,
        source: str | Sequence[str] | None = None,
        payment_status: PaymentStatus | Sequence[PaymentStatus] | None = None,
        refund_status: RefundStatus | Sequence[RefundStatus] | None = None,
        balance: Balance | None = None,
        shipping_status: Literal["PARTIAL"] | None = None,
        closed: bool | None = None,
        produced: Literal["true"] | None = None,
        customer_id: str | None = None,
        sales_rep_id: str | None = None,
        tag: str | None = None,
        external_id: str | None = None,
        number: str | None = None,
        email: str | None = None,
        sort: OrderSort | None = None,
        updated_from: str | None = None,
        timeout: float | None = None,
    ) -> OrderList:
        """List orders.

        By order date, newest first. `search` finds the beginnings of words in the number (also
        its last three or more digits), tracking number, customer's name and e-mail, tags, and
        lines.

        `GET /api/admin/orders`, from the role READER on.
        """
        answer: OrderList = self._transport.call(
            "GET",
            "/api/admin/orders",
            (),
            query={
                "fields": fields,
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "from": from_,
                "to": to,
                "search": search,
                "status": status,
                "excludeStatus": exclude_status,
                "source": source,
                "paymentStatus": payment_status,
                "refundStatus": refund_status,
                "balance": balance,
                "shippingStatus": shipping_status,
                "closed": closed,
                "produced": produced,
                "customerId": customer_id,
                "salesRepId": sales_rep_id,
                "tag": tag,
                "externalId": external_id,
                "number": number,
                "email": email,
                "sort": sort,
                "updatedFrom": updated_from,
            },
            timeout=timeout,
        )
        return answer

    def iter_orders(
        self,
        *,
        fields: str | Sequence[str] | None = None,
        limit: int = 100,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        search: str | None = None,
        status: OrderStatus | Sequence[OrderStatus] | None = None,
        exclude_status: OrderStatus | Sequence[OrderStatus] | None = None,
        source: str | Sequence[str] | None = None,
        payment_status: PaymentStatus | Sequence[PaymentStatus] | None = None,
        refund_status: RefundStatus | Sequence[RefundStatus] | None = None,
        balance: Balance | None = None,
        shipping_status: Literal["PARTIAL"] | None = None,
        closed: bool | None = None,
        produced: Literal["true"] | None = None,
        customer_id: str | None = None,
        sales_rep_id: str | None = None,
        tag: str | None = None,
        external_id: str | None = None,
        number: str | None = None,
        email: str | None = None,
        sort: OrderSort | None = None,
        updated_from: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[Order]:
        """Yield all items of `list_orders`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "fields": fields,
            "limit": limit,
            "from": from_,
            "to": to,
            "search": search,
            "status": status,
            "excludeStatus": exclude_status,
            "source": source,
            "paymentStatus": payment_status,
            "refundStatus": refund_status,
            "balance": balance,
            "shippingStatus": shipping_status,
            "closed": closed,
            "produced": produced,
            "customerId": customer_id,
            "salesRepId": sales_rep_id,
            "tag": tag,
            "externalId": external_id,
            "number": number,
            "email": email,
            "sort": sort,
            "updatedFrom": updated_from,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/orders", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def create_order(
        self, body: CreateOrder, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> OrderPreview | Order:
        """Create an order.

        Takes stock, or is refused: 422 `insufficient_stock` names the lines. With
        `paymentStatus` PAID it starts as PAID. 409 `external_id_taken` has the `id` of the
        order that has the `externalId`. Emits order.created, and order.paid, customer.created,
        inventory.low where they apply. With `dryRun` nothing is written: 200 says what the
        order would be.

        `POST /api/admin/orders`, from the role STAFF on.
        """
        answer: OrderPreview | Order = self._transport.call(
            "POST",
            "/api/admin/orders",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def edit_orders(
        self, body: BulkOrderEdit, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> StartedJob:
        """Change many orders.

        As for products. Each order moves along the transitions, or is counted as failed. A
        status cannot be undone; the sales rep and tags can.

        `POST /api/admin/orders/bulk-edit`, from the role STAFF on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/orders/bulk-edit",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def list_due_orders(
        self,
        *,
        fields: str | Sequence[str] | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        due: DueIn | None = None,
        timeout: float | None = None,
    ) -> OrderList:
        """List the orders that are due.

        Open orders that have a day, earliest first: their own `dueOn`, or the earliest of the
        lines that are not shipped. Overdue begins the day after it, in the shop's time zone.

        `GET /api/admin/orders/due`, from the role READER on.
        """
        answer: OrderList = self._transport.call(
            "GET",
            "/api/admin/orders/due",
            (),
            query={
                "fields": fields,
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "from": from_,
                "to": to,
                "due": due,
            },
            timeout=timeout,
        )
        return answer

    def iter_due_orders(
        self,
        *,
        fields: str | Sequence[str] | None = None,
        limit: int = 100,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        due: DueIn | None = None,
        timeout: float | None = None,
    ) -> Iterator[Order]:
        """Yield all items of `list_due_orders`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "fields": fields,
            "limit": limit,
            "from": from_,
            "to": to,
            "due": due,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/orders/due", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def get_order(
        self, id: str, *, fields: str | Sequence[str] | None = None, timeout: float | None = None
    ) -> Order:
        """Get an order.

        The `id` may be `externalId:4711`. With `fields` there is no ETag.

        `GET /api/admin/orders/{id}`, from the role READER on.
        """
        answer: Order = self._transport.call(
            "GET", "/api/admin/orders/{}", (id,), query={"fields": fields}, timeout=timeout
        )
        return answer

    def update_order(
        self,
        id: str,
        body: OrderChange,
        *,
        idempotency_key: str = AUTOMATIC,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Order:
        """Change an order.

        `status` moves along the transitions only; any other is 422 `invalid_transition` with
        `from`, `to` and `allowed`. PAID and REFUNDED set the payment status too; CANCELLED and
        REFUNDED return the stock. Emits order.updated, and the more specific events.

        `PATCH /api/admin/orders/{id}`, from the role STAFF on.
        """
        answer: Order = self._transport.call(
            "PATCH",
            "/api/admin/orders/{}",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key, "If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def delete_order(
        self, id: str, *, if_match: str | None = None, timeout: float | None = None
    ) -> Deleted:
        """Delete an order.

        If it was not shipped, its stock is returned.

        `DELETE /api/admin/orders/{id}`, from the role OWNER on.
        """
        answer: Deleted = self._transport.call(
            "DELETE", "/api/admin/orders/{}", (id,), headers={"If-Match": if_match}, timeout=timeout
        )
        return answer

    def close_order(
        self,
        id: str,
        body: CloseOrder,
        *,
        idempotency_key: str = AUTOMATIC,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Order | ClosePreview:
        """Close an order.

        Ends an order in any status: refunds what it does not `keep`, returns pieces that were
        not shipped, and leaves nothing due. PENDING becomes CANCELLED; PAID becomes REFUNDED if
        money was in hand and nothing is kept; another status stays. Closed again, it can only
        keep less. 422 `order_closed`: it takes no payment, edit or move. With `dryRun` nothing
        is written, and the answer says what would happen. Emits order.closed, order.updated,
        refund.created, and order.cancelled, order.refunded where they apply.

        `POST /api/admin/orders/{id}/close`, from the role STAFF on.
        """
        answer: Order | ClosePreview = self._transport.call(
            "POST",
            "/api/admin/orders/{}/close",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key, "If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def edit_order(
        self,
        id: str,
        body: EditOrder,
        *,
        idempotency_key: str = AUTOMATIC,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Order | EditPreview:
        """Edit lines and amounts.

        Lines and amounts until the order is SHIPPED; customer, source and date at any time.
        Stock moves by the difference; money does not: `balanceDue` says what is due or owed. If
        the order has tax and its amounts change, `tax` must be sent: 422 `tax_required` has
        `proposed`. 409 `spec_locked`, with `lineItemId` and `startedAt`: a line on which work
        has begun changes in title, quantity or specification, or goes, only with `unlock`. With
        `dryRun` nothing is written, and the answer says what would be. Emits order.edited and
        order.updated, and order.paid, inventory.low where they apply.

        `POST /api/admin/orders/{id}/edit`, from the role STAFF on.
        """
        answer: Order | EditPreview = self._transport.call(
            "POST",
            "/api/admin/orders/{}/edit",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key, "If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def list_files(self, id: str, *, timeout: float | None = None) -> FilesOfOrder:
        """List the files of an order.

        Photos, drawings, anything that belongs to an order. The addresses in `urls` end at
        `expiresAt`, after ten minutes: list again for new ones.

        `GET /api/admin/orders/{id}/files`, from the role READER on.
        """
        answer: FilesOfOrder = self._transport.call(
            "GET", "/api/admin/orders/{}/files", (id,), timeout=timeout
        )
        return answer

    def create_file(
        self,
        id: str,
        body: CreateFile,
        *,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> FileUpload:
        """Upload a file of an order.

        Post a form to `upload.url` within the hour: all `upload.fields`, then `file`. Seconds
        later the file is READY. An order has at most 50: 422 `too_many_files`; 422
        `unknown_line`. A retry with the same Idempotency-Key returns the same file with a new
        form. Emits file.ready once it is READY.

        `POST /api/admin/orders/{id}/files`, from the role STAFF on.
        """
        answer: FileUpload = self._transport.call(
            "POST",
            "/api/admin/orders/{}/files",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def get_file(self, id: str, file_id: str, *, timeout: float | None = None) -> File:
        """Get a file of an order.

        One that is not READY within a day after its upload was asked for is deleted.

        `GET /api/admin/orders/{id}/files/{file_id}`, from the role READER on.
        """
        answer: File = self._transport.call(
            "GET",
            "/api/admin/orders/{}/files/{}",
            (
                id,
                file_id,
            ),
            timeout=timeout,
        )
        return answer

    def change_file(
        self, id: str, file_id: str, body: FileChange, *, timeout: float | None = None
    ) -> File:
        """Change a file of an order.

        Its name, note and line. A file whose line is removed stays with the order.

        `PATCH /api/admin/orders/{id}/files/{file_id}`, from the role STAFF on.
        """
        answer: File = self._transport.call(
            "PATCH",
            "/api/admin/orders/{}/files/{}",
            (
                id,
                file_id,
            ),
            body=body,
            timeout=timeout,
        )
        return answer

    def delete_file(self, id: str, file_id: str, *, timeout: float | None = None) -> Deleted:
        """Delete a file of an order.

        At once: its addresses lead nowhere.

        `DELETE /api/admin/orders/{id}/files/{file_id}`, from the role STAFF on.
        """
        answer: Deleted = self._transport.call(
            "DELETE",
            "/api/admin/orders/{}/files/{}",
            (
                id,
                file_id,
            ),
            timeout=timeout,
        )
        return answer

    def pay_order(
        self,
        id: str,
        body: TakePayments,
        *,
        idempotency_key: str = AUTOMATIC,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> PaymentsPreview | Order:
        """Record payments.

        One payment, or up to ten in `payments`; without `amount` it is what is due. A PENDING
        order becomes PAID when nothing is due, or its deposit is reached. 422 `overpaid` has
        `balanceDue`. With `dryRun` nothing is written: 200 says what would be, also the
        `change`. Emits payment.created, order.updated, and order.paid where it applies.

        `POST /api/admin/orders/{id}/payments`, from the role STAFF on.
        """
        answer: PaymentsPreview | Order = self._transport.call(
            "POST",
            "/api/admin/orders/{}/payments",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key, "If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def correct_payment(
        self,
        id: str,
        payment_id: str,
        body: CorrectPayment,
        *,
        idempotency_key: str = AUTOMATIC,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Order:
        """Correct how a payment came.

        Voids the payment and records it again with another `method`, in one transaction: the
        same amount, reference, note and `receivedAt`. What is due stays. Emits payment.voided,
        payment.created and order.updated.

        `POST /api/admin/orders/{id}/payments/{payment_id}/correct`, from the role STAFF on.
        """
        answer: Order = self._transport.call(
            "POST",
            "/api/admin/orders/{}/payments/{}/correct",
            (
                id,
                payment_id,
            ),
            body=body,
            headers={"Idempotency-Key": idempotency_key, "If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def void_payment(
        self,
        id: str,
        payment_id: str,
        body: VoidPayment,
        *,
        idempotency_key: str = AUTOMATIC,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Order:
        """Void a payment.

        The money never came: the payment no longer counts. One that was refunded cannot be
        voided: 409 `payment_refunded`. Emits payment.voided and order.updated.

        `POST /api/admin/orders/{id}/payments/{payment_id}/void`, from the role STAFF on.
        """
        answer: Order = self._transport.call(
            "POST",
            "/api/admin/orders/{}/payments/{}/void",
            (
                id,
                payment_id,
            ),
            body=body,
            headers={"Idempotency-Key": idempotency_key, "If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def refund_order(
        self,
        id: str,
        body: RefundInput,
        *,
        idempotency_key: str = AUTOMATIC,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> RefundPreview | Order:
        """Refund lines or an amount.

        Refunds the share of `lines`, with its tax; `amount` overrules it. Pieces return to the
        stock if `restock` says so, by default those that were not shipped. With `dryRun`
        nothing is written: 200 says what would be. 422 `exceeds_refundable` has `refundable`.
        Emits refund.created and order.updated, and order.refunded when nothing is left.

        `POST /api/admin/orders/{id}/refunds`, from the role STAFF on.
        """
        answer: RefundPreview | Order = self._transport.call(
            "POST",
            "/api/admin/orders/{}/refunds",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key, "If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def ship_order(
        self,
        id: str,
        body: CreateShipment,
        *,
        idempotency_key: str = AUTOMATIC,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> ShipmentPreview | Order:
        """Ship an order, or a part of it.

        Of a PAID, IN_PRODUCTION or PROCESSING order, without `lines` all that is left. The
        status becomes PROCESSING, and SHIPPED with the last piece; DELIVERED if all of it was
        handed over. 422 `exceeds_quantity` has the lines, `not_shippable` the `status`. With
        `dryRun` nothing is written: 200 says what would be. Emits shipment.created and
        order.updated, and order.shipped with the last piece.

        `POST /api/admin/orders/{id}/shipments`, from the role STAFF on.
        """
        answer: ShipmentPreview | Order = self._transport.call(
            "POST",
            "/api/admin/orders/{}/shipments",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key, "If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def change_shipment(
        self,
        id: str,
        shipment_id: str,
        body: ShipmentChange,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Order:
        """Change a shipment.

        At any time: a wrong number is corrected after SHIPPED. When the last shipment of a
        SHIPPED order is delivered, the order is DELIVERED. 409 `shipment_cancelled`. Emits
        shipment.updated and order.updated.

        `PATCH /api/admin/orders/{id}/shipments/{shipment_id}`, from the role STAFF on.
        """
        answer: Order = self._transport.call(
            "PATCH",
            "/api/admin/orders/{}/shipments/{}",
            (
                id,
                shipment_id,
            ),
            body=body,
            headers={"If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def cancel_shipment(
        self,
        id: str,
        shipment_id: str,
        body: CancelShipment,
        *,
        idempotency_key: str = AUTOMATIC,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Order:
        """Cancel a shipment.

        Until the order is SHIPPED: its pieces are to ship again. 422 `too_late`, or
        `pieces_returned` if some came back. Emits shipment.cancelled and order.updated.

        `POST /api/admin/orders/{id}/shipments/{shipment_id}/cancel`, from the role STAFF on.
        """
        answer: Order = self._transport.call(
            "POST",
            "/api/admin/orders/{}/shipments/{}/cancel",
            (
                id,
                shipment_id,
            ),
            body=body,
            headers={"Idempotency-Key": idempotency_key, "If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def get_work(self, id: str, *, timeout: float | None = None) -> WorkOfOrder:
        """List the work on an order.

        Also what has ended. 404 while the order is PENDING: work begins when it is PAID.

        `GET /api/admin/orders/{id}/work`, from the role READER on.
        """
        answer: WorkOfOrder = self._transport.call(
            "GET", "/api/admin/orders/{}/work", (id,), timeout=timeout
        )
        return answer

    def change_work(
        self,
        id: str,
        line_item_id: str,
        body: WorkChange,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Work:
        """Change the work on a line.

        Work that leaves the first stage leads a PAID order to IN_PRODUCTION. In the last stage
        it is DONE: all pieces are made. With the last open work of an order the order has
        `producedAt`. 409 `work_closed` with `state` and `closedBy`; 422 `unknown_stage` with
        the `allowed`. Emits work.updated, order.updated if the order changes, and
        order.produced.

        `PATCH /api/admin/orders/{id}/work/{line_item_id}`, from the role STAFF on.
        """
        answer: Work = self._transport.call(
            "PATCH",
            "/api/admin/orders/{}/work/{}",
            (
                id,
                line_item_id,
            ),
            body=body,
            headers={"If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def create_picture(
        self, body: CreatePicture, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> PictureUpload:
        """Upload a picture.

        Post a form to `upload.url` within the hour: all `upload.fields`, then `file`. Seconds
        later the picture is READY or FAILED, and READY for ever. A retry with the same
        Idempotency-Key returns the same picture with a new form.

        `POST /api/admin/pictures`, from the role STAFF on.
        """
        answer: PictureUpload = self._transport.call(
            "POST",
            "/api/admin/pictures",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def get_picture(self, id: str, *, timeout: float | None = None) -> Picture:
        """Get a picture.

        One that is not READY within a day after its upload was asked for is deleted.

        `GET /api/admin/pictures/{id}`, from the role READER on.
        """
        answer: Picture = self._transport.call(
            "GET", "/api/admin/pictures/{}", (id,), timeout=timeout
        )
        return answer

    def delete_picture(self, id: str, *, timeout: float | None = None) -> Deleted:
        """Delete a picture.

        Takes it off the web at once, such as after a claim. Products keep its dead address.

        `DELETE /api/admin/pictures/{id}`, from the role ADMIN on.
        """
        answer: Deleted = self._transport.call(
            "DELETE", "/api/admin/pictures/{}", (id,), timeout=timeout
        )
        return answer

    def list_products(
        self,
        *,
        fields: str | Sequence[str] | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        search: str | None = None,
        status: ProductStatus | Sequence[ProductStatus] | None = None,
        type: str | None = None,
        storefront: str | None = None,
        vendor: str | None = None,
        tag: str | None = None,
        published: bool | None = None,
        external_id: str | None = None,
        sku: str | None = None,
        sort: ProductSort | None = None,
        updated_from: str | None = None,
        timeout: float | None = None,
    ) -> ProductList:
        """List products.

        Newest first. `search` finds the beginnings of words in name, SKU, vendor, tags and
        variants.

        `GET /api/admin/products`, from the role READER on.
        """
        answer: ProductList = self._transport.call(
            "GET",
            "/api/admin/products",
            (),
            query={
                "fields": fields,
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "search": search,
                "status": status,
                "type": type,
                "storefront": storefront,
                "vendor": vendor,
                "tag": tag,
                "published": published,
                "externalId": external_id,
                "sku": sku,
                "sort": sort,
                "updatedFrom": updated_from,
            },
            timeout=timeout,
        )
        return answer

    def iter_products(
        self,
        *,
        fields: str | Sequence[str] | None = None,
        limit: int = 100,
        search: str | None = None,
        status: ProductStatus | Sequence[ProductStatus] | None = None,
        type: str | None = None,
        storefront: str | None = None,
        vendor: str | None = None,
        tag: str | None = None,
        published: bool | None = None,
        external_id: str | None = None,
        sku: str | None = None,
        sort: ProductSort | None = None,
        updated_from: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[Product]:
        """Yield all items of `list_products`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "fields": fields,
            "limit": limit,
            "search": search,
            "status": status,
            "type": type,
            "storefront": storefront,
            "vendor": vendor,
            "tag": tag,
            "published": published,
            "externalId": external_id,
            "sku": sku,
            "sort": sort,
            "updatedFrom": updated_from,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/products", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def create_product(
        self, body: CreateProduct, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> Product:
        """Create a product.

        Without `slug`, one is made from the name. Emits product.created.

        `POST /api/admin/products`, from the role STAFF on.
        """
        answer: Product = self._transport.call(
            "POST",
            "/api/admin/products",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def create_products(
        self,
        body: CreateProducts,
        *,
        mode: BulkMode | None = None,
        dry_run: bool | None = None,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> BulkResult:
        """Create up to 500 products.

        An array of products, or `{"products": […]}`. Each succeeds or fails independently. It
        counts as one write. Together they have at most 30,000 variants, tags and words of
        names, vendors, SKUs and titles: more is 422 `too_long`, and nothing is written. With
        `mode=upsert` or `update` a row is the product with its `id`; else with its
        `externalId`, its own or a variant's; else the only one with its SKU or one of its
        variants' (several: `ambiguous_sku`). Absent fields, pictures and variants stay, and
        null clears. A row that names one variant of several sets its price and ids. `dryRun`
        writes nothing. If the request exceeds 2 MB, or the answer would exceed 6 MB, rows have
        the `id` of the created product and no `product`. If storage is too slow for 20 seconds,
        the rest is `not_reached`: it was not written, and the same request with its
        Idempotency-Key continues there.

        `POST /api/admin/products/bulk`, from the role STAFF on.
        """
        answer: BulkResult = self._transport.call(
            "POST",
            "/api/admin/products/bulk",
            (),
            body=body,
            query={"mode": mode, "dryRun": dry_run},
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def edit_products(
        self,
        body: BulkProductEdit,
        *,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> StartedJob:
        """Change many products.

        Up to 500 by `ids`, all that match `filters`, or with `"all": true` all. The job counts
        the results; with `dryRun` it shows the first 100 as before and after. Emits the same
        events as a PUT of each. It can be undone: `POST /api/admin/jobs/{id}/undo`.

        `POST /api/admin/products/bulk-edit`, from the role STAFF on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/products/bulk-edit",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def set_product_statuses(
        self, body: BulkStatus, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> BulkStatusResult:
        """Set the status of up to 500 products.

        Each succeeds or fails independently. It counts as one write. Emits product.updated for
        each that had another status.

        `POST /api/admin/products/bulk-status`, from the role STAFF on.
        """
        answer: BulkStatusResult = self._transport.call(
            "POST",
            "/api/admin/products/bulk-status",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def start_import(
        self,
        file: bytes,
        file_name: str,
        *,
        encoding: str | None = None,
        delimiter: str | None = None,
        header_row: int | None = None,
        mode: ImportMode | None = None,
        dry_run: bool | None = None,
        allow_zero_prices: bool | None = None,
        on_unknown_columns: UnknownColumnsMode | None = None,
        saved_mapping: str | None = None,
        sheet: str | None = None,
        location: str | None = None,
        review: bool | None = None,
        mapping: str | None = None,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> StartedJob:
        """Import products from a file.

        The form field `file` is a CSV, .xlsx or .ods file; for more than 4.4 MB use
        `…/import/uploads`. The format is recognised by its columns (docs/import.md). The job
        has the results.

        `POST /api/admin/products/import`, from the role STAFF on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/products/import",
            (),
            file=(file_name, file),
            query={
                "encoding": encoding,
                "delimiter": delimiter,
                "headerRow": header_row,
                "mode": mode,
                "dryRun": dry_run,
                "allowZeroPrices": allow_zero_prices,
                "onUnknownColumns": on_unknown_columns,
                "savedMapping": saved_mapping,
                "sheet": sheet,
                "location": location,
                "review": review,
                "mapping": mapping,
            },
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def list_import_mappings(self, *, timeout: float | None = None) -> SavedMappingList:
        """List saved mappings.

        All saved mappings, by name. Each is proposed for files with exactly its columns.

        `GET /api/admin/products/import/mappings`, from the role STAFF on.
        """
        answer: SavedMappingList = self._transport.call(
            "GET", "/api/admin/products/import/mappings", (), timeout=timeout
        )
        return answer

    def save_import_mapping(
        self, name: str, body: CreateMapping, *, timeout: float | None = None
    ) -> SavedMapping:
        """Save a mapping.

        Name every column of the file, with null for those that are not read. Replaces a mapping
        of the same name.

        `PUT /api/admin/products/import/mappings/{name}`, from the role STAFF on.
        """
        answer: SavedMapping = self._transport.call(
            "PUT", "/api/admin/products/import/mappings/{}", (name,), body=body, timeout=timeout
        )
        return answer

    def delete_import_mapping(self, name: str, *, timeout: float | None = None) -> Deleted:
        """Delete a saved mapping.

        Delete a saved mapping.

        `DELETE /api/admin/products/import/mappings/{name}`, from the role STAFF on.
        """
        answer: Deleted = self._transport.call(
            "DELETE", "/api/admin/products/import/mappings/{}", (name,), timeout=timeout
        )
        return answer

    def get_import_template(self, *, timeout: float | None = None) -> str:
        """Get a CSV template.

        All our columns, with two products as examples.

        `GET /api/admin/products/import/template`, from the role READER on.
        """
        answer: str = self._transport.call(
            "GET", "/api/admin/products/import/template", (), timeout=timeout
        )
        return answer

    def prepare_upload(
        self,
        body: CreateImportUpload,
        *,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> ImportUpload:
        """Get an address to upload a large CSV file to.

        Post a form to `url` within the hour: all `fields`, then `file`, up to 1 GB. The import
        then starts automatically. A job without its file ends as FAILED, `upload_missing`. A
        retry with the same Idempotency-Key returns the same job with a new address, valid for
        an hour.

        `POST /api/admin/products/import/uploads`, from the role STAFF on.
        """
        answer: ImportUpload = self._transport.call(
            "POST",
            "/api/admin/products/import/uploads",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def get_product(
        self, id: str, *, fields: str | Sequence[str] | None = None, timeout: float | None = None
    ) -> Product:
        """Get a product.

        The `id` may be `externalId:4711`. With `fields` there is no ETag.

        `GET /api/admin/products/{id}`, from the role READER on.
        """
        answer: Product = self._transport.call(
            "GET", "/api/admin/products/{}", (id,), query={"fields": fields}, timeout=timeout
        )
        return answer

    def update_product(
        self,
        id: str,
        body: ProductChange,
        *,
        idempotency_key: str = AUTOMATIC,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Product:
        """Change a product.

        Absent fields stay, null clears, a list replaces the old list; variants match by id,
        then SKU, then title, and keep absent fields. Emits product.updated if something
        differs.

        `PUT /api/admin/products/{id}`, from the role STAFF on.
        """
        answer: Product = self._transport.call(
            "PUT",
            "/api/admin/products/{}",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key, "If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def delete_product(
        self, id: str, *, if_match: str | None = None, timeout: float | None = None
    ) -> Deleted:
        """Delete a product.

        Delete a product.

        `DELETE /api/admin/products/{id}`, from the role STAFF on.
        """
        answer: Deleted = self._transport.call(
            "DELETE",
            "/api/admin/products/{}",
            (id,),
            headers={"If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def move_stock(
        self,
        id: str,
        body: StockMoves,
        *,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> Product:
        """Move the stock of a product.

        All moves, or none. `by` adds to the current stock and never overwrites a sale; below
        zero is 422 `insufficient_stock`. `to` sets a count; an untracked variant needs it.
        Emits product.updated, whose data also has `stockMoves`: `[{variantId, by, stock,
        reason, note}]`.

        `POST /api/admin/products/{id}/stock`, from the role STAFF on.
        """
        answer: Product = self._transport.call(
            "POST",
            "/api/admin/products/{}/stock",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def start_report(
        self, body: CreateReport, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> StartedJob:
        """Report sales, money or tax of a period.

        Adds up the orders or the transactions of some days of the shop. The job has `report`
        when it is COMPLETED, and `downloadUrl`, a CSV with up to 10,000 rows. Sales are by the
        date of the order, money by the day on which a payment or a refund was recorded, or as
        `clock` says; by product, an order counts at each of its products.

        `POST /api/admin/reports`, from the role READER on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/reports",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def search_everything(self, *, q: str, timeout: float | None = None) -> SearchResult:
        """Search in everything.

        Orders, products and customers that match all words of `q`: whole matches, such as a
        number, an e-mail address or a SKU, first; then the newest.

        `GET /api/admin/search`, from the role READER on.
        """
        answer: SearchResult = self._transport.call(
            "GET", "/api/admin/search", (), query={"q": q}, timeout=timeout
        )
        return answer

    def get_production_settings(self, *, timeout: float | None = None) -> ProductionSettings:
        """Get the settings of production.

        The stages of the workshop.

        `GET /api/admin/settings/production`, from the role STAFF on.
        """
        answer: ProductionSettings = self._transport.call(
            "GET", "/api/admin/settings/production", (), timeout=timeout
        )
        return answer

    def put_production_settings(
        self,
        body: ProductionSettingsInput,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> ProductionSettings:
        """Replace the settings of production.

        All of them. Stages with an `id` stay, and may have another name. 409 `stage_in_use`
        with the `stage` and the `count` of open work, if it is removed or becomes the last.

        `PUT /api/admin/settings/production`, from the role ADMIN on.
        """
        answer: ProductionSettings = self._transport.call(
            "PUT",
            "/api/admin/settings/production",
            (),
            body=body,
            headers={"If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def get_shipping_settings(self, *, timeout: float | None = None) -> ShippingSettings:
        """Get the settings of shipping.

        The carriers that the shop knows.

        `GET /api/admin/settings/shipping`, from the role STAFF on.
        """
        answer: ShippingSettings = self._transport.call(
            "GET", "/api/admin/settings/shipping", (), timeout=timeout
        )
        return answer

    def put_shipping_settings(
        self,
        body: ShippingSettingsInput,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> ShippingSettings:
        """Replace the settings of shipping.

        All of them. `trackingUrl` of a carrier has `{number}` where the tracking number is:
        parcels of this carrier get that address.

        `PUT /api/admin/settings/shipping`, from the role ADMIN on.
        """
        answer: ShippingSettings = self._transport.call(
            "PUT",
            "/api/admin/settings/shipping",
            (),
            body=body,
            headers={"If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def list_shipments(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        method: ShippingMethod | Sequence[ShippingMethod] | None = None,
        carrier: str | None = None,
        state: ShipmentState | Sequence[ShipmentState] | None = None,
        order_id: str | None = None,
        tracking_number: str | None = None,
        timeout: float | None = None,
    ) -> ShipmentList:
        """List shipments.

        Of all orders, by when they were shipped, newest first.

        `GET /api/admin/shipments`, from the role READER on.
        """
        answer: ShipmentList = self._transport.call(
            "GET",
            "/api/admin/shipments",
            (),
            query={
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "from": from_,
                "to": to,
                "method": method,
                "carrier": carrier,
                "state": state,
                "orderId": order_id,
                "trackingNumber": tracking_number,
            },
            timeout=timeout,
        )
        return answer

    def iter_shipments(
        self,
        *,
        limit: int = 100,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        method: ShippingMethod | Sequence[ShippingMethod] | None = None,
        carrier: str | None = None,
        state: ShipmentState | Sequence[ShipmentState] | None = None,
        order_id: str | None = None,
        tracking_number: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[ListedShipment]:
        """Yield all items of `list_shipments`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "limit": limit,
            "from": from_,
            "to": to,
            "method": method,
            "carrier": carrier,
            "state": state,
            "orderId": order_id,
            "trackingNumber": tracking_number,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/shipments", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def list_stock_counts(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> StockCountList:
        """List counts of stock.

        Newest first.

        `GET /api/admin/stock/counts`, from the role READER on.
        """
        answer: StockCountList = self._transport.call(
            "GET",
            "/api/admin/stock/counts",
            (),
            query={"page": page, "limit": limit, "cursor": cursor},
            timeout=timeout,
        )
        return answer

    def iter_stock_counts(
        self, *, limit: int = 100, timeout: float | None = None
    ) -> Iterator[StockCount]:
        """Yield all items of `list_stock_counts`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {"limit": limit}
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/stock/counts", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def create_stock_count(
        self,
        body: CreateStockCount,
        *,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> StockCount:
        """Start a count of stock.

        Of `variantIds`, or of all variants with a tracked stock of the products that match
        `filters` or, with `"all": true`, of all products: up to 10,000. Sales go on while it is
        OPEN.

        `POST /api/admin/stock/counts`, from the role STAFF on.
        """
        answer: StockCount = self._transport.call(
            "POST",
            "/api/admin/stock/counts",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def get_stock_count(self, id: str, *, timeout: float | None = None) -> StockCount:
        """Get a count of stock.

        How far it is. Its lines are at `lines`.

        `GET /api/admin/stock/counts/{id}`, from the role READER on.
        """
        answer: StockCount = self._transport.call(
            "GET", "/api/admin/stock/counts/{}", (id,), timeout=timeout
        )
        return answer

    def apply_stock_count(
        self, id: str, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> StartedJob:
        """Apply a count.

        Changes the stock of each counted variant by `counted` less `expected`, so what was sold
        since stays sold. What would fall below zero is an error of the job. Variants that were
        not counted stay as they are. Applying again answers the same job, which can be undone:
        `POST /api/admin/jobs/{id}/undo`.

        `POST /api/admin/stock/counts/{id}/apply`, from the role STAFF on.
        """
        answer: StartedJob = self._transport.call(
            "POST",
            "/api/admin/stock/counts/{}/apply",
            (id,),
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def cancel_stock_count(self, id: str, *, timeout: float | None = None) -> StockCount:
        """Cancel a count.

        It takes no more lines, and changes nothing. Its lines can still be read.

        `POST /api/admin/stock/counts/{id}/cancel`, from the role STAFF on.
        """
        answer: StockCount = self._transport.call(
            "POST", "/api/admin/stock/counts/{}/cancel", (id,), timeout=timeout
        )
        return answer

    def list_stock_count_lines(
        self,
        id: str,
        *,
        page: int | None = None,
        limit: int | None = None,
        state: LineState | None = None,
        timeout: float | None = None,
    ) -> StockCountLineList:
        """List the lines of a count.

        Of every variant, what was counted last first.

        `GET /api/admin/stock/counts/{id}/lines`, from the role READER on.
        """
        answer: StockCountLineList = self._transport.call(
            "GET",
            "/api/admin/stock/counts/{}/lines",
            (id,),
            query={"page": page, "limit": limit, "state": state},
            timeout=timeout,
        )
        return answer

    def iter_stock_count_lines(
        self,
        id: str,
        *,
        limit: int = 100,
        state: LineState | None = None,
        timeout: float | None = None,
    ) -> Iterator[StockCountLine]:
        """Yield all items of `list_stock_count_lines`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {"limit": limit, "state": state}
        return walk(
            lambda at: self._transport.call(
                "GET",
                "/api/admin/stock/counts/{}/lines",
                (id,),
                query={**asked, **at},
                timeout=timeout,
            ),
            begin={},
        )

    def enter_stock_count_lines(
        self,
        id: str,
        body: CountedLines,
        *,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> EnteredLines:
        """Enter what was counted.

        Keeps what was counted of up to 500 variants, and as `expected` the stock at this
        moment. Counting again replaces both; `add` adds to what was counted and leaves
        `expected`, as for a second shelf, or a scan of each piece. A line with a `before` that
        is not so any more is 409 `count_changed`, with the `lines` as they are, and nothing is
        kept.

        `PUT /api/admin/stock/counts/{id}/lines`, from the role STAFF on.
        """
        answer: EnteredLines = self._transport.call(
            "PUT",
            "/api/admin/stock/counts/{}/lines",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def list_low_stock(
        self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None
    ) -> LowStock:
        """List low stock.

        Every variant of an active product whose stock is below the product's threshold, of the
        newest product first. Follow `nextCursor` until it is null: each comes once.

        `GET /api/admin/stock/low`, from the role READER on.
        """
        answer: LowStock = self._transport.call(
            "GET",
            "/api/admin/stock/low",
            (),
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
        )
        return answer

    def iter_low_stock(
        self, *, limit: int = 100, timeout: float | None = None
    ) -> Iterator[LowStockVariant]:
        """Yield all items of `list_low_stock`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {"limit": limit}
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/stock/low", (), query={**asked, **at}, timeout=timeout
            ),
            begin={},
        )

    def list_movements(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        variant_id: str | None = None,
        product_id: str | None = None,
        order_id: str | None = None,
        job_id: str | None = None,
        cause: MovementCause | Sequence[MovementCause] | None = None,
        timeout: float | None = None,
    ) -> MovementList:
        """List movements of stock.

        Newest first. Every change of a tracked quantity is one entry, half a minute after it at
        the latest. The stock of a variant is that of its last TRACKED entry and every `by`
        since. With filters, `total` counts to 1,000.

        `GET /api/admin/stock/movements`, from the role READER on.
        """
        answer: MovementList = self._transport.call(
            "GET",
            "/api/admin/stock/movements",
            (),
            query={
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "from": from_,
                "to": to,
                "variantId": variant_id,
                "productId": product_id,
                "orderId": order_id,
                "jobId": job_id,
                "cause": cause,
            },
            timeout=timeout,
        )
        return answer

    def iter_movements(
        self,
        *,
        limit: int = 100,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        variant_id: str | None = None,
        product_id: str | None = None,
        order_id: str | None = None,
        job_id: str | None = None,
        cause: MovementCause | Sequence[MovementCause] | None = None,
        timeout: float | None = None,
    ) -> Iterator[Movement]:
        """Yield all items of `list_movements`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "limit": limit,
            "from": from_,
            "to": to,
            "variantId": variant_id,
            "productId": product_id,
            "orderId": order_id,
            "jobId": job_id,
            "cause": cause,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/stock/movements", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def get_summary(
        self, *, clock: MoneyClock | None = None, timeout: float | None = None
    ) -> ShopSummary:
        """The shop at a glance.

        Sales of today and of the last 30 days by order date in the shop's time zone, orders by
        status until they are delivered, and variants with low stock.

        `GET /api/admin/summary`, from the role READER on.
        """
        answer: ShopSummary = self._transport.call(
            "GET", "/api/admin/summary", (), query={"clock": clock}, timeout=timeout
        )
        return answer

    def list_transactions(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        kind: TransactionKind | Sequence[TransactionKind] | None = None,
        method: str | Sequence[str] | None = None,
        order_id: str | None = None,
        reference: str | None = None,
        timeout: float | None = None,
    ) -> TransactionList:
        """List payments, refunds and voids.

        Newest first, of all orders.

        `GET /api/admin/transactions`, from the role READER on.
        """
        answer: TransactionList = self._transport.call(
            "GET",
            "/api/admin/transactions",
            (),
            query={
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "from": from_,
                "to": to,
                "kind": kind,
                "method": method,
                "orderId": order_id,
                "reference": reference,
            },
            timeout=timeout,
        )
        return answer

    def iter_transactions(
        self,
        *,
        limit: int = 100,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        kind: TransactionKind | Sequence[TransactionKind] | None = None,
        method: str | Sequence[str] | None = None,
        order_id: str | None = None,
        reference: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[Transaction]:
        """Yield all items of `list_transactions`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "limit": limit,
            "from": from_,
            "to": to,
            "kind": kind,
            "method": method,
            "orderId": order_id,
            "reference": reference,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/transactions", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def list_webhooks(
        self, *, page: int | None = None, limit: int | None = None, timeout: float | None = None
    ) -> WebhookList:
        """List webhooks.

        Newest first, without secrets.

        `GET /api/admin/webhooks`, from the role ADMIN on.
        """
        answer: WebhookList = self._transport.call(
            "GET", "/api/admin/webhooks", (), query={"page": page, "limit": limit}, timeout=timeout
        )
        return answer

    def iter_webhooks(self, *, limit: int = 100, timeout: float | None = None) -> Iterator[Webhook]:
        """Yield all items of `list_webhooks`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {"limit": limit}
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/webhooks", (), query={**asked, **at}, timeout=timeout
            ),
            begin={},
        )

    def create_webhook(
        self, body: CreateWebhook, *, idempotency_key: str = AUTOMATIC, timeout: float | None = None
    ) -> WebhookWithSecret:
        """Add a webhook.

        Events that happen from now on are sent to it. `secret` is not shown again.

        `POST /api/admin/webhooks`, from the role ADMIN on.
        """
        answer: WebhookWithSecret = self._transport.call(
            "POST",
            "/api/admin/webhooks",
            (),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def get_webhook(self, id: str, *, timeout: float | None = None) -> Webhook:
        """Get a webhook.

        Get a webhook.

        `GET /api/admin/webhooks/{id}`, from the role ADMIN on.
        """
        answer: Webhook = self._transport.call(
            "GET", "/api/admin/webhooks/{}", (id,), timeout=timeout
        )
        return answer

    def update_webhook(
        self,
        id: str,
        body: WebhookChange,
        *,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> Webhook:
        """Change a webhook.

        What is absent stays. `enabled: false` pauses: new events make no deliveries, and
        pending ones wait until it is enabled again, or are gone 30 days after their event.

        `PUT /api/admin/webhooks/{id}`, from the role ADMIN on.
        """
        answer: Webhook = self._transport.call(
            "PUT",
            "/api/admin/webhooks/{}",
            (id,),
            body=body,
            headers={"If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def delete_webhook(
        self, id: str, *, if_match: str | None = None, timeout: float | None = None
    ) -> Deleted:
        """Delete a webhook.

        Its pending deliveries are CANCELLED.

        `DELETE /api/admin/webhooks/{id}`, from the role ADMIN on.
        """
        answer: Deleted = self._transport.call(
            "DELETE",
            "/api/admin/webhooks/{}",
            (id,),
            headers={"If-Match": if_match},
            timeout=timeout,
        )
        return answer

    def list_webhook_deliveries(
        self,
        id: str,
        *,
        status: DeliveryStatus | Sequence[DeliveryStatus] | None = None,
        event: EventKind | Sequence[EventKind] | None = None,
        since: str | date | datetime | None = None,
        limit: int | None = None,
        subject: str | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> DeliveryList:
        """List a webhook's deliveries.

        The newest event first. Follow `nextCursor` until it is null; if few match a filter, a
        page may be short, even empty, before that.

        `GET /api/admin/webhooks/{id}/deliveries`, from the role ADMIN on.
        """
        answer: DeliveryList = self._transport.call(
            "GET",
            "/api/admin/webhooks/{}/deliveries",
            (id,),
            query={
                "status": status,
                "event": event,
                "since": since,
                "limit": limit,
                "subject": subject,
                "cursor": cursor,
            },
            timeout=timeout,
        )
        return answer

    def iter_webhook_deliveries(
        self,
        id: str,
        *,
        status: DeliveryStatus | Sequence[DeliveryStatus] | None = None,
        event: EventKind | Sequence[EventKind] | None = None,
        since: str | date | datetime | None = None,
        limit: int = 100,
        subject: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[Delivery]:
        """Yield all items of `list_webhook_deliveries`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "status": status,
            "event": event,
            "since": since,
            "limit": limit,
            "subject": subject,
        }
        return walk(
            lambda at: self._transport.call(
                "GET",
                "/api/admin/webhooks/{}/deliveries",
                (id,),
                query={**asked, **at},
                timeout=timeout,
            ),
            begin={},
        )

    def recover_deliveries(
        self, id: str, body: RecoverDeliveries, *, timeout: float | None = None
    ) -> RecoveryResult:
        """Replay all that failed.

        Counts the deliveries that failed since then, and those that wait more than 15 minutes
        for their next attempt; with `dryRun: false`, starts to send them within the next
        minute, at most 100 a second. The webhook's `recovery` shows the progress of those that
        failed.

        `POST /api/admin/webhooks/{id}/recover`, from the role ADMIN on.
        """
        answer: RecoveryResult = self._transport.call(
            "POST", "/api/admin/webhooks/{}/recover", (id,), body=body, timeout=timeout
        )
        return answer

    def rotate_webhook_secret(
        self,
        id: str,
        body: RotateSecret,
        *,
        idempotency_key: str = AUTOMATIC,
        timeout: float | None = None,
    ) -> WebhookWithSecret:
        """Rotate the secret.

        The new secret signs at once, and the older ones end. With `overlapHours` they also sign
        until then: `X-Service-Signature` has a `v1` for each secret, the current one first, and
        `notices` says so. Five secrets may sign at the same time; a sixth is 409
        `too_many_secrets`. Without a body it is refused, and nothing ends: `{}` rotates at
        once. Repeated with its Idempotency-Key, it answers the same secret, with the webhook as
        it is now.

        `POST /api/admin/webhooks/{id}/rotate-secret`, from the role ADMIN on.
        """
        answer: WebhookWithSecret = self._transport.call(
            "POST",
            "/api/admin/webhooks/{}/rotate-secret",
            (id,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
            timeout=timeout,
        )
        return answer

    def test_webhook(
        self, id: str, body: TestEvent | None = None, *, timeout: float | None = None
    ) -> TriedEvent | TestDelivery:
        """Send a test event.

        Sends sample data like any delivery, with the header `X-Service-Test: true`, but ignores
        the filter: `passesFilter` says whether a real event like it would be sent. With
        `dryRun` nothing is sent, and another `filter` or `data` can be tried.

        `POST /api/admin/webhooks/{id}/test`, from the role ADMIN on.
        """
        answer: TriedEvent | TestDelivery = self._transport.call(
            "POST", "/api/admin/webhooks/{}/test", (id,), body=body, timeout=timeout
        )
        return answer

    def list_work(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        state: WorkState | None = None,
        stage: str | None = None,
        assignee: str | None = None,
        due: WorkDue | None = None,
        order_id: str | None = None,
        product_id: str | None = None,
        timeout: float | None = None,
    ) -> WorkList:
        """List work on what is made to order.

        Open work by the day by which it is due, that without a day last; or what has ended,
        latest first. `counts` and `overdue` are of all open work.

        `GET /api/admin/work`, from the role READER on.
        """
        answer: WorkList = self._transport.call(
            "GET",
            "/api/admin/work",
            (),
            query={
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "from": from_,
                "to": to,
                "state": state,
                "stage": stage,
                "assignee": assignee,
                "due": due,
                "orderId": order_id,
                "productId": product_id,
            },
            timeout=timeout,
        )
        return answer

    def iter_work(
        self,
        *,
        limit: int = 100,
        from_: str | date | datetime | None = None,
        to: str | date | datetime | None = None,
        state: WorkState | None = None,
        stage: str | None = None,
        assignee: str | None = None,
        due: WorkDue | None = None,
        order_id: str | None = None,
        product_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[Work]:
        """Yield all items of `list_work`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "limit": limit,
            "from": from_,
            "to": to,
            "state": state,
            "stage": stage,
            "assignee": assignee,
            "due": due,
            "orderId": order_id,
            "productId": product_id,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/admin/work", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def get_description(self, *, timeout: float | None = None) -> dict[str, Any]:
        """This description.

        This description.

        `GET /api/openapi.json`.
        """
        answer: dict[str, Any] = self._transport.call(
            "GET", "/api/openapi.json", (), timeout=timeout
        )
        return answer

    def browse_products(
        self,
        *,
        fields: str | Sequence[str] | None = None,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        storefront: str | None = None,
        search: str | None = None,
        type: str | Sequence[str] | None = None,
        vendor: str | Sequence[str] | None = None,
        tag: str | Sequence[str] | None = None,
        min_price: Amount | None = None,
        max_price: Amount | None = None,
        available: bool | None = None,
        sort: PublicSort | None = None,
        timeout: float | None = None,
    ) -> PublicProductList:
        """Browse products.

        Newest first. `storefront` shows products that are assigned to it or to none. A page may
        end early where few of very many products match: read on until `pagination.next` is
        null. With `available`, `total` is at least what this page has.

        `GET /api/products`.
        """
        answer: PublicProductList = self._transport.call(
            "GET",
            "/api/products",
            (),
            query={
                "fields": fields,
                "page": page,
                "limit": limit,
                "cursor": cursor,
                "storefront": storefront,
                "search": search,
                "type": type,
                "vendor": vendor,
                "tag": tag,
                "minPrice": min_price,
                "maxPrice": max_price,
                "available": available,
                "sort": sort,
            },
            timeout=timeout,
        )
        return answer

    def iter_public_products(
        self,
        *,
        fields: str | Sequence[str] | None = None,
        limit: int = 100,
        storefront: str | None = None,
        search: str | None = None,
        type: str | Sequence[str] | None = None,
        vendor: str | Sequence[str] | None = None,
        tag: str | Sequence[str] | None = None,
        min_price: Amount | None = None,
        max_price: Amount | None = None,
        available: bool | None = None,
        sort: PublicSort | None = None,
        timeout: float | None = None,
    ) -> Iterator[PublicProduct]:
        """Yield all items of `browse_products`, page by page. `limit`: of a page."""
        asked: dict[str, Any] = {
            "fields": fields,
            "limit": limit,
            "storefront": storefront,
            "search": search,
            "type": type,
            "vendor": vendor,
            "tag": tag,
            "minPrice": min_price,
            "maxPrice": max_price,
            "available": available,
            "sort": sort,
        }
        return walk(
            lambda at: self._transport.call(
                "GET", "/api/products", (), query={**asked, **at}, timeout=timeout
            ),
            begin={"cursor": "*"},
        )

    def list_public_facets(
        self, *, storefront: str | None = None, timeout: float | None = None
    ) -> PublicFacets:
        """List what the storefront can be filtered by.

        The types, vendors and tags of the public products, each with the number that have it
        now, and the range of prices: for a menu and its filters.

        `GET /api/products/facets`.
        """
        answer: PublicFacets = self._transport.call(
            "GET", "/api/products/facets", (), query={"storefront": storefront}, timeout=timeout
        )
        return answer

    def get_public_product(
        self,
        id_or_slug: str,
        *,
        fields: str | Sequence[str] | None = None,
        timeout: float | None = None,
    ) -> PublicProduct:
        """Get a product by id or slug.

        The ETag is a hash of the answer, with `fields` too.

        `GET /api/products/{id_or_slug}`.
        """
        answer: PublicProduct = self._transport.call(
            "GET", "/api/products/{}", (id_or_slug,), query={"fields": fields}, timeout=timeout
        )
        return answer
