"""Import jobs in the table, and how far each has come.

| item | pk | sk |
|---|---|---|
| job | `job_…` | `job` |
| columns of its file | `job_…` | `columns` |
| row error | `job_…` | `error#<line>#<n>` |
| product of a dry run that changes | `job_…` | `preview#<line>` |
| finished chunk | `job_…` | `chunk#<n>`, `ordered#<n>`, `swept#<first>` |
| what a chunk left for later | `job_…` | `deferred#<n>` |
| rows of a product that is not complete | `job_…` | `waiting#<product>#<line>` |
| product of a rehearsal | `job_…` | `would#<slug>`; `would#sku <SKU>#<slug>` |

A chunk counts in the one transaction that also says it is finished, so it counts once, whoever runs
twice. All items but the job leave with its files.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from chalicelib import clock, ids, listing, table
from chalicelib.attributes import Item, Key
from chalicelib.commit import Commit
from chalicelib.conditions import Attr
from chalicelib.imports.csv.faults import FileRejected, RowError
from chalicelib.imports.csv.records import Format
from chalicelib.imports.model import INLINE_ERRORS, Job, Options, Outcome
from chalicelib.jobs.model import KIND, OPEN, Status, index_of
from chalicelib.problems import NotFound

if TYPE_CHECKING:
    from chalicelib.imports.formats import Dialect

_KEPT_SECONDS: Final = 30 * 86_400  # as long as resources.yaml keeps the files
_PARTS: Final = 1_000  # chunks that are looked at in one query
_MOST_ERRORS: Final = 100  # of one chunk; the report has all
MOST_PREVIEWS: Final = 50
_NAMES: Final = ("slug", "sku", "name")

Counts = Mapping[Outcome, int]

_open = Attr("status").is_in(sorted(OPEN))
_waiting = Attr("status").is_in([Status.QUEUED, Status.NEEDS_MAPPING])
_running = Attr("status").eq(Status.RUNNING)


def _key(job_id: str) -> Key:
    return job_id, "job"


def expires() -> int:
    return clock.unix() + _KEPT_SECONDS


# --- The job --------------------------------------------------------------------------------------


def create(
    file_name: str,
    options: Options,
    upload_seconds: int,
    source: Mapping[str, Any] | None = None,
    id: str | None = None,
) -> Job:
    """A job that waits for its file. `source`: `sourceJobId` and `retried`, where another job's
    file is imported again. `id`: of a request that may be repeated; the job that has it already is
    the answer."""
    fields: dict[str, Any] = {
        "id": id or ids.new("job"),
        "type": "product_import",
        "fileName": file_name,
        "status": Status.QUEUED,
        **options.stored(),
        **(source or {}),
        "createdAt": clock.iso(clock.now()),
        "uploadBy": clock.iso(clock.after(upload_seconds)),
        **dict.fromkeys(("processed", "done", *Outcome), 0),
    }
    commit = Commit()
    index = listing.change(commit, KIND, fields["id"], None, index_of(fields))
    assert index is not None
    job = Job({**fields, "index": index.stored()})
    commit.put({"pk": job.id, "sk": "job", **job.fields}, when=table.absent)
    try:
        commit.send()
    except table.ConditionFailed:
        return get(job.id)
    return job


def load(job_ids: Iterable[str]) -> list[Job]:
    """The jobs that exist of these, in their order."""
    wanted = list(job_ids)
    items = table.batch_get(map(_key, wanted))
    return [Job(items[_key(id)]) for id in wanted if _key(id) in items]


def find(job_id: str) -> Job | None:
    found = load([job_id]) if job_id.startswith("job_") and len(job_id) < 100 else []
    return found[0] if found else None


def get(job_id: str) -> Job:
    """Raises NotFound."""
    job = find(job_id)
    if job is None:
        raise NotFound.of("job", job_id)
    return job


def begin(
    job_id: str, etag: str, *, form: Format, dialect: "Dialect", met_products: bool
) -> Job | None:
    """The job, running on this file; None when it is not to run, or runs on another file already.

    A planner that comes again gets the job as the first one left it.
    """
    started = {
        "status": Status.RUNNING,
        "etag": etag,
        "format": form.as_dict(),
        "dialect": dialect.name,
        "ignoredColumns": [name[:200] for name in dialect.ignored[:200]],
        "missedColumns": [name[:200] for name in dialect.missed[:50]],
        "metProducts": met_products,
        "startedAt": clock.iso(clock.now()),
    }
    try:
        return Job(table.update(_key(job_id), set=started, when=_waiting))
    except table.ConditionFailed as failed:
        job = Job(failed.old) if failed.old else None
        is_same = job and job.status is Status.RUNNING and job.etag == etag
        return job if is_same else None


def ask(job_id: str, form: Format) -> bool:
    """The job waits for somebody who says what its columns are."""
    asked = {
        "status": Status.NEEDS_MAPPING,
        "format": form.as_dict(),
        "askedAt": clock.iso(clock.now()),
    }
    return _update_if(job_id, _waiting, set=asked)


def answer(job_id: str, options: Options, seconds: int) -> Job | None:
    """Somebody has said it: the job waits for its file to be read again. None where it does not
    wait for an answer, or not any more."""
    chosen = {name: options.stored()[name] for name in ("mapping", "chosenFormat")}
    upload_by = clock.iso(clock.after(seconds))
    changed = {"status": Status.QUEUED, "uploadBy": upload_by, **chosen}
    asked = _waiting & Attr("askedAt").exists()
    try:
        return Job(table.update(_key(job_id), set=changed, when=asked))
    except table.ConditionFailed:
        return None


def put_columns(job_id: str, shown: Mapping[str, Any]) -> None:
    """What `columns.shown` answers."""
    table.put({"pk": job_id, "sk": "columns", **shown, "expiresAt": expires()})


def columns(job_id: str) -> dict[str, Any]:
    item = table.get((job_id, "columns")) or {}
    return {name: item[name] for name in ("columns", "savedMapping") if name in item}


def planned(job_id: str, chunks: int, total: int, *, repeats: bool) -> None:
    """The whole file was read: so many chunks with so many products; `repeats`: some of which may
    stand at several places."""
    _update_if(job_id, _running, set={"chunks": chunks, "total": total, "repeats": repeats})


def fail(job_id: str, code: str, message: str, row: int | None = None) -> None:
    """Ends the job unless it has ended."""
    _end(job_id, Status.FAILED, {"error": {"code": code, "message": message, "row": row}})


def reject(job_id: str, why: FileRejected) -> None:
    fail(job_id, why.code, why.message, why.row)


def complete(job_id: str) -> None:
    _end(job_id, Status.COMPLETED, {})


def has_report(job_id: str) -> None:
    _update_if(job_id, table.present, set={"report": True})


def _end(job_id: str, status: Status, fields: Mapping[str, Any]) -> bool:
    ended = {"status": status, "completedAt": clock.iso(clock.now()), **fields}
    return _update_if(job_id, _open, set=ended)


def _update_if(job_id: str, when: Any, **change: Any) -> bool:
    try:
        table.update(_key(job_id), when=when, **change)
    except table.ConditionFailed:
        return False
    return True


# --- Chunks ---------------------------------------------------------------------------------------


def standing(job_id: str, chunk: str) -> tuple[Job | None, bool]:
    """The job, and whether this chunk of it is finished."""
    items = table.batch_get([_key(job_id), (job_id, chunk)])
    job = items.get(_key(job_id))
    return (Job(job) if job else None), (job_id, chunk) in items


def finish(
    job_id: str,
    chunk: str,
    counts: Counts,
    *,
    has_part: bool = False,
    deferred: Mapping[str, Any] | None = None,
    settled: Iterable[Key] = (),
) -> bool:
    """Counts what a chunk did and says that it is finished, once: False when it was already.

    `deferred`: what is left for when all chunks are done. `settled`: at most 90 waiting rows
    that are counted here.
    """
    pk, number = job_id, chunk.partition("#")[2]
    commit = Commit()
    item = {"pk": pk, "sk": chunk, "part": has_part, "expiresAt": expires()}
    commit.put(item, when=table.absent)
    for key in settled:
        commit.delete(key, when=table.present)
    if deferred:
        commit.put({"pk": pk, "sk": f"deferred#{number}", **deferred, "expiresAt": expires()})
    # Whatever became of the job meanwhile: what was done is counted.
    count(commit, job_id, counts, chunks_done=1 if chunk.startswith("chunk#") else 0)
    try:
        commit.send()
    except table.ConditionFailed:
        return False
    return True


def count(commit: Commit, job_id: str, counts: Counts, chunks_done: int = 0) -> None:
    """Adds to the numbers of a job."""
    added = {str(name): n for name, n in counts.items() if n}
    added["processed"] = sum(counts.values())
    if chunks_done:
        added["done"] = chunks_done
    commit.update(_key(job_id), add=added, when=table.present)


def next_deferred(job_id: str, after: str = "") -> Item | None:
    """What the first chunk behind `after` (its number) left for later."""
    first = f"deferred#{after}~" if after else "deferred#"
    rows = table.query(job_id, where=table.sk.between(first, "deferred#~"), limit=1)
    return rows.items[0] if rows.items else None


def deferred(job_id: str, number: str) -> Item | None:
    return table.get((job_id, f"deferred#{number}"))


def follow(job_id: str, number: str = "") -> None:
    """Notes that the step behind this one, or behind all chunks, was begun."""
    table.update(_followed_key(job_id, number), set={"followed": True}, when=table.present)


def was_followed(job_id: str, number: str = "") -> bool:
    item = table.get(_followed_key(job_id, number))
    return item is not None and "followed" in item


def _followed_key(job_id: str, number: str) -> Key:
    return (job_id, f"deferred#{number}") if number else _key(job_id)


def parts(job_id: str, step: str, after: str | None = None) -> tuple[list[str], str | None]:
    """Chunks of a step that left a part of the report, and where to go on, None at the end."""
    rows = table.query(
        job_id,
        where=table.sk.begins_with(f"{step}#"),
        filter=Attr("part").eq(True),
        fields=("sk",),
        after=after,
        limit=_PARTS,
    )
    return [item["sk"] for item in rows.items], rows.after


# --- Row errors -----------------------------------------------------------------------------------


def put_errors(job_id: str, errors: Iterable[tuple[RowError, Mapping[str, str | None]]]) -> None:
    """Keeps the first 100, each with the product as its rows name it (`_NAMES`). Putting them again
    changes nothing."""
    first = sorted(errors, key=lambda one: one[0])[:_MOST_ERRORS]
    items = [
        {
            "pk": job_id,
            "sk": f"error#{error.row:09d}#{number:03d}",
            **error._asdict(),
            **{name: (text := product.get(name)) and text[:200] for name in _NAMES},
            "field": error.field[:200],
            "expiresAt": expires(),
        }
        for _, of_row in groupby(first, key=lambda one: one[0].row)
        for number, (error, product) in enumerate(of_row)
    ]
    table.batch_write(items)


def errors(job_id: str) -> list[dict[str, Any]]:
    """The first errors of a job, in the shape of ShownRowError."""
    begins = table.sk.begins_with("error#")
    rows = table.query(job_id, where=begins, limit=INLINE_ERRORS)
    names = (*RowError._fields, *_NAMES)
    return [{name: item.get(name) for name in names} for item in rows.items]


# --- What a dry run shows -------------------------------------------------------------------------


def put_previews(job_id: str, previews: Sequence[Mapping[str, Any]]) -> None:
    """Keeps those of the first 50 rows, as far as is known by now. Again is no harm."""
    if not previews:
        return
    known = [int(preview["row"]) for preview in previews_of(job_id)]
    last = known[-1] if len(known) == MOST_PREVIEWS else 1 << 40
    rows = [one for one in sorted(previews, key=_row)[:MOST_PREVIEWS] if one["row"] < last]
    table.batch_write(
        {"pk": job_id, "sk": f"preview#{_row(one):09d}", "preview": one, "expiresAt": expires()}
        for one in rows
    )


def previews_of(job_id: str) -> list[dict[str, Any]]:
    """In the shape of Preview."""
    begins = table.sk.begins_with("preview#")
    rows = table.query(job_id, where=begins, limit=MOST_PREVIEWS)
    return [item["preview"] for item in rows.items]


def _row(preview: Mapping[str, Any]) -> int:
    return int(preview["row"])


# --- Products of a rehearsal ----------------------------------------------------------------------


def would_be(job_id: str, slugs: Iterable[str]) -> dict[str, Item]:
    """What the products of these slugs would be by now, as they were put."""
    keys = {_would_key(job_id, slug): slug for slug in slugs}
    found = table.batch_get(keys)
    return {keys[key]: item["product"] for key, item in found.items()}


def would_have(job_id: str, skus: Sequence[str]) -> dict[str, set[str]]:
    """The slugs of the products that would have each of these SKUs, or would have had it once."""
    begins = [table.sk.begins_with(_would_key(job_id, f"sku {sku}")[1] + "#") for sku in skus]
    found = table.together([partial(table.everything, job_id, where=each) for each in begins])
    return {sku: {str(i["slug"]) for i in items} for sku, items in zip(skus, found, strict=True)}


def would_put(job_id: str, slug: str, skus: Iterable[str], product: Mapping[str, Any]) -> Commit:
    commit = Commit()
    pk, sk = _would_key(job_id, slug)
    commit.put({"pk": pk, "sk": sk, "product": product, "expiresAt": expires()})
    for sku in skus:
        pk, sk = _would_key(job_id, f"sku {sku}")
        sk = f"{sk}#{ids.key_part(slug)}"
        commit.put({"pk": pk, "sk": sk, "slug": slug, "expiresAt": expires()})
    return commit


def _would_key(job_id: str, name: str) -> Key:
    return job_id, f"would#{ids.key_part(name)}"
