"""Pictures, and files of orders, in the table.

| item | pk | sk |
|---|---|---|
| picture | `pic_…` | `picture` |
| files of an order: `{version, files: {fil_…: file}}` | `files#ord_…` | `files` |

WAITING becomes READY or FAILED once, and then stays; a file of an order never fails. What is not
READY expires after a day. Its worker first claims it for the upload that it read (`etag`), so that
a form that is used twice never shows a second file. A claim expires (`claimedUntil`) later than the
worker's timeout. If the worker died, the sweep renders the upload that is there then.

The files of an order have an item of their own, because `render_file` may write that, but no
orders. They are created with the condition that the order exists, and end in the commit that
deletes it.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib import deadline, telemetry
from chalicelib.files import objects
from chalicelib.files.model import (
    FILE_URL_SECONDS,
    KEPT_SECONDS,
    LARGEST_METADATA,
    FileKind,
    FileStatus,
    NewPicture,
    Picture,
    show_picture,
)
from chalicelib.files.schemas import AnnouncedFile
from chalicelib.problems import Busy, Conflict, Invalid, NotFound, Problem
from chalicelib.schemas import pick_members
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Fields, Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.values import clock, ids
from chalicelib.values.compact_json import encode

Files = dict[str, Fields]
T = TypeVar("T")

_CLAIM_SECONDS: Final = 120  # `render_file` runs for 60
_WAITS: Final = Attr("status").eq(FileStatus.WAITING)
# Attributes that only a WAITING file has, and that the API does not show.
_OF_WAITING: Final = frozenset({"expiresAt", "etag", "claimedUntil", "orderNumber", "customerId"})
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
    return {item["id"]: Picture(item) for item in items.values() if not _has_expired(item, now)}


def _has_expired(record: Fields, now: int) -> bool:
    """Tell whether a picture or a file has expired; what is READY has no `expiresAt`."""
    return bool(record.get("expiresAt", now + 1) <= now)


# For other slices, which use this module alone.
list_stored, delete_picture_files = objects.list_originals, objects.delete_picture_files
list_stored_files, delete_objects = objects.list_files, objects.delete_files


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


def finish_picture(picture_id: str, **found: object) -> bool:
    """Make a waiting picture READY; return whether it waited. `found`: what its file is."""
    ready = {"status": FileStatus.READY, **found}
    ended = ["expiresAt", "claimedUntil"]
    return table.update_if(_picture_key(picture_id), _WAITS, assign=ready, remove=ended)


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


# --- Uploads of both ------------------------------------------------------------------------------


def discard_objects(place: str) -> None:
    """Delete the objects of a picture, a file, or all files of an order, whose record is gone.

    So nothing stays of an upload that was rendered meanwhile: its worker looks for the record after
    its last object. What S3 does not delete now is found by the weekly look.
    """
    try:
        (delete_picture_files if objects.is_picture(place) else delete_objects)(place)
    except (BotoCoreError, ClientError) as failure:
        telemetry.warning("objects not deleted", place=place, reason=str(failure))


def find_waiting(places: Iterable[str]) -> set[str]:
    """Return those of these places of uploads for which a picture or a file waits."""
    wanted = list(places)
    pictures = load_pictures(wanted).values()
    files = find_files(wanted).items()
    return {
        *(picture.id for picture in pictures if picture.status is FileStatus.WAITING),
        *(place for place, file in files if _is_waiting(file)),
    }


def claim_upload(place: str, etag: str) -> bool:
    """Claim a waiting picture or file for an upload; return False if another has claimed it."""
    now = clock.unix()
    claim = {"etag": etag, "claimedUntil": now + _CLAIM_SECONDS}

    def add_claim(commit: Commit, file: Fields) -> Fields:
        """Return the file with the claim, unless it has one for another upload."""
        is_free = file.get("etag", etag) == etag or file.get("claimedUntil", 0) <= now
        return {**file, **claim} if is_free else file

    if not objects.is_picture(place):
        claimed = _change_waiting(place, add_claim)
        return claimed is not None and claimed["etag"] == etag
    own = Attr("etag").not_exists() | Attr("etag").eq(etag)
    is_free = own | Attr("claimedUntil").lte(now)
    return table.update_if(_picture_key(place), _WAITS & is_free, assign=claim)


# --- Files of orders ------------------------------------------------------------------------------


def _files_key(order_id: str) -> Key:
    return f"files#{order_id}", "files"


def place_of(file: Fields) -> str:
    """Return the place of a file's upload and objects in S3."""
    return f"{file['orderId']}/{file['id']}"


def load_files(order_id: str) -> Files:
    """Return the files of an order by id, oldest first; not what has expired."""
    return _drop_expired(_read_item(order_id))


def has_files(order_id: str) -> bool:
    """Tell whether an order has files, or had one that expired."""
    return _read_item(order_id) is not None


def _read_item(order_id: str) -> Item | None:
    """Return the item with the files of an order; None for none, or for what is no order's id."""
    return table.get(_files_key(order_id)) if ids.may_be("ord", order_id) else None


def find_files(places: Iterable[str]) -> Files:
    """Return those of the files at these places that exist, by place."""
    wanted = {place for place in places if ids.may_be("ord", place)}
    orders = sorted({place.partition("/")[0] for place in wanted})
    items = table.batch_get(map(_files_key, orders)) if orders else {}
    files = (file for item in items.values() for file in _drop_expired(item).values())
    return {place: file for file in files if (place := place_of(file)) in wanted}


