"""Documents of one file, as a stream: memory does not grow with the file.

A line that cannot be read is a document with a problem, which becomes a row with a reason; it never
ends the run. What spoils the rest of the file, such as a quotation that is never closed, does.
"""

import csv
import json
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain
from typing import IO, Any

from kedge.corpus.files.streams import File
from kedge.errors import KedgeError, MissingDependency, TextError
from kedge.utils.sentences import Option, Sentence

__all__ = ["Found", "Layout", "check_file", "documents", "rows_of_parquet"]

# Separators that are tried where a line has one column.
_MARKS = (";", "|", "\t", ",")


@dataclass(frozen=True)
class Layout:
    """How files are written.

    Parameters
    ----------
    text, id
        The columns (or keys) of the text and of the document's name; None: no such column. Of what is nested
        in JSON or Parquet the way to it, ``review.body``.
    separator
        What separates the columns of a CSV or TSV file; None: a comma or a tab.
    quotes
        Whether a field may be enclosed in double quotes, as CSV writers do.
    encoding
        Of CSV, TSV and JSONL.
    header
        Whether the first line of a CSV or TSV file names the columns; without it they are 1, 2, ...
    """

    text: str
    id: str | None = None
    separator: str | None = None
    quotes: bool = True
    encoding: str = "utf-8"
    header: bool = True


@dataclass(frozen=True)
class Found:
    """A document in a file: its text and its name (None without a column for it), or what is wrong with it.

    ``position`` is how much of the file was read up to here: rows of Parquet, bytes of any other.
    """

    text: Any
    id: Any
    problem: str | None
    position: int


def documents(file: File, layout: Layout) -> Iterator[Found]:
    """The documents of a file, in order."""
    reader: dict[str, Callable[[File, Layout], Iterator[Found]]] = {"jsonl": _of_json, "parquet": _of_parquet}
    return reader.get(file.format, _of_csv)(file, layout)


