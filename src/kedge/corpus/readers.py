"""Reading documents from CSV, TSV, JSONL and Parquet, as streams: memory does not grow with the file.

A line that cannot be read is an item with a problem, which becomes a row with a reason; it never
ends the run. What spoils the rest of the file, such as a quotation that is never closed, does. Files
ending in ``.gz``, ``.bz2`` or ``.xz`` are unpacked on the way.
"""

import csv
import json
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import IO, Any

from kedge.corpus.items import Item
from kedge.errors import MissingDependency, TextError

__all__ = ["Source", "open_source"]

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
PACKED = (".gz", ".bz2", ".xz")


@dataclass(frozen=True)
class Source:
    """A file of documents.

    Parameters
    ----------
    path, format
        The file, and ``"csv"``, ``"tsv"``, ``"jsonl"`` or ``"parquet"``.
    text, id
        The columns (or keys) of the text and of the document's name; None: the row number.
    separator
        What separates the columns of a CSV or TSV file.
    quotes
        Whether a field may be enclosed in double quotes, as CSV writers do.
    """

    path: Path
    format: str
    text: str
    id: str | None = None
    separator: str = ","
    quotes: bool = True

    @property
    def total(self) -> int:
        """Size in the unit of ``Item.position``: rows of a Parquet file, bytes of any other."""
        if self.format == "parquet":
            return int(_parquet(self.path).metadata.num_rows)
        return self.path.stat().st_size

    def __iter__(self) -> Iterator[Item]:
        """Read the documents in order."""
        if self.format == "parquet":
            return _parquet_items(self)
        return _jsonl_items(self) if self.format == "jsonl" else _csv_items(self)


def open_source(
    path: str | Path,
    text: str,
    id: str | None = None,  # noqa: A002  (what the column is called everywhere)
    *,
    separator: str | None = None,
    quotes: bool = True,
) -> Source:
    """Recognise a file by its name and check that it has the columns.

    Parameters
    ----------
    path
        A file ending in .csv, .tsv, .jsonl, .ndjson or .parquet, possibly packed.
    text, id
        The columns of the text and of the document's name.
    separator, quotes
        How a CSV or TSV file is written; by default a comma or a tab, with double quotes.
    """
    path = Path(path)
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    kind = FORMATS.get(suffixes[-1] if suffixes else "")
    if kind is None:
        known = ", ".join(FORMATS)
        raise TextError(f"{path.name} is not of a known kind; the name must end in one of {known}.")
    if not path.is_file():
        raise TextError(f"There is no file {path}.")
    if separator is not None and len(separator) != 1:
        raise TextError(f"The separator must be one character, got {separator!r}.")
    separator = separator or ("\t" if kind == "tsv" else ",")
    source = Source(path, kind, text, id, separator, quotes)
    _check_columns(source)
    return source


def _check_columns(source: Source) -> None:
    if source.format == "jsonl":
        return  # every line has keys of its own
    if source.format == "parquet":
        names = list(_parquet(source.path).schema_arrow.names)
    else:
        with _open(source.path) as (file, _), closing(_rows(source, file)) as rows:
            names = next(rows, [])
    for name in (source.text, source.id):
        if name is not None and name not in names:
            raise TextError(
                f"{source.path.name} has no column {name!r}; it has: {', '.join(map(repr, names)) or 'none'}."
            )


@contextmanager
def _open(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The file's content, unpacked, and the file itself, whose position tells how much was read."""
    suffix = path.suffix.lower()
    with path.open("rb") as raw:
        if suffix in PACKED:
            unpack = import_module({".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}[suffix])
            with unpack.open(raw) as file:
                yield file, raw
        else:
            yield raw, raw


def _rows(source: Source, file: IO[bytes]) -> Generator[list[str]]:
    # The csv module refuses fields of more than 131,072 characters unless told otherwise.
    csv.field_size_limit(sys.maxsize)
    # Bytes that are not UTF-8 spoil their own row only: they become surrogates, found row by row.
    lines = TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    quoting: Any = csv.QUOTE_MINIMAL if source.quotes else csv.QUOTE_NONE
    ended = False

    def blank() -> Iterator[str]:
        nonlocal ended
        ended = True
        yield "\n"

    # The csv module takes the end of the file for the end of a quotation. A blank line after it tells:
    # it is a record without fields, unless a quotation is still open, of which it is then a part.
    reader = csv.reader(chain(lines, blank()), delimiter=source.separator, quoting=quoting)
    begins = 1
    try:
        for fields in reader:
            if ended and fields:
                raise TextError(
                    f"A quotation mark in the record that begins on line {begins:,} of {source.path.name} is "
                    "never closed, so that the rest of the file is inside it; mend the file, or say "
                    "quotes=False if quotation marks are ordinary characters in it."
                )
            yield fields
            begins = reader.line_num + 1
    finally:
        lines.detach()  # the file is not ours to close


def _csv_items(source: Source) -> Iterator[Item]:
    with _open(source.path) as (file, raw), closing(_rows(source, file)) as rows:
        header = next(rows)
        text_at = header.index(source.text)
        id_at = None if source.id is None else header.index(source.id)
        row = 0
        for fields in rows:
            if not fields:
                continue  # a blank line
            at = raw.tell()
            if len(fields) != len(header):
                problem = f"The line has {len(fields)} fields where the header has {len(header)}."
                name = row if id_at is None or id_at >= len(fields) else fields[id_at]
                yield Item(row, name, None, problem, at)
            else:
                text = fields[text_at]
                name = row if id_at is None else fields[id_at]
                yield Item(row, name, text, _not_utf8(text), at)
            row += 1


def _jsonl_items(source: Source) -> Iterator[Item]:
    with _open(source.path) as (file, raw):
        row = 0
        for line in file:
            if not line.strip():
                continue
            yield _json_item(source, row, line, raw.tell())
            row += 1


def _json_item(source: Source, row: int, line: bytes, at: int) -> Item:
    try:
        data = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:  # not JSON, or not UTF-8
        return Item(row, row, None, f"The line is not JSON: {error}.", at)
    if not isinstance(data, dict):
        return Item(row, row, None, f"The line is a JSON {type(data).__name__}, not an object.", at)
    name = row if source.id is None else data.get(source.id, row)
    name = name if isinstance(name, (str, int)) else json.dumps(name)
    if source.text not in data:
        known = ", ".join(map(repr, data)) or "none"
        return Item(row, name, None, f"The line has no key {source.text!r}; it has: {known}.", at)
    return Item(row, name, data[source.text], None, at)


def _parquet_items(source: Source) -> Iterator[Item]:
    columns = [source.text] if source.id is None else [source.text, source.id]
    row = 0
    # A thousand documents at a time: the file's own row groups may hold millions.
    for batch in _parquet(source.path).iter_batches(batch_size=1024, columns=columns):
        texts = batch.column(source.text).to_pylist()
        ids = range(row, row + len(texts)) if source.id is None else batch.column(source.id).to_pylist()
        for text, name in zip(texts, ids, strict=True):
            yield Item(row, name if isinstance(name, (str, int)) else str(name), text, None, row)
            row += 1


def _parquet(path: Path) -> Any:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingDependency("Parquet files need pyarrow: pip install 'kedge[data]'.") from None
    try:
        return parquet.ParquetFile(path)
    except (OSError, ArrowException) as error:
        raise TextError(f"{path.name} cannot be read as Parquet: {error}.") from error


def _not_utf8(text: str) -> str | None:
    if text.isascii():
        return None
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "The text is not UTF-8."
    return None
