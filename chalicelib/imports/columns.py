"""What the columns of a file are: chosen by somebody, recognised, or asked about."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from chalicelib.imports import mappings
from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.formats import FIELDS, Format, Mapped, by_name, fitted, read_as, recognise
from chalicelib.imports.formats.mapped import faults
from chalicelib.imports.formats.proposal import propose
from chalicelib.imports.formats.sheet import plain
from chalicelib.imports.model import Job, Options, UnknownColumns

_SAMPLE_BYTES: Final = 60_000  # of all samples: they are kept in an item of the table


def chosen(header: Sequence[str], options: Options, line: int) -> Format | None:
    """How the file is read; None if somebody has to be asked. Raises FileRejected."""
    asks = options.on_unknown_columns is UnknownColumns.ASK
    if options.mapping is not None:
        wrong = faults(header, options.mapping)
        if not wrong:
            return Mapped(header, options.mapping)
        if asks:
            return None
        raise FileRejected("mapping_does_not_fit", wrong[0].message, line)
    known = by_name(options.format) if options.format else recognise(header)
    if known is not None:
        return fitted(known, header, line)
    return None if asks else read_as(header, line)


def of_job(job: Job) -> Format:
    """How the file of a job that runs is read."""
    header, name = job.format.header, str(job.fields["dialect"])
    if name == Mapped.name:
        return Mapped(header, job.options.mapping or {})
    known = by_name(name)
    return known(header) if known else read_as(header)


def shown(
    header: Sequence[str], samples: Sequence[Sequence[str]], format: Format | None, options: Options
) -> dict[str, Any]:
    """The columns with samples, and what they are read as; or, without a format, proposed as: what
    was sent along, else what was saved for this header, else what their names and values say."""
    proposed = propose(header, samples)
    saved = None
    fields: Mapping[str, str | None] = {each.column: each.field for each in proposed}
    if format is not None and format.name != Mapped.name:
        read = {header[at] for at in format.sheet.read}
        fields = {name: _field(format, name) if name in read else None for name in header}
    elif options.mapping is not None:
        given = {plain(column): field for column, field in options.mapping.items()}
        fields = {name: given.get(plain(name), fields[name]) for name in header}
        if format is not None:
            fields = {name: given.get(plain(name)) for name in header}
    else:
        saved = mappings.fitting(header)
        if saved is not None:
            given = {plain(column): field for column, field in saved["columns"].items()}
            fields = {name: given.get(plain(name)) for name in header}
    longest = max(8, _SAMPLE_BYTES // (12 * max(len(header), 1)))
    return {
        "columns": [
            {
                "column": each.column,
                "samples": [sample[:longest] for sample in each.samples],
                "field": fields[each.column],
                "ignored": fields[each.column] is None,
            }
            for each in proposed
        ],
        "savedMapping": saved["name"] if saved else None,
    }


def _field(format: Format, column: str) -> str | None:
    """In the words of a mapping, where it has one for what the format reads."""
    field = type(format).field(column)
    return "imageUrl" if field == "image" and "imageUrl" in FIELDS else field
