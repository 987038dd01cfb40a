"""The weekly look for pictures that no product shows. After 90 days they are deleted.

So is, at once, what a crash left in S3 of files of orders that were deleted.

The write of a product counts no references. A picture that it begins to show is marked as used
before (`files/store.py`); one that it no longer shows is found here. Until that is deleted, an undo
may show it again.
"""

from datetime import timedelta
from functools import partial
from typing import Final

from chalicelib import listing, telemetry
from chalicelib.files import store as files
from chalicelib.files.model import FileStatus, Picture
from chalicelib.products import store as products
from chalicelib.schemas import LARGEST_PAGE
from chalicelib.values import clock
from chalicelib.values.batches import batches

UNUSED: Final = timedelta(days=90)  # until a picture that no product shows is deleted
_AT_ONCE: Final = 100  # records read together


def delete_unused() -> None:
    """Note which pictures no product shows, and delete those that were unused for 90 days.

    What an interrupted deletion or upload left of a picture is deleted, too.
    """
    now, used, deleted = clock.now(), _find_used(), 0
    for some in batches(files.list_stored(), _AT_ONCE):
        found = files.load_pictures(some)
        for id in some:
            picture = found.get(id)
            if picture is None or _has_gone(picture, id in used):
                files.delete_picture_files(id)
                deleted += 1
    lost = _delete_lost_files()
    took = (clock.now() - now).total_seconds()
    telemetry.info(
        "unused pictures deleted", deleted=deleted, used=len(used), lostFiles=lost, seconds=took
    )


def _delete_lost_files() -> int:
    """Delete what is stored of files that no order has; return how many they were."""
    deleted = 0
    for some in batches(files.list_stored_files(), _AT_ONCE):
        for place in sorted({*some} - files.find_files(some).keys()):
            files.delete_objects(place)
            deleted += 1
    return deleted


def _find_used() -> set[str]:
    """Return the ids of all pictures that a product shows."""
    read = partial(products.page, fields=["images"])
    pages = listing.walk_pages(read, listing.Query(limit=LARGEST_PAGE, cursor="*"))
    return {id for page in pages for product in page.records for id in product.picture_fields}


def _has_gone(picture: Picture, is_used: bool) -> bool:
    """Note whether a picture is used; return whether its record was deleted."""
    if picture.status is not FileStatus.READY:
        return False
    since = picture.unused_since
    if is_used and since:
        files.mark_used(picture.id)
    elif not is_used and since is None:
        files.mark_unused(picture, clock.now())
    elif not is_used and since and clock.parse(since) + UNUSED <= clock.now():
        return files.delete_unused(picture)
    return False
