"""Files of an order: what requests do with them. What is stored of them: `files/store.py`.

They are stored apart from the order: its ETag and its events do not change.
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
    """Read the files of an order; return the fields of each as stored, oldest first; [] for none.

    Raise NotFound if there is no such order.
    """
    found = files.load_files(order_id)
    if not found:
        store.get(order_id)  # is it there?
    return list(found.values())


def get_file(order_id: str, file_id: str) -> Fields:
    """Read a file of an order; return its fields as stored.

    Raise NotFound, also without the order.
    """
    return NotFound.unless(files.load_files(order_id).get(file_id), "file", file_id)


def create_file(order_id: str, new: NewFile, by: str, id: str | None = None) -> Fields:
    """Create a file of an order, WAITING for its upload, with an audit entry; return its fields.

    Nothing is uploaded here. `id`: derived from a repeatable request; if the file is there, that is
    returned, and nothing is written. Raise NotFound, Invalid for an unknown line or too many files.
    """
    order = store.get(order_id)
    file: Fields = {
        "id": id or ids.new_id("fil"),
        "orderId": order_id,
        "lineItemId": new.line_item_id,
        "status": FileStatus.WAITING.value,
        "name": new.name,
        "note": new.note or None,
        "contentType": new.content_type,
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
        """Add the new file to `known`, which is then written, unless it is there.

        Return the one that is. The commit gets its audit entry, and requires that the order exists.
        Raise Invalid.
        """
        if file["id"] in known:
            return known[file["id"]]
        _require_line(order, file)
        if len(known) >= MOST_FILES:
            message = f"An order has at most {MOST_FILES} files."
            raise Invalid(message, code="too_many_files")
        files.put_file(known, file)
        store.require_order(commit, order_id)
        _add_audit_entry(commit, order, "file.created", None, file)
        return file

    return files.rewrite_files(order_id, add_file)


def change_file(order_id: str, file_id: str, change: FileChange) -> Fields:
    """Change name, note or line of a file, with an audit entry; return its fields after that.

    If nothing differs, nothing changes. Raise NotFound, Invalid.
    """
    order = store.get(order_id)

    def apply_change(commit: Commit, known: Files) -> Fields:
        """Put the changed file into `known`, which is then written; add its audit entry.

        Nothing if nothing differs. Return the fields after the change. Raise NotFound, Invalid.
        """
        before = NotFound.unless(known.get(file_id), "file", file_id)
        after = {**before, **change.sent_fields()}
        after["note"] = after["note"] or None
        if after["lineItemId"] != before["lineItemId"]:
            _require_line(order, after)
        if after != before:
            files.put_file(known, after)
            _add_audit_entry(commit, order, "file.updated", before, after)
        return after

    return files.rewrite_files(order_id, apply_change)


def delete_file(order_id: str, file_id: str) -> None:
    """Delete what is known of a file of an order, with an audit entry, and then its objects.

    Raise NotFound. Nothing is raised if another request deleted it meanwhile.
    """
    order, file = store.get(order_id), get_file(order_id, file_id)

    def remove_file(commit: Commit, known: Files) -> None:
        """Remove the file from `known`, which is then written, unless another request did.

        The commit gets its audit entry.
        """
        if known.pop(file_id, None):
            _add_audit_entry(commit, order, "file.deleted", file, None)

    files.rewrite_files(order_id, remove_file)
    files.discard_objects(files.place_of(file))


def _require_line(order: Order, file: Fields) -> None:
    """Raise Invalid if a file names a line that the order does not have; a file may name none."""
    lines = {line["id"] for line in order.fields["lineItems"]}
    if file["lineItemId"] is not None and file["lineItemId"] not in lines:
        raise Invalid.field("lineItemId", "unknown_line", "is no line of this order")


def _add_audit_entry(
    commit: Commit, order: Order, action: str, before: Fields | None, after: Fields | None
) -> None:
    """Add to a commit the audit entry of a file that was created, changed or deleted.

    It is an entry of the order, by this `action`. `before`, `after`: None if it was, or is, not
    there.
    """
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
    """Return `{"files": […]}` as the audit log compares it: with this file alone, or none."""
    names = ("id", "name", "note", "lineItemId", "contentType", "bytes")
    return {"files": [{name: file[name] for name in names}] if file else []}
