"""Pictures in the table.

| item | pk | sk |
|---|---|---|
| picture | `pic_…` | `picture` |

WAITING becomes READY or FAILED once, and then stays. A picture that is not READY expires after a
day. Its worker first claims it for the upload that it read (`etag`), so that a form that is used
twice never shows a second file.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from chalicelib.files import objects
from chalicelib.files.model import KEPT_SECONDS, FileStatus, NewPicture, Picture, show_picture
from chalicelib.problems import Conflict, Invalid, NotFound, Problem
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.values import clock, ids

_WAITS: Final = Attr("status").eq(FileStatus.WAITING)
_IS_READY: Final = Attr("status").eq(FileStatus.READY)


class PictureNotReady(Conflict):
    code = "picture_not_ready"


def _picture_key(picture_id: str) -> Key:
    return picture_id, "picture"


# --- Reading --------------------------------------------------------------------------------------


def load_pictures(picture_ids: Iterable[str]) -> dict[str, Picture]:
    """Return those of these pictures that exist, by id; not what has expired."""
    items = table.batch_get(_picture_key(id) for id in picture_ids if ids.may_be("pic", id))
    now = clock.unix()
    alive = (item for item in items.values() if item.get("expiresAt", now + 1) > now)
    return {item["id"]: Picture(item) for item in alive}


# For other slices, which use this module alone.
list_stored, delete_files = objects.list_originals, objects.delete_picture_files


def get_picture(picture_id: str) -> Picture:
    """Return a picture. Raises NotFound."""
    return NotFound.unless(load_pictures([picture_id]).get(picture_id), "picture", picture_id)


# --- Writing --------------------------------------------------------------------------------------


def create_picture(new: NewPicture, by: str, id: str | None = None) -> Picture:
    """Create a picture that waits for its upload; return it.

    `id`: derived from a repeatable request; if the picture is there, that is returned.
    """
    picture = Picture(
        {
            "id": id or ids.new_id("pic"),
            "status": FileStatus.WAITING,
            "name": new.name,
            "contentType": new.content_type,
            "bytes": new.bytes,
            "createdAt": clock.now_iso(),
            "createdBy": by,
            "expiresAt": clock.unix() + KEPT_SECONDS,
        }
    )
    commit, (pk, sk) = Commit(), _picture_key(picture.id)
    commit.put({"pk": pk, "sk": sk, **picture.fields}, when=table.absent)
    commit.audit(_audit_entry(None, picture))
    return picture if commit.try_send() else get_picture(picture.id)


def delete_picture(picture: Picture, when: Condition = table.present) -> bool:
    """Delete a picture's record on a condition; return whether it held."""
    commit = Commit()
    commit.delete(_picture_key(picture.id), when=when)
    commit.audit(_audit_entry(picture, None))
    return commit.try_send()


def delete_unused(picture: Picture) -> bool:
    """Delete the record of a picture unless a product took it since; return whether it went."""
    return delete_picture(picture, Attr("unusedSince").eq(picture.unused_since))


def claim_upload(picture_id: str, etag: str) -> bool:
    """Note which upload a waiting picture is rendered from; return False if it is another one."""
    same = Attr("etag").not_exists() | Attr("etag").eq(etag)
    return table.update_if(_picture_key(picture_id), _WAITS & same, assign={"etag": etag})


def finish_picture(picture_id: str, **found: object) -> bool:
    """Make a waiting picture READY; return whether it waited. `found`: what its file is."""
    ready = {"status": FileStatus.READY, **found}
    return table.update_if(_picture_key(picture_id), _WAITS, assign=ready, remove=["expiresAt"])


def fail_picture(picture_id: str, error: str) -> None:
    """Make a waiting picture FAILED, with the reason."""
    table.update_if(
        _picture_key(picture_id), _WAITS, assign={"status": FileStatus.FAILED, "error": error}
    )


def mark_unused(picture: Picture, since: datetime) -> None:
    """Note since when no product shows the picture."""
    free = _IS_READY & Attr("unusedSince").not_exists()
    table.update_if(_picture_key(picture.id), free, assign={"unusedSince": clock.iso(since)})


def mark_used(picture_id: str) -> bool:
    """Note that a product shows the picture; return False if it is not there or not READY."""
    return table.update_if(_picture_key(picture_id), _IS_READY, remove=["unusedSince"])


def find_refusal(fields: Mapping[str, str]) -> Problem | None:
    """Return why a product cannot take some pictures; None if it can.

    `fields`: by id, the field of the product that names it. A picture that was unused is noted as
    used before the product is written, so that it is not deleted meanwhile.
    """
    found = load_pictures(fields) if fields else {}
    for id, field in fields.items():
        picture = found.get(id)
        if picture and picture.status is FileStatus.WAITING:
            return PictureNotReady(f"The picture {id} is not READY.", field=field)
        if not picture or picture.status is FileStatus.FAILED or not _is_kept(picture):
            return Invalid.field(field, "unknown_picture", f"There is no picture {id}")
    return None


def _is_kept(picture: Picture) -> bool:
    return picture.unused_since is None or mark_used(picture.id)


def _audit_entry(before: Picture | None, after: Picture | None) -> dict[str, object]:
    picture = after or before
    assert picture is not None
    name = picture.fields["name"]
    return outbox.audit_entry("picture", picture.id, before, after, show=show_picture, name=name)
