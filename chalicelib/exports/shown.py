"""Where a finished export can be downloaded."""

from chalicelib.exports import files
from chalicelib.jobs.model import Job


def download_url(job: Job) -> str:
    """An address of the file, valid for an hour without a key."""
    return files.url(job)
