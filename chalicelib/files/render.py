"""The worker that renders uploads, and the sweep of those whose event was lost.

It may stop at any line, run twice or late, or run at the same time as another: the objects that it
writes to S3 belong to one picture, and only its record, which becomes READY once, makes them seen.
"""

import json
from datetime import timedelta
from typing import Final

from typing_extensions import TypedDict

from chalicelib import telemetry
from chalicelib.files import objects, store
from chalicelib.files.model import FileStatus
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
    """Render the object of an event of S3, if a picture waits for it."""
    picture_id = objects.picture_of_key(json.loads(message)["detail"]["object"]["key"])
    picture = store.load_pictures([picture_id]).get(picture_id)
    if picture is None or picture.status is not FileStatus.WAITING:
        return  # deleted, expired, or a form that was used twice
    try:
        data, etag = objects.read_upload(picture_id)
        if store.claim_upload(picture_id, etag):
            _render_picture(picture_id, data)
    except objects.UploadGone:
        telemetry.warning("upload is gone", pictureId=picture_id)


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


def sweep_uploads() -> None:
    """Let S3 send its event again for each upload that a picture still waits for."""
    for some in batches(objects.list_uploads(clock.now() - _LOST), _AT_ONCE):
        for picture in store.load_pictures(some).values():
            if picture.status is FileStatus.WAITING:
                objects.repeat_upload(picture.id)
                telemetry.warning("upload swept", pictureId=picture.id)
