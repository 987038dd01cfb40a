"""Where a finished export can be downloaded."""

from chalicelib.exports import files
from chalicelib.jobs.model import Job


def download_url(job: Job) -> str:
    """An address that answers the file for an hour, to whoever has it."""
    return files.url(job)