def _drop_expired(item: Item | None) -> Files:
    """Return the files of an order that have not expired, by id, oldest first; {} for no item."""
    now, files = clock.unix(), item["files"] if item else {}
    return {id: file for id, file in sorted(files.items()) if not _has_expired(file, now)}


def _is_waiting(file: Fields) -> bool:
    return bool(file["status"] == FileStatus.WAITING)


def _without_waiting(file: Fields) -> Fields:
    """Return a file without the attributes of `_OF_WAITING`."""
    return {name: value for name, value in file.items() if name not in _OF_WAITING}


def show_file(file: Fields) -> dict[str, object]:
    """Return the shape of ShownFile, with new addresses if it is READY."""
    shown = _without_waiting(file)
    if _is_waiting(file):
        return {**shown, "urls": None, "expiresAt": None}
    is_image = file["kind"] == FileKind.IMAGE
    urls = objects.file_urls(place_of(file), file["name"], is_image=is_image)
    return {**shown, "urls": urls, "expiresAt": clock.iso(clock.seconds_from_now(FILE_URL_SECONDS))}


def show_upload(file: Fields) -> dict[str, object]:
    """Return the shape of FileUpload: the file, and a form that uploads it."""
    form = objects.upload_form(place_of(file), int(file["bytes"]))
    return {**show_file(file), "upload": form}


def rewrite_files(order_id: str, revise: Callable[[Commit, Files], T]) -> T:
    """Change the files of an order; return what `revise` returns.

    `revise`: replaces, adds or removes files of those that it is given, and may add to the commit;
    it is called again after a concurrent change. If it changes none, nothing is written. Raises
    Busy.
    """
    pk, sk = _files_key(order_id)
    for _ in deadline.attempts():
        commit, item = Commit(), table.get((pk, sk))
        known = _drop_expired(item)
        files = dict(known)
        done = revise(commit, files)
        if files == known:
            return done
        version = int(item["version"]) if item else 0
        commit.put(
            {"pk": pk, "sk": sk, "version": version + 1, "files": files},
            when=Attr("version").eq(version) if item else table.absent,
        )
        if commit.try_send():
            return done
    raise Busy


def put_file(files: Files, file: Fields) -> None:
    """Put a file among those of its order, or replace it. Raises Invalid if they grow too large."""
    before = _count_bytes(files)
    files[file["id"]] = file
    if _count_bytes(files) > max(LARGEST_METADATA, before):
        message = "The names and notes of this order's files are too long together."
        raise Invalid(message, code="too_large")


def _count_bytes(files: Files) -> int:
    return len(encode(files).encode())


def finish_file(place: str, **found: object) -> bool:
    """Make a waiting file READY; return whether it waited. `found`: what it is. Emit file.ready."""

    def make_ready(commit: Commit, file: Fields) -> Fields:
        """Return the file that is READY, and announce it."""
        ready = {**file, **found, "status": FileStatus.READY.value}
        commit.announce("file.ready", pick_members(ready, AnnouncedFile))
        return _without_waiting(ready)

    return _change_waiting(place, make_ready) is not None


def _change_waiting(place: str, change: Callable[[Commit, Fields], Fields]) -> Fields | None:
    """Write what `change` returns of a waiting file, and return it; None: it does not wait."""
    order_id, _, file_id = place.partition("/")

    def change_file(commit: Commit, files: Files) -> Fields | None:
        """Replace the file among those of its order; return the new one."""
        file = files.get(file_id)
        if file is None or not _is_waiting(file):
            return None
        files[file_id] = change(commit, file)
        return files[file_id]

    return rewrite_files(order_id, change_file)


def delete_with_order(commit: Commit, order_id: str) -> None:
    """Add the end of an order's files to the commit that deletes it; their objects follow."""
    commit.delete(_files_key(order_id))


def delete_files(order_id: str) -> int:
    """Delete all files of an order; return how many they were.

    Their objects go first, so that a repeat finds them, and again at last: what was rendered
    meanwhile.
    """
    item = table.get(_files_key(order_id))
    if item is None:
        return 0
    objects.delete_files(order_id)
    table.delete(_files_key(order_id))
    objects.delete_files(order_id)
    return len(item["files"])


def redact_files(order_id: str, redact: Callable[[object], Any]) -> None:
    """Replace names and notes of an order's files by what `redact` returns of them."""

    def redact_texts(commit: Commit, files: Files) -> None:
        """Replace the files by those with the new texts."""
        for id, file in files.items():
            files[id] = {**file, **{name: redact(file[name]) for name in ("name", "note")}}

    rewrite_files(order_id, redact_texts)


def sample_event_data(event: str) -> dict[str, object]:
    """Return the `data` of an event about an invented file, for test events."""
    found = {"kind": FileKind.IMAGE.value, "contentType": "image/jpeg", "width": 4032}
    names = {"id": "fil", "orderId": "ord", "customerId": "cus", "lineItemId": "li"}
    invented = {name: ids.new_id(prefix) for name, prefix in names.items()}
    file = {**invented, **found, "orderNumber": "1001", "bytes": 1_834_021, "height": 3024}
    return pick_members(file, AnnouncedFile)
