"""An import job as the API shows it, whole."""

from typing import Any

from chalicelib import clock
from chalicelib.imports import files, store
from chalicelib.imports.model import Job, show_whole


def whole(job: Job) -> dict[str, Any]:
    """The shape of ShownJob."""
    errors = store.errors(job.id) if job.failed else []
    url = None
    if "report" in job.fields:
        url = files.report_url(job.id, str(job.fields["fileName"]))
    return show_whole(job, clock.now(), errors, url)
