"""Keys: the own one, and (for Owners) all others."""

from chalice.app import Response

from chalicelib import schemas
from chalicelib.api_keys import store
from chalicelib.api_keys.model import (
    ApiKey,
    ApiKeyWithSecret,
    ListedApiKey,
    NewApiKey,
    Role,
    show_key,
    show_key_with_secret,
)
from chalicelib.problems import Conflict
from chalicelib.request import IDEMPOTENT, Routes, body_once, caller, query, reply
from chalicelib.request.call import current
from chalicelib.request.repeats import REPLAYED
from chalicelib.schemas import Deleted, Listed, PageQuery
from chalicelib.storage.idempotency import Repeated

routes = Routes(__name__, "Keys")


@routes.get(
    "/api/admin/me", "The key in use", role=Role.READER, answers={200: ApiKey}, reads_first=False
)
def get_current_key() -> Response:
    return reply(200, show_key(caller()))


@routes.get(
    "/api/admin/keys",
    "List keys",
    role=Role.OWNER,
    query=PageQuery,
    answers={200: Listed[ListedApiKey]},
)
def list_api_keys() -> Response:
    """Newest first, without the keys themselves, which are not stored."""
    page_query = query(PageQuery)
    keys, total = store.page((page_query.page - 1) * page_query.limit, page_query.limit)
    return reply(200, schemas.numbered_page(keys, total, page_query))


@routes.post(
    "/api/admin/keys",
    "Create a key",
    role=Role.OWNER,
    body=NewApiKey,
    answers={201: ApiKeyWithSecret},
    headers=IDEMPOTENT,
)
def create() -> Response:
    """`key` in the answer is the key. It is not stored, and shown only once."""
    bearer = current().bearer
    try:
        new, once = body_once(NewApiKey)
        minted = store.mint(new.name, new.role, expires=new.expires_at, once=once, bearer=bearer)
    except Repeated as first:  # its text is not what was answered, which had the key
        return reply(201, store.minted_before(first, bearer), headers=REPLAYED)
    return reply(201, show_key_with_secret(*minted))


@routes.delete(
    "/api/admin/keys/{id}",
    "Revoke a key",
    role=Role.OWNER,
    answers={200: Deleted},
    problems=[Conflict],
)
def revoke(id: str) -> Response:
    """The key stops working at once. The last Owner key cannot be revoked: 409 `last_owner_key`."""
    store.revoke(id)
    return reply(200, {"id": id, "deleted": True})
