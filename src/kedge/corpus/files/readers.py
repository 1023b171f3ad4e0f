"""Reading documents from one or many files: CSV, TSV, JSONL and Parquet, packed or not, or standard input."""

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from kedge.corpus.files.formats import Layout, check_file, documents, rows_of_parquet
from kedge.corpus.files.streams import File, find_files
from kedge.corpus.items import Item
from kedge.errors import TextError

__all__ = ["Source", "open_source"]


class Source:
    """Files of documents, read one after the other; rows are numbered through all of them.

    Parameters
    ----------
    files
        The files.
    layout
        How they are written.
    """

    def __init__(self, files: tuple[File, ...], layout: Layout) -> None:
        self.files, self.layout = files, layout
        self._ahead: list[Item] = []  # of what can be read only once, what was looked at before
        self._stream: Iterator[Item] | None = self._items() if self.once else None

    @property
    def name(self) -> str:
        """What sentences call it."""
        first, *others = (file.name for file in self.files)
        return f"{first} and {len(others)} more" if others else first

    @property
    def once(self) -> bool:
        """Whether it can be read only once."""
        return self.files[0].path is None

    @property
    def total(self) -> int | None:
        """Size in the unit of ``Item.position``: rows if all is Parquet, else bytes; None if not known."""
        return None if self.once else sum(self._sizes())

    def _sizes(self) -> list[int]:
        rows = all(file.format == "parquet" for file in self.files)
        paths = [file.path for file in self.files if file.path is not None]
        return [rows_of_parquet(f) for f in self.files] if rows else [p.stat().st_size for p in paths]

    def __iter__(self) -> Iterator[Item]:
        """Read the documents in order."""
        if not self.once:
            return self._items()
        if self._stream is None:
            raise TextError("Standard input can be read only once; save it to a file.")
        stream, self._stream = self._stream, None
        return chain(self._ahead, stream)

    def look(self, n: int) -> list[Item]:
        """The first few documents; they are read again when the source is."""
        if not self.once:
            return list(islice(self._items(), n))
        if self._stream is not None:
            self._ahead.extend(islice(self._stream, max(0, n - len(self._ahead))))
        return self._ahead[:n]

    def _items(self) -> Iterator[Item]:
        row = before = 0
        sizes = [0] if self.once else self._sizes()
        for file, size in zip(self.files, sizes, strict=True):
            for here, found in enumerate(documents(file, self.layout)):
                name = found.id
                if name is None:
                    name = row if len(self.files) == 1 else f"{file.name}:{here}"
                yield Item(row, name, found.text, found.problem, before + found.position)
                row += 1
            before += size


def open_source(
    path: str | Path | Iterable[str | Path],
    text: str,
    id: str | None = None,  # noqa: A002  (what the column is called everywhere)
    *,
    format: str | None = None,  # noqa: A002  (likewise)
    separator: str | None = None,
    quotes: bool = True,
    encoding: str = "utf-8",
    header: bool = True,
) -> Source:
    """Recognise files by their names and check that they have the columns.

    Parameters
    ----------
    path
        A file ending in .csv, .tsv, .jsonl, .ndjson or .parquet, possibly packed (.gz, .bz2, .xz, .zst); a
        folder of such files, a pattern, several of these, or ``"-"`` for standard input.
    text, id
        The columns of the text and of the document's name. In JSON and Parquet ``review.body`` is the field
        ``body`` of ``review``. Without an id a document is called by its row, in several files by file and
        row.
    format
        What the files are, where their names do not say: ``"csv"``, ``"tsv"``, ``"jsonl"`` or ``"parquet"``.
    separator, quotes
        How a CSV or TSV file is written; by default a comma or a tab, with double quotes.
    encoding
        Of CSV, TSV and JSONL.
    header
        Whether the first line of a CSV or TSV file names the columns; without it they are ``"1"``, ``"2"``...
    """
    if separator is not None and len(separator) != 1:
        raise TextError(f"The separator must be one character, got {separator!r}.")
    try:
        "".encode(encoding)  # some codecs are not of text
        encoding = codecs.lookup(encoding).name
    except LookupError:
        raise TextError(
            f"The encoding {encoding!r} is not known; give it by its Python name, such as cp1252."
        ) from None
    source = Source(find_files(path, format), Layout(text, id, separator, quotes, encoding, header))
    for file in source.files:
        check_file(file, source.layout)
    return source