def check_file(file: File, layout: Layout) -> None:
    """Refuse a file that cannot be opened, or lacks the columns, before anything is started."""
    if file.path is None:
        return  # it can be read once only
    try:
        if file.format == "parquet":
            _columns_of_parquet(file, layout)
            return
        with file.opened() as (content, _):
            if file.format == "jsonl":
                content.read(1)  # every line has keys of its own
                return
            with closing(_records(file, layout, content)) as records:
                _columns(file, layout, _names(layout, next(records, [])))
    except KedgeError:
        raise
    except Exception as error:  # every packing has errors of its own
        raise TextError(
            f"{file.name} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from error


def _columns(file: File, layout: Layout, names: list[str]) -> tuple[int, int | None]:
    if any("\udc80" <= c <= "\udcff" for name in names for c in name):
        raise TextError(
            f"The first line of {file.name} is not {layout.encoding} text; give its ", Option("encoding"), "."
        )
    for name in (layout.text, layout.id):
        if name is not None and name not in names:
            if not names:
                raise TextError(f"{file.name} is empty; it has no column {name!r}.")
            known = f"{file.name} has no column {name!r}; it has: {', '.join(map(repr, names))}"
            raise TextError(known, _hint(layout, names, name), ".")
    return names.index(layout.text), None if layout.id is None else names.index(layout.id)


def _hint(layout: Layout, names: list[str], wanted: str) -> Sentence:
    """What may be meant by a first line without the column."""
    if not layout.header:
        return Sentence()
    for mark in _MARKS:
        if len(names) == 1 and wanted in (part.strip(' "') for part in names[0].split(mark)):
            return Sentence(" (", Option("separator", mark), " separates them)")
    return Sentence(" (", Option("header", False), " if these are a document: columns are then 1, 2, ...)")


def _names(layout: Layout, first: list[str]) -> list[str]:
    """The names of the columns: the first record, or 1, 2, ... where that is a document."""
    return first if layout.header else [str(number) for number, _ in enumerate(first, start=1)]


def _decoded(layout: Layout, content: IO[bytes], newline: str) -> TextIOWrapper:
    # Bytes that are not of the encoding spoil their own row only: they become surrogates, found row by row.
    encoding = "utf-8-sig" if layout.encoding == "utf-8" else layout.encoding
    return TextIOWrapper(content, encoding=encoding, errors="surrogateescape", newline=newline)


def _records(file: File, layout: Layout, content: IO[bytes]) -> Generator[list[str]]:
    # The csv module refuses fields of more than 131,072 characters unless the limit is raised.
    csv.field_size_limit(sys.maxsize)
    lines = _decoded(layout, content, "")
    quoting: Any = csv.QUOTE_MINIMAL if layout.quotes else csv.QUOTE_NONE
    ended = False

    def blank() -> Iterator[str]:
        nonlocal ended
        ended = True
        yield "\n"

    # The csv module takes the end of the file for the end of a quotation. A blank line after it shows which:
    # it is a record without fields, unless a quotation is still open, of which it is then a part.
    separator = layout.separator or ("\t" if file.format == "tsv" else ",")
    reader = csv.reader(chain(lines, blank()), delimiter=separator, quoting=quoting)
    begins = 1
    try:
        for fields in reader:
            if ended and fields:
                raise TextError(
                    f"A quotation mark in the record that begins on line {begins:,} of {file.name} is "
                    "never closed, so that the rest of the file is inside it; repair the file, or give ",
                    Option("quotes", False),
                    " if quotation marks are ordinary characters in it.",
                )
            yield fields
            begins = reader.line_num + 1
    finally:
        lines.detach()  # the file is not ours to close


def _of_csv(file: File, layout: Layout) -> Iterator[Found]:
    with file.opened() as (content, raw), closing(_records(file, layout, content)) as records:
        first = next(records, [])
        header = _names(layout, first)
        text_at, id_at = _columns(file, layout, header)
        where = "the header" if layout.header else "the first line"
        for fields in records if layout.header else chain([first], records):
            if not fields:
                continue  # a blank line
            at = _position(raw)
            if len(fields) != len(header):
                problem = f"The line has {len(fields)} fields where {where} has {len(header)}."
                yield Found(
                    None, fields[id_at] if id_at is not None and id_at < len(fields) else None, problem, at
                )
            else:
                text = fields[text_at]
                yield Found(text, None if id_at is None else fields[id_at], _undecoded(text, layout), at)


def _of_json(file: File, layout: Layout) -> Iterator[Found]:
    with file.opened() as (content, raw):
        lines: IO[Any] = content if layout.encoding == "utf-8" else _decoded(layout, content, "\n")
        for line in lines:
            if line.strip():
                yield _of_line(line, layout, _position(raw))


def _of_line(line: bytes | str, layout: Layout, at: int) -> Found:
    try:
        data = json.loads(line.removeprefix(b"\xef\xbb\xbf") if isinstance(line, bytes) else line)
    except RecursionError:
        return Found(None, None, "The line is nested too deeply.", at)
    except ValueError as error:  # not JSON, or not UTF-8
        return Found(None, None, f"The line is not JSON: {error}.", at)
    if not isinstance(data, dict):
        return Found(None, None, f"The line is a JSON {type(data).__name__}, not an object.", at)
    name = None if layout.id is None else _inside(data, layout.id)
    name = name if name is None or isinstance(name, (str, int)) else json.dumps(name)
    text = _inside(data, layout.text, missing := object())
    if text is missing:
        known = ", ".join(map(repr, data)) or "none"
        return Found(None, name, f"The line has no key {layout.text!r}; it has: {known}.", at)
    problem = _undecoded(text, layout) if isinstance(line, str) and isinstance(text, str) else None
    return Found(text, name, problem, at)


def _inside(data: Any, name: str, missing: Any = None) -> Any:
    """The value of a key, or of a way through nested objects; a key that has the whole name comes first."""
    if isinstance(data, dict) and name in data:
        return data[name]
    for part in name.split("."):
        if not isinstance(data, dict) or part not in data:
            return missing
        data = data[part]
    return data


def _of_parquet(file: File, layout: Layout) -> Iterator[Found]:
    columns = [name for name in (layout.text, layout.id) if name is not None]
    row = 0
    # A thousand documents at a time: the file's own row groups may hold millions.
    for batch in _parquet(file).iter_batches(batch_size=1024, columns=columns):
        for data in batch.to_pylist():
            name = None if layout.id is None else _inside(data, layout.id)
            name = name if name is None or isinstance(name, (str, int)) else str(name)
            yield Found(_inside(data, layout.text), name, None, row)
            row += 1


def rows_of_parquet(file: File) -> int:
    """How many rows a Parquet file has."""
    return int(_parquet(file).metadata.num_rows)


def _columns_of_parquet(file: File, layout: Layout) -> None:
    schema = _parquet(file).schema_arrow
    for name in (layout.text, layout.id):
        fields, parts = schema, [name] if name is None or name in schema.names else name.split(".")
        for part in parts if name is not None else ():
            known = [field.name for field in fields]
            if part not in known:
                where = f"no field {part!r} in {name!r}" if len(parts) > 1 else f"no column {name!r}"
                raise TextError(f"{file.name} has {where}; it has: {', '.join(map(repr, known)) or 'none'}.")
            kind = fields.field(part).type if fields is schema else fields[known.index(part)].type
            fields = list(kind) if hasattr(kind, "num_fields") and str(kind).startswith("struct") else []


def _parquet(file: File) -> Any:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingDependency("Parquet files need pyarrow: pip install 'kedge[data]'.") from None
    try:
        return parquet.ParquetFile(file.path)
    except (OSError, ArrowException) as error:
        raise TextError(f"{file.name} cannot be read as Parquet: {error}.") from error


def _position(raw: IO[bytes]) -> int:
    try:
        return raw.tell()
    except OSError:  # a pipe has none
        return 0


def _undecoded(text: str, layout: Layout) -> str | None:
    if text.isascii():
        return None
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return f"The text is not {layout.encoding.upper()}."
    return None
