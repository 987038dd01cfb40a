"""The columns of a file: chosen by the user, recognised, or asked for."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from chalicelib import settings
from chalicelib.imports import mappings
from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.rows import FileFormat
from chalicelib.imports.formats import Format, Mapped, Shop, by_name, fitted, read_as, recognise
from chalicelib.imports.formats.mapped import changed, faults, field_of, fields_of
from chalicelib.imports.formats.proposal import propose, samples_of
from chalicelib.imports.formats.sheet import plain
from chalicelib.imports.model import ImportJob, Options, UnknownColumnsMode
from chalicelib.values import timezone

_SAMPLE_BYTES: Final = 60_000  # of all samples: they are kept in an item of the table


def chosen(form: FileFormat, options: Options) -> Format | None:
    """How the file is read; None if the user must be asked. Raises FileRejected."""
    header, line = form.header, form.header_row
    asks = options.on_unknown_columns is UnknownColumnsMode.ASK
    known = by_name(options.format) if options.format else None
    if options.mapping is not None:
        wrong = faults(header, options.mapping, known)
        if not wrong and known:  # some of its columns are read otherwise
            return changed(known, header, options.mapping)
        if not wrong:
            return Mapped(header, options.mapping)
        if asks:
            return None
        raise FileRejected("mapping_does_not_fit", wrong[0].message, line)
    known = known if options.format else recognise(header)
    if known is not None:
        return fitted(known, header, line)
    return None if asks else read_as(header, line)


def is_data(header: Sequence[str]) -> bool:
    """Whether a header looks like a row: it has a number or an address, and no name that is
    known."""
    is_value = any(re.fullmatch(r"\W*\d[\d.,' ]*\W*|https?://\S+", name) for name in header)
    return is_value and not any(propose(header, []))


def of_job(job: ImportJob) -> Format:
    """How the file of a running job is read."""
    named = job.options.format or str(job.fields["dialect"])
    found = chosen(job.format, replace(job.options, format=named))
    assert found is not None  # it was, before the job began
    return found


def shop_of(job: ImportJob) -> Shop:
    """What reading a cell needs from the shop."""
    return Shop(settings.currency(), timezone.today(), job.options.location)


def shown(
    header: Sequence[str],
    samples: Sequence[Sequence[str]],
    file_format: Format | None,
    options: Options,
) -> dict[str, object]:
    """The columns with samples, and the fields that they are read as; without a format, proposed
    fields: from the request, else from a mapping saved for this header, else from names and
    values."""
    given: Mapping[str, str | None] = options.mapping or {}
    is_open = file_format is None and options.mapping is None
    saved = mappings.fitting(header) if is_open else None
    like = file_format
    if saved:
        known = by_name(saved["format"] or "")
        if known and not any(saved["columns"].values()):  # as the format has them
            like = known(header)
        else:
            given = {**dict.fromkeys(header), **saved["columns"]}
    usual = [field_of(like, at) for at in range(len(header))] if like else propose(header, samples)
    meant = {plain(column): field for column, field in given.items()}
    fields = {
        name: meant.get(plain(name), usual[at]) for at, name in reversed([*enumerate(header)])
    }
    longest = max(8, _SAMPLE_BYTES // (12 * max(len(header), 1)))
    return {
        "columns": [
            {
                "column": name,
                "samples": [sample[:longest] for sample in samples_of(at, samples)],
                "field": fields[name],
                "ignored": fields[name] is None,
            }
            for at, name in enumerate(header)
            if name or samples_of(at, samples)
        ],
        "savedMapping": saved["name"] if saved else None,
        "fields": fields_of(type(file_format) if file_format else Mapped),
    }
