"""Webhooks and their deliveries: the console's Developer pages use this."""

from collections.abc import Sequence
from typing import TypeVar

from chalice.app import Response
from pydantic import BaseModel

from chalicelib import schemas
from chalicelib.problems import Conflict, Invalid, NotFound, PreconditionFailed
from chalicelib.request import (
    IDEMPOTENT,
    Role,
    Routes,
    body,
    body_once,
    if_match,
    query,
    raw_body,
    reply,
)
from chalicelib.request.repeats import REPLAYED
from chalicelib.schemas import Deleted, Listed, PageQuery
from chalicelib.webhooks import recover, replay, sample_event, store, view
from chalicelib.webhooks.model import Endpoint
from chalicelib.webhooks.schemas import (
    DeliveryList,
    DeliveryWithAttempts,
    ListDeliveries,
    NewWebhook,
    RecoverDeliveries,
    RecoveryResult,
    RotateSecret,
    ShownDelivery,
    ShownWebhook,
    TestDelivery,
    TestEvent,
    TriedEvent,
    WebhookChange,
    WebhookWithSecret,
    digest,
    etag,
    show_delivery,
    show_endpoint,
)

routes = Routes(__name__, "Webhooks")

Model = TypeVar("Model", bound=BaseModel)


@routes.get(
    "/api/admin/webhooks",
    "List webhooks",
    role=Role.ADMIN,
    query=PageQuery,
    answers={200: Listed[ShownWebhook]},
)
def list_webhooks() -> Response:
    """Newest first, without secrets."""
    page, endpoints = query(PageQuery), store.load_all()
    first = (page.page - 1) * page.limit
    shown = [show_endpoint(endpoint) for endpoint in endpoints[first : first + page.limit]]
    return reply(200, schemas.numbered_page(shown, len(endpoints), page))


@routes.post(
    "/api/admin/webhooks",
    "Add a webhook",
    role=Role.ADMIN,
    body=NewWebhook,
    answers={201: WebhookWithSecret},
    headers=IDEMPOTENT,
)
def create() -> Response:
    """Events that happen from now on are sent to it. `secret` is not shown again."""
    new, once = body_once(NewWebhook)
    endpoint, secret, again = store.create(new, once)
    shown = {**show_endpoint(endpoint), "secret": secret}
    return reply(201, shown, etag=etag(endpoint), headers=REPLAYED if again else {})


@routes.get(
    "/api/admin/webhooks/{id}",
    "Get a webhook",
    role=Role.ADMIN,
    answers={200: ShownWebhook, 304: None},
    problems=[NotFound],
)
def get(id: str) -> Response:
    endpoint = store.get(id)
    return reply(200, show_endpoint(endpoint), etag=etag(endpoint))


@routes.put(
    "/api/admin/webhooks/{id}",
    "Change a webhook",
    role=Role.ADMIN,
    body=WebhookChange,
    answers={200: ShownWebhook},
    problems=[NotFound, Conflict, PreconditionFailed],
)
def update(id: str) -> Response:
    """What is absent stays. `enabled: false` pauses: new events make no deliveries, and pending
    ones wait until it is enabled again, or are gone 30 days after their event.
    """
    endpoint = store.update(id, body(WebhookChange), if_match())
    return reply(200, show_endpoint(endpoint), etag=etag(endpoint))


@routes.delete(
    "/api/admin/webhooks/{id}",
    "Delete a webhook",
    role=Role.ADMIN,
    answers={200: Deleted},
    problems=[NotFound, Conflict, PreconditionFailed],
)
def delete(id: str) -> Response:
    """Its pending deliveries are CANCELLED."""
    store.delete(id, if_match())
    return reply(200, {"id": id, "deleted": True})


@routes.post(
    "/api/admin/webhooks/{id}/rotate-secret",
    "Rotate the secret",
    role=Role.ADMIN,
    body=RotateSecret,
    answers={200: WebhookWithSecret},
    problems=[NotFound, Conflict],
    headers=IDEMPOTENT,
)
def rotate_webhook_secret(id: str) -> Response:
    """The new secret signs at once, and the older ones end. With `overlapHours` they also sign
    until then: `X-Service-Signature` has a `v1` for each secret, the current one first, and
    `notices` says so. Five secrets may sign at the same time; a sixth is 409 `too_many_secrets`.
    Without a body it is refused, and nothing ends: `{}` rotates at once. Repeated with its
    Idempotency-Key, it answers the same secret, with the webhook as it is now.
    """
    asked, once = body_once(RotateSecret)
    endpoint, secret, again = store.rotate(id, asked.overlap_hours, once)
    shown = {**show_endpoint(endpoint), "secret": secret}
    return reply(200, shown, etag=etag(endpoint), headers=REPLAYED if again else {})


