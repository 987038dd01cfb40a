"""Posts a delivery again, now, with the same id and body.

If its schedule has ended, a new one begins. Otherwise the attempt is outside the schedule: success
ends the schedule, failure changes nothing.
"""

from chalicelib.problems import Conflict
from chalicelib.storage import outbox
from chalicelib.storage.commit import Commit
from chalicelib.values import ids
from chalicelib.webhooks import deliveries, messages, store
from chalicelib.webhooks.messages import Message, Posted
from chalicelib.webhooks.model import Delivery, Endpoint


class WebhookPaused(Conflict):
    code = "webhook_paused"


class WebhookDeleted(Conflict):
    code = "webhook_deleted"


def replay_delivery(id: str) -> Delivery:
    """Write an audit entry, then put a replay of a delivery on the queue, to be posted now.

    It goes to the lane of its endpoint: `retries` if that is failing. Return the delivery as it was
    before; nothing of it is written. Raises NotFound, WebhookDeleted, WebhookPaused.
    """
    delivery = deliveries.get(id)
    endpoint = store.find(delivery.endpoint_id)
    if endpoint is None:
        raise WebhookDeleted("The webhook of this delivery was deleted.")
    require_enabled(endpoint)
    message = Message(id, replay=ids.ulid())
    commit = Commit()
    commit.audit(outbox.audit_entry("delivery", id, action="delivery.replayed", name=endpoint.id))
    commit.send()  # first, so that nothing is posted without a trace
    messages.send([Posted(message, failing_lane=endpoint.failing)])
    return delivery


def require_enabled(endpoint: Endpoint) -> None:
    """Raise WebhookPaused if the endpoint is paused."""
    if not endpoint.enabled:
        raise WebhookPaused("The webhook is paused: enable it first.")
