"""Results as a Parquet table, written beside the rows of a journal as they come, a few thousand at a time.

Every table has the same columns of the same types, whatever the documents, so that a thousand of them are one
dataset: ids and labels are strings. What a string of Unicode cannot hold (a lone surrogate) is escaped.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kedge.corpus.files.columns import COLUMNS
from kedge.corpus.remedies import CONTINUE
from kedge.errors import MissingDependency, StorageError

__all__ = ["Table", "check_parquet", "fitting", "writing"]

# Rows per row group: a few megabytes, what readers of Parquet like.
GROUP = 8192


def check_parquet() -> None:
    """Refuse early, not after hours of work."""
    _pyarrow()


class Table:
    """A Parquet file that grows row by row; it is whole once it is closed.

    Parameters
    ----------
    path
        Where it is written.
    full
        Whether rows hold whole explanations.
    about
        Where the results come from, as plain data: kept in the file's metadata under ``kedge``.
    """

    def __init__(self, path: Path, *, full: bool = False, about: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self._arrow, parquet = _pyarrow()
        self._schema = _schema(self._arrow, full=full, about=about or {})
        self._rows: list[dict[str, Any]] = []
        with writing(self.path):
            self._file = path.open("wb")
            self._writer = parquet.ParquetWriter(self._file, self._schema, compression="zstd")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._file.closed:  # the run was interrupted: the rows of the journal are what counts
            with suppress(Exception):
                self._writer.close()
            with suppress(OSError):  # a full disk cannot take what is still to be written, and need not
                self._file.close()
            self.path.unlink(missing_ok=True)

    def add(self, row: Mapping[str, Any]) -> None:
        """Take one row in."""
        self._rows.append(fitting(row))
        if len(self._rows) >= GROUP:
            self._flush()

    def close(self) -> Path:
        """Write what is left, and have it on the disk."""
        self._flush()
        with writing(self.path):
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        return self.path

    def _flush(self) -> None:
        if self._rows:
            table = self._arrow.Table.from_pylist(self._rows, schema=self._schema)
            with writing(self.path):
                self._writer.write_table(table)
            self._rows = []


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the disk into one sentence."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror or error}. Every row written so far is safe; fix "
            "this and ",
            CONTINUE,
        ) from error


def fitting(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose values fit the types of the columns, whatever they are."""
    values = {name: row[name] for name in COLUMNS}
    for name, kind in COLUMNS.items():
        if (value := values[name]) is None:
            continue
        if kind == "string":
            values[name] = _text(value)
        elif kind == "strings":
            values[name] = [_text(one) for one in value]
    if row.get("explanation") is not None:
        values["explanation"] = _text(json.dumps(row["explanation"], ensure_ascii=False))
    return values


def _text(value: Any) -> str:
    text = (
        value
        if isinstance(value, str)
        else json.dumps(value)
        if isinstance(value, (list, dict))
        else str(value)
    )
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _schema(arrow: Any, *, full: bool, about: Mapping[str, Any]) -> Any:
    kinds = {
        "string": arrow.string(),
        "integer": arrow.int64(),
        "number": arrow.float64(),
        "boolean": arrow.bool_(),
        "strings": arrow.list_(arrow.string()),
        "integers": arrow.list_(arrow.int64()),
        "spans": arrow.list_(arrow.list_(arrow.int64())),
    }
    fields = [(name, kinds[kind]) for name, kind in COLUMNS.items()]
    if full:
        fields.append(("explanation", arrow.string()))
    return arrow.schema(fields, metadata={"kedge": json.dumps(about, sort_keys=True)})


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingDependency("Parquet files need pyarrow: pip install 'kedge[data]'.") from None
    return pa, parquet
