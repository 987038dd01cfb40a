"""Files of an order: what requests do with them. What is stored of them: `files/store.py`.

They are beside the order: its ETag and its events do not change.
"""

from chalicelib.files import store as files
from chalicelib.files.model import KEPT_SECONDS, MOST_FILES, FileStatus
from chalicelib.files.schemas import FileChange, NewFile
from chalicelib.files.store import Files
from chalicelib.orders import store
from chalicelib.orders.model import Order
from chalicelib.problems import Invalid, NotFound
from chalicelib.storage import outbox
from chalicelib.storage.attributes import Fields
from chalicelib.storage.commit import Commit
from chalicelib.values import clock, ids


def list_files(order_id: str) -> list[Fields]:
    """Return the files of an order, oldest first. Raise NotFound."""
    found = files.load_files(order_id)
    if not found:
        store.get(order_id)  # is it there?
    return list(found.values())


def get_file(order_id: str, file_id: str) -> Fields:
    """Return a file of an order. Raise NotFound."""
    return NotFound.unless(files.load_files(order_id).get(file_id), "file", file_id)


def create_file(order_id: str, new: NewFile, by: str, id: str | None = None) -> Fields:
    """Create a file of an order that waits for its upload; return it. Raise NotFound, Invalid.

    `id`: derived from a repeatable request; if the file is there, that is returned.
    """
    order = store.get(order_id)
    file: Fields = {
        "id": id or ids.new_id("fil"),
        "orderId": order_id,
        "lineItemId": new.line_item_id,
        "status": FileStatus.WAITING.value,
        "name": new.name,
        "note": new.note or None,
        "contentType": new.content_type or "application/octet-stream",
        "bytes": new.bytes,
        "kind": None,
        "width": None,
        "height": None,
        "createdAt": clock.now_iso(),
        "createdBy": by,
        "expiresAt": clock.unix() + KEPT_SECONDS,
        "orderNumber": order.fields["number"],
        "customerId": order.customer_id,
    }

    def add_file(commit: Commit, known: Files) -> Fields:
        """Add the file, unless it is there; return the one that is."""
        if file["id"] in known:
            return known[file["id"]]
        _require_line(order, file)
        if len(known) >= MOST_FILES:
            message = f"An order has at most {MOST_FILES} files."
            raise Invalid(message, code="too_many_files")
        known[file["id"]] = file
        files.refuse_large_files(known)
        store.require_order(commit, order_id)
        _audit(commit, order, "file.created", None, file)
        return file

    return files.rewrite_files(order_id, add_file)


def change_file(order_id: str, file_id: str, change: FileChange) -> Fields:
    """Change name, note or line of a file; return it. Raise NotFound, Invalid."""
    order = store.get(order_id)

    def apply_change(commit: Commit, known: Files) -> Fields:
        """Replace the file by the changed one; return that."""
        before = NotFound.unless(known.get(file_id), "file", file_id)
        after = {**before, **change.sent_fields()}
        after["note"] = after["note"] or None
        if after["lineItemId"] != before["lineItemId"]:
            _require_line(order, after)
        if after != before:
            known[file_id] = after
            files.refuse_large_files(known)
            _audit(commit, order, "file.updated", before, after)
        return after

    return files.rewrite_files(order_id, apply_change)


def delete_file(order_id: str, file_id: str) -> None:
    """Delete a file of an order: its objects, then what is known of it. Raise NotFound."""
    order, file = store.get(order_id), get_file(order_id, file_id)
    files.delete_objects(files.place_of(file))

    def remove_file(commit: Commit, known: Files) -> None:
        """Remove the file, unless another request did."""
        if known.pop(file_id, None):
            _audit(commit, order, "file.deleted", file, None)

    files.rewrite_files(order_id, remove_file)


def _require_line(order: Order, file: Fields) -> None:
    """Raise Invalid if a file names a line that the order does not have."""
    lines = {line["id"] for line in order.fields["lineItems"]}
    if file["lineItemId"] is not None and file["lineItemId"] not in lines:
        raise Invalid.field("lineItemId", "unknown_line", "is no line of this order")


def _audit(
    commit: Commit, order: Order, action: str, before: Fields | None, after: Fields | None
) -> None:
    """Add the audit entry of a file that was created, changed or deleted, to those of its order."""
    entry = outbox.audit_entry(
        "order",
        order.id,
        _show_for_audit(before),
        _show_for_audit(after),
        show=dict,
        action=action,
        number=order.fields["number"],
        customers=store.list_owners(order),
    )
    commit.audit(entry)


def _show_for_audit(file: Fields | None) -> dict[str, object]:
    """Return an order's files as the audit log compares them: this one alone, or none."""
    names = ("id", "name", "note", "lineItemId", "contentType", "bytes")
    return {"files": [{name: file[name] for name in names}] if file else []}
