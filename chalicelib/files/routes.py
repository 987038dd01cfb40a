"""Pictures over HTTP."""

from chalice.app import Response

from chalicelib.files import objects, store
from chalicelib.files.model import NewPicture, PictureUpload, ShownPicture, show_picture
from chalicelib.request import IDEMPOTENT, Role, Routes, body_once, caller, reply
from chalicelib.schemas import Deleted

routes = Routes(__name__, "Pictures")


@routes.post(
    "/api/admin/pictures",
    "Upload a picture",
    role=Role.STAFF,
    body=NewPicture,
    answers={201: PictureUpload},
    headers=IDEMPOTENT,
)
def create_picture() -> Response:
    """Post a form to `upload.url` within the hour: all `upload.fields`, then `file`. Seconds later
    the picture is READY or FAILED, and READY for ever. A retry with the same Idempotency-Key
    returns the same picture with a new form.
    """
    new, repeatable = body_once(NewPicture)
    id = repeatable.begin_or_resume().id("pic", 0) if repeatable else None
    picture = store.create_picture(new, caller().name, id)
    return reply(
        201, {**show_picture(picture), "upload": objects.upload_form(picture.id, new.bytes)}
    )


@routes.get(
    "/api/admin/pictures/{id}",
    "Get a picture",
    role=Role.READER,
    answers={200: ShownPicture},
)
def get_picture(id: str) -> Response:
    """One that is not READY within a day after its upload was asked for is deleted."""
    return reply(200, show_picture(store.get_picture(id)))


@routes.delete(
    "/api/admin/pictures/{id}",
    "Delete a picture",
    role=Role.ADMIN,
    answers={200: Deleted},
)
def delete_picture(id: str) -> Response:
    """Takes it off the web at once, such as after a claim. Products keep its dead address."""
    picture = store.get_picture(id)
    objects.delete_picture_files(id)
    store.delete_picture(picture)
    store.discard_objects(id)  # what was rendered meanwhile
    return reply(200, {"id": id, "deleted": True})