@routes.post(
    "/api/admin/webhooks/{id}/test",
    "Send a test event",
    role=Role.ADMIN,
    body=TestEvent,
    optional_body=True,
    answers={200: TriedEvent, 202: TestDelivery},
    problems=[NotFound, Conflict],
)
def test(id: str) -> Response:
    """Sends sample data like any delivery, with the header `X-Service-Test: true`, but ignores the
    filter: `passesFilter` says whether a real event like it would be sent. With `dryRun` nothing
    is sent, and another `filter` or `data` can be tried.
    """
    test_event = _parse_optional_body(TestEvent)
    if test_event.dry_run:
        return reply(200, sample_event.try_filter(store.get(id), test_event))
    for name in ("filter", "data"):
        if getattr(test_event, name) is not None:
            raise Invalid.field(name, "not_allowed", "can only be sent with dryRun: true")
    delivery, would_pass = sample_event.send(id, test_event.event)
    shown = show_delivery(delivery, store.get(id))
    return reply(202, {**shown, "passesFilter": would_pass})


@routes.post(
    "/api/admin/webhooks/{id}/recover",
    "Replay all that failed",
    role=Role.ADMIN,
    body=RecoverDeliveries,
    answers={200: RecoveryResult, 202: RecoveryResult},
    problems=[NotFound, Conflict],
)
def recover_deliveries(id: str) -> Response:
    """Counts the deliveries that failed since then, and those that wait more than 15
    minutes for their next attempt; with `dryRun: false`, starts to send them within the next
    minute, at most 100 a second. The webhook's `recovery` shows the progress of those that
    failed.
    """
    recovery = body(RecoverDeliveries)
    if recovery.dry_run is not False:
        return reply(200, {"count": recover.count(store.get(id).id, recovery.since)})
    endpoint = recover.begin(id, recovery.since)
    begun = show_endpoint(endpoint)["recovery"]
    return reply(202, {"count": begun["count"], "recovery": begun})


@routes.get(
    "/api/admin/webhooks/{id}/deliveries",
    "List a webhook's deliveries",
    role=Role.ADMIN,
    query=ListDeliveries,
    answers={200: DeliveryList},
    problems=[NotFound],
)
def list_webhook_deliveries(id: str) -> Response:
    """The newest event first. Follow `nextCursor` until it is null; if few match a filter, a page
    may be short, even empty, before that.
    """
    return _reply_with_deliveries([store.get(id)])


@routes.get(
    "/api/admin/deliveries",
    "List all webhooks' deliveries",
    role=Role.ADMIN,
    query=ListDeliveries,
    answers={200: DeliveryList},
)
def list_deliveries() -> Response:
    """Of all webhooks, the newest event first; otherwise as for one webhook."""
    return _reply_with_deliveries(store.load_all())


@routes.get(
    "/api/admin/deliveries/{id}",
    "Get a delivery with every attempt",
    role=Role.ADMIN,
    answers={200: DeliveryWithAttempts, 304: None},
    problems=[NotFound],
)
def get_delivery(id: str) -> Response:
    shown = view.show_full(id)
    return reply(200, shown, etag=digest(shown))


@routes.post(
    "/api/admin/deliveries/{id}/replay",
    "Replay a delivery",
    role=Role.ADMIN,
    answers={202: ShownDelivery},
    problems=[NotFound, Conflict],
)
def replay_delivery(id: str) -> Response:
    """Posts it again now, with the same id and body: outside its schedule while that runs, or as
    the start of a new one. Returns the delivery as it was before.
    """
    delivery = replay.replay_delivery(id)
    return reply(202, show_delivery(delivery, store.find(delivery.endpoint_id)))


def _reply_with_deliveries(endpoints: Sequence[Endpoint]) -> Response:
    """Return the reply `{data, nextCursor}` with a page of these endpoints' deliveries, merged.

    The deliveries of all of them are read, filtered as the request's query says.
    """
    known = {endpoint.id: endpoint for endpoint in endpoints}
    page, following = view.page(known, query(ListDeliveries))
    shown = [show_delivery(each, known[each.endpoint_id]) for each in page]
    return reply(200, {"data": shown, "nextCursor": following})


def _parse_optional_body(model: type[Model]) -> Model:
    """Return the parsed body; without a body, a model whose fields have their defaults."""
    return body(model) if raw_body() else model()
