"""Keys: who am I, and (for Owners) who else may call."""

from chalice.app import Response

from chalicelib import schemas
from chalicelib.api_keys import store
from chalicelib.api_keys.model import ApiKey, MintedKey, NewKey, Role, shown
from chalicelib.problems import Conflict, NotFound
from chalicelib.request import Routes, body, caller, query, reply
from chalicelib.schemas import Deleted, Listed, Page

routes = Routes(__name__, "Keys")


@routes.get("/api/admin/me", "The key in use", role=Role.STAFF, answers={200: ApiKey})
def me() -> Response:
    return reply(200, shown(caller()))


@routes.get(
    "/api/admin/keys",
    "List keys",
    role=Role.OWNER,
    query=Page,
    answers={200: Listed[ApiKey]},
)
def list_keys() -> Response:
    """Newest first, without the keys themselves: nobody has those but their holders."""
    page, keys = query(Page), store.all()
    first = (page.page - 1) * page.limit
    shown_keys = [shown(key) for key in keys[first : first + page.limit]]
    return reply(200, schemas.listed(shown_keys, len(keys), page))


@routes.post(
    "/api/admin/keys", "Create a key", role=Role.OWNER, body=NewKey, answers={201: MintedKey}
)
def create() -> Response:
    """`key` in the answer is the key. It is not stored, and never shown again."""
    new = body(NewKey)
    return reply(201, store.minted(*store.mint(new.name, new.role)))


@routes.delete(
    "/api/admin/keys/{id}",
    "Revoke a key",
    role=Role.OWNER,
    answers={200: Deleted},
    problems=[NotFound, Conflict],
)
def revoke(id: str) -> Response:
    """It opens nothing from then on. The last Owner key stays: 409 `last_owner_key`."""
    store.revoke(id)
    return reply(200, {"id": id, "deleted": True})
