"""The columns of a file: chosen by the user, recognised, or asked for."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from chalicelib import settings
from chalicelib.imports import mappings
from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.rows import FileFormat
from chalicelib.imports.formats import (
    Format,
    Mapped,
    Shop,
    bind_header,
    by_name,
    find_likely_format,
    read_as,
    recognise,
)
from chalicelib.imports.formats.mapped import (
    faults,
    field_of,
    fields_of,
    find_undecided,
    remap_format,
)
from chalicelib.imports.formats.proposal import propose, samples_of
from chalicelib.imports.formats.sheet import name_columns, plain
from chalicelib.imports.formats.synonyms import find_field
from chalicelib.imports.model import ImportJob, Options, UnknownColumnsMode
from chalicelib.values import timezone

_SAMPLE_BYTES: Final = 60_000  # of all samples: they are kept in an item of the table


def choose_format(form: FileFormat, options: Options) -> Format | None:
    """Return the format that reads a file's columns, bound to its header; None: ask the user.

    It is the mapping or format of the options, or else the format that the header certainly has.
    One that leaves a decisive column unread is not taken. Raises FileRejected if none can be taken
    and the options say that nobody is asked.
    """
    header, line = form.header, form.header_row
    asks = options.on_unknown_columns is UnknownColumnsMode.ASK
    named = by_name(options.format) if options.format else None
    if options.mapping is not None:
        wrong, code = faults(header, options.mapping, named), "mapping_does_not_fit"
    else:
        named = named if options.format else recognise(header)
        if named is None:
            return None if asks else read_as(header, line)
        wrong = find_undecided(bind_header(named, header, line).undecided_columns)
        code = "unknown_columns"
    if not wrong:
        return bind_format(form, options, named)
    if asks:
        return None
    raise FileRejected(code, wrong[0].message, line)


def find_format_to_change(form: FileFormat, options: Options) -> Format | None:
    """Return the format that a question about the columns begins with; None if none is likely.

    None also if the options have a mapping or a format.
    """
    if options.mapping is not None or options.format:
        return None
    likely = find_likely_format(form.header)
    return likely(form.header) if likely else None


def bind_format(form: FileFormat, options: Options, known: type[Format] | None) -> Format:
    """Bind a format, a mapping, or a mapping that changes a known format to the header.

    `known`: the format; None: the mapping of the options alone counts. Raises FileRejected for a
    column that a format has twice.
    """
    if options.mapping is None:
        assert known is not None
        return bind_header(known, form.header, form.header_row)
    if known is None:
        return Mapped(form.header, options.mapping)
    return remap_format(known, form.header, options.mapping)


def is_data(header: Sequence[str]) -> bool:
    """Return whether a header looks like a row: with a number or an address, and no known name."""
    is_value = any(re.fullmatch(r"\W*\d[\d.,' ]*\W*|https?://\S+", name) for name in header)
    return is_value and not any(propose(header, []))


def is_better_header(header: Sequence[str], below: Sequence[str]) -> bool:
    """Return whether the row below the header is the better header.

    So it is if at least two of its cells name different fields, and more than the header's do.
    """
    known, better = (len({*map(find_field, names)} - {None}) for names in (header, below))
    return better > max(known, 1)


def load_format(job: ImportJob) -> Format:
    """Return the format that reads the file of a running job, bound to its header; nothing is read.

    It is made of the job's attributes, as was decided before it began.
    """
    return bind_format(
        job.format, job.options, by_name(job.options.format or str(job.fields["dialect"]))
    )


def make_shop(job: ImportJob) -> Shop:
    """Return what reading a cell depends on besides the file.

    That is the shop's currency, today's date in its time zone, and the location whose stock the job
    imports ("" for all).
    """
    return Shop(settings.currency(), timezone.today(), job.options.location)


def describe_columns(
    header: Sequence[str],
    samples: Sequence[Sequence[str]],
    file_format: Format | None,
    options: Options,
) -> dict[str, object]:
    """Return the columns with samples, the field that each is read as, and all possible fields.

    A column that the request's mapping names has the field that it says, also with a format. Other
    columns have the format's fields. Without a format and a mapping of the request, they come from
    a mapping saved for exactly this header, which is loaded and named in `savedMapping`; else they
    are proposed from names and values. A column without a name and without values is left out.
    """
    mapping: Mapping[str, str | None] = options.mapping or {}
    is_open = file_format is None and options.mapping is None
    saved = mappings.find_fitting(header) if is_open else None
    like = file_format
    if saved:
        known = by_name(saved["format"] or "")
        if known and not any(saved["columns"].values()):  # as the format has them
            like = known(header)
        else:
            mapping = {**dict.fromkeys(header), **saved["columns"]}
    usual = [field_of(like, at) for at in range(len(header))] if like else propose(header, samples)
    meant = {plain(column): field for column, field in mapping.items()}
    names = name_columns(header)
    fields = {name: meant.get(plain(name), usual[at]) for at, name in reversed([*enumerate(names)])}
    longest = max(8, _SAMPLE_BYTES // (12 * max(len(header), 1)))
    return {
        "columns": [
            {
                "column": name,
                "samples": [sample[:longest] for sample in samples_of(at, samples)],
                "field": fields[name],
                "ignored": fields[name] is None,
            }
            for at, name in enumerate(names)
            if header[at] or samples_of(at, samples)
        ],
        "savedMapping": saved["name"] if saved else None,
        "fields": fields_of(type(file_format) if file_format else Mapped),
    }
