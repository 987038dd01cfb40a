"""An import job as the API shows it, whole."""

from typing import Any

from chalicelib import clock
from chalicelib.imports import files, store
from chalicelib.imports.model import ImportJob, show_whole


def whole(job: ImportJob) -> dict[str, Any]:
    """The shape of ShownJob."""
    shown: dict[str, Any] = store.columns(job.id)
    if job.failed:
        shown["errors"] = store.errors(job.id)
    if job.is_dry_run and (job.created or job.updated):
        shown["preview"] = store.previews_of(job.id)
    if job.has_report and not job.is_erased:
        shown["errorReportUrl"] = files.report_url(job.id, str(job.fields["fileName"]))
    return show_whole(job, clock.now(), **shown)
