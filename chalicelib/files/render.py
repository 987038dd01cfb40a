"""The worker that renders uploads, and the sweep of those whose event was lost.

It may stop at any line, run twice or late, or run at the same time as another: the objects that it
writes to S3 belong to one picture or file, whose record, which becomes READY once, makes them seen.
"""

import json
from contextlib import suppress
from datetime import timedelta
from typing import Final

from typing_extensions import TypedDict

from chalicelib import telemetry
from chalicelib.files import objects, store
from chalicelib.files.model import FILE_SIZES, LARGEST_PICTURE, FileKind
from chalicelib.sqs import Handled, Received, handle_each
from chalicelib.values import clock
from chalicelib.values.batches import batches

_LOST: Final = timedelta(minutes=10)  # an upload that waits longer has lost its event
_AT_ONCE: Final = 100  # records read together


class RenderEvent(TypedDict, total=False):
    """What the function gets: messages with events of S3, or each hour `{"sweep": "uploads"}`."""

    Records: list[Received]
    sweep: str


def render_uploads(event: RenderEvent) -> Handled:
    """Render the uploads of some events of S3; return those that failed, which come again."""
    if "sweep" in event:
        sweep_uploads()
    return handle_each(event.get("Records", ()), _render_upload, "file not rendered")


def _render_upload(message: str) -> None:
    """Render the object of an event of S3, if a picture or a file of an order waits for it."""
    place = objects.place_of_key(json.loads(message)["detail"]["object"]["key"])
    if not store.find_waiting([place]):
        return  # deleted, expired, or a form that was used twice
    try:
        data, etag = objects.read_upload(place)
        if store.claim_upload(place, etag):
            (_render_picture if objects.is_picture(place) else _keep_file)(place, data)
    except objects.UploadGone:
        telemetry.warning("upload is gone", upload=place)


def _render_picture(picture_id: str, data: bytes) -> None:
    from chalicelib.files import images  # only here: Pillow takes a tenth of a second

    try:
        rendered = images.render_picture(data)
    except images.NoPicture as refused:
        store.fail_picture(picture_id, refused.error)
        telemetry.info("picture refused", pictureId=picture_id, code=refused.error)
        return
    objects.publish_picture(picture_id, data, rendered.renditions)
    kind, width, height, _ = rendered
    if store.finish_picture(picture_id, contentType=kind, width=width, height=height):
        telemetry.info("picture rendered", pictureId=picture_id, bytes=len(data))
    elif not store.load_pictures([picture_id]):
        objects.delete_picture_files(picture_id)  # it was deleted meanwhile


def _keep_file(place: str, data: bytes) -> None:
    """Keep a file of an order. What is no picture that can be shown is a FILE."""
    from chalicelib.files import images

    renditions: dict[str, bytes] = {}
    found: dict[str, object] = {"kind": FileKind.FILE.value}
    if len(data) <= LARGEST_PICTURE:
        with suppress(images.NoPicture):
            kind, width, height, renditions = images.render_picture(data, FILE_SIZES)
            found = {"kind": FileKind.IMAGE.value, "contentType": kind}
            found |= {"width": width, "height": height}
    objects.store_file(place, data, renditions)
    if store.finish_file(place, **found):
        telemetry.info("file kept", upload=place, bytes=len(data), kind=found["kind"])
    elif not store.find_files([place]):
        objects.delete_files(place)  # it was deleted meanwhile


def sweep_uploads() -> None:
    """Let S3 send its event again for each upload that a picture or a file still waits for."""
    for some in batches(objects.list_uploads(clock.now() - _LOST), _AT_ONCE):
        for place in sorted(store.find_waiting(some)):
            objects.repeat_upload(place)
            telemetry.warning("upload swept", upload=place)
