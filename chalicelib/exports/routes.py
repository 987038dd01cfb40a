"""Taking records out of the shop: a job writes the file."""

from typing import Final

from chalice.app import Response

from chalicelib.exports.model import TYPE, NewExport, query
from chalicelib.idempotency import Once, Repeated
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import StartedJob
from chalicelib.request import Role, Routes, body, caller, header, parsed_body
from chalicelib.request.answer import reply_text

routes = Routes(__name__, "Exports")
_KEY: Final = {"Idempotency-Key": "As for orders: the same body again is answered as it was first."}


@routes.post(
    "/api/admin/exports",
    "Export products, orders or customers",
    role=Role.STAFF,
    body=NewExport,
    answers={202: StartedJob},
    headers=_KEY,
)
def start() -> Response:
    """As CSV or one JSON object a line. The job has `downloadUrl` when it is COMPLETED. A file of
    products can be imported again. Cells that a spreadsheet would run begin with an apostrophe,
    which the import takes off."""
    asked = body(NewExport)
    query(asked.type, asked.filters, 1)
    about = asked.model_dump(by_alias=True, mode="json")
    key = header("idempotency-key")
    once = Once.of(caller().id, key, parsed_body()) if key is not None else None
    try:
        _, text = jobs.create(TYPE, about, caller().name, once=once)
    except Repeated as first:
        return reply_text(202, first.text, headers={"Idempotent-Replayed": "true"})
    return reply_text(202, text)
