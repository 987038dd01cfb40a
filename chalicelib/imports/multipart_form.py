"""The multipart form of an import: one file and its options."""

import io
from dataclasses import dataclass
from typing import Final

from chalicelib.problems import Invalid

_FILE: Final = "file"


@dataclass(frozen=True)
class Form:
    """The file's name, as the client gave it, without folders; its bytes; the other fields."""

    file_name: str
    data: bytes
    fields: dict[str, str]


def parse_form(body: bytes, content_type: str) -> Form:
    """Parse a body of type `multipart/form-data` (RFC 7578) with one file, the field `file`.

    Raises Invalid without a file, for a field that is there twice, and for what is no such form.
    """
    import multipart  # only imports pay for it

    _, options = multipart.parse_options_header(content_type)
    file: Form | None = None
    fields: dict[str, str] = {}
    try:
        parser = multipart.MultipartParser(
            io.BytesIO(body),
            options.get("boundary", ""),
            content_length=len(body),
            spool_limit=len(body),
            memory_limit=len(body),
        )
        for part in parser:
            field = str(part.name)
            if field in fields or (field == _FILE and file):  # of two, none may be ignored
                raise Invalid.field(
                    field[:200], "invalid", "takes one value, and several were sent"
                )
            if field != _FILE:
                # Whatever charset a part declares: forms are UTF-8 (RFC 7578, 5.1).
                fields[field] = part.raw.decode("utf-8")
            elif part.filename is None:
                raise Invalid.field(_FILE, "invalid_type", "must be a file: curl -F file=@name.csv")
            else:
                name = part.filename.replace("\\", "/").rpartition("/")[2][:255]
                name = "".join(letter for letter in name if letter.isprintable())
                file = Form(name.strip() or "import.csv", part.raw, fields)
    except (multipart.MultipartError, UnicodeError) as error:
        raise Invalid.field("body", "malformed_form", f"is no multipart form: {error}") from None
    if file is None:
        raise Invalid.field(_FILE, "required", "is required: the CSV, as a file of the form")
    return file
