"""What an erasure leaves of the requests and the names of jobs.

Their files, reports, errors and samples are not rewritten: they end within 30 days.
"""

import json
from typing import Final

from chalicelib.imports.model import has_ended
from chalicelib.jobs.model import Job, JobStatus, JobType
from chalicelib.storage.attributes import Item
from chalicelib.values.forgetting import Person

NO_MAPPING: Final = "A customer was erased while the job waited for a mapping. Upload it again."
_NO_QUOTE: Final = "A customer was erased, and with it what this message quoted of the file."
_NAMING: Final = frozenset({JobType.BULK_EDIT, JobType.EXPORT, JobType.PRODUCT_IMPORT})
# What no worker needs: it may change while the job runs.
_LABELS: Final = ("fileName", "ignoredColumns", "missedColumns", "doubt")
# The parts of a request that never name a person.
_NO_TEXT: Final = frozenset({"type", "format", "columns", "kind", "ids"})
_JSON: Final = frozenset({"asked", "preview", "cursor"})
_TEXTS: Final = ("asked", "preview", "cursor", "sheet", "location")


def is_waiting(job: Job, before: str) -> bool:
    """Say whether it is an import of before that time, and waits for a mapping of its file."""
    return job.status is JobStatus.NEEDS_MAPPING and str(job.fields["createdAt"]) < before


def redact_job(job: Job, person: Person) -> dict[str, object]:
    """Return the attributes of a job that change now because the person is erased."""
    if job.type not in _NAMING:
        return {}
    changes = _redact_labels(job, person)
    return changes | _redact_request(job, person) if has_ended(job) else changes


def is_needed(job: Job, person: Person) -> bool:
    """Say whether the job is at work and its request names the person: it has to end first."""
    return job.type in _NAMING and not has_ended(job) and bool(_redact_request(job, person))


def _redact_labels(job: Job, person: Person) -> dict[str, object]:
    left = {name: person.redact(job.fields[name]) for name in _LABELS if name in job.fields}
    return {name: value for name, value in left.items() if value != job.fields[name]}


def _redact_request(job: Job, person: Person) -> dict[str, object]:
    """Return what changes of the request, and of what the job kept of its file."""
    fields: Item = {
        name: json.loads(value) if name in _JSON else value for name, value in job.fields.items()
    }
    left: Item = {name: person.redact(fields.get(name)) for name in _TEXTS}
    if request := fields.get("asked"):
        left["asked"] |= {part: request[part] for part in _NO_TEXT & request.keys()}
    left["mapping"] = {
        person.redact(column): to for column, to in (fields.get("mapping") or {}).items()
    }
    if header := fields.get("format", {}).get("header"):
        left["format"] = {**fields["format"], "header": person.redact(header)}
    if error := fields.get("error"):
        # What it quotes of the file may be in a wrong encoding.
        quotes = error.get("row") is not None
        left["error"] = {**error, "message": _NO_QUOTE} if quotes else person.redact(error)
    changed = {name: value for name, value in left.items() if value and value != fields[name]}
    return {
        name: json.dumps(value, ensure_ascii=False) if name in _JSON else value
        for name, value in changed.items()
    }
