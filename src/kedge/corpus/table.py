"""Results as a Parquet table, written from the rows of a journal, a few thousand at a time."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kedge.corpus.journal import intact_rows
from kedge.errors import MissingDependency

__all__ = ["check_parquet", "write_parquet"]

# Rows per row group: a few megabytes, what readers of Parquet like.
GROUP = 8192


def check_parquet() -> None:
    """Refuse early, not after hours of work."""
    _pyarrow()


def write_parquet(part: Path, target: Path, *, full: bool = False) -> Path:
    """Turn the rows of a journal into a Parquet file, and have it on the disk.

    Labels and ids keep their type where all rows share one, else they become strings.
    """
    import os

    arrow, parquet = _pyarrow()
    kinds = {"id": _kind(part, "id"), "label": _kind(part, "label")}
    schema = _schema(arrow, kinds, full=full)
    with target.open("wb") as file:
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            rows = _rows(part)
            while group := list(islice(rows, GROUP)):
                writer.write_table(arrow.Table.from_pylist([_typed(r, kinds) for r in group], schema=schema))
        file.flush()
        os.fsync(file.fileno())
    return target


def _rows(part: Path) -> Iterator[dict[str, Any]]:
    with part.open("rb") as file:
        for row, _ in intact_rows(file):
            yield row


def _kind(part: Path, name: str) -> type:
    """The type that all values of a column share, or str."""
    kinds = {type(row[name]) for row in _rows(part) if row[name] is not None}
    return kinds.pop() if len(kinds) == 1 else str


def _typed(row: dict[str, Any], kinds: dict[str, type]) -> dict[str, Any]:
    for name, kind in kinds.items():
        if row[name] is not None:
            row[name] = kind(row[name])
    if row.get("explanation") is not None:
        row["explanation"] = json.dumps(row["explanation"], ensure_ascii=False)
    return row


def _schema(arrow: Any, kinds: dict[str, type], *, full: bool) -> Any:
    scalar = {int: arrow.int64(), str: arrow.string(), bool: arrow.bool_(), float: arrow.float64()}
    whole, real, string = arrow.int64(), arrow.float64(), arrow.string()
    fields = {
        "row": whole,
        "id": scalar[kinds["id"]],
        "digest": string,
        "label": scalar[kinds["label"]],
        "probability": real,
        "words": arrow.list_(string),
        "positions": arrow.list_(whole),
        "spans": arrow.list_(arrow.list_(whole)),
        "precision": real,
        "low": real,
        "high": real,
        "status": string,
        "baseline": real,
        "coverage": real,
        "method": string,
        "queries": whole,
        "seconds": real,
        "notes": arrow.list_(string),
        "error": string,
    }
    if full:
        fields["explanation"] = string
    return arrow.schema(list(fields.items()))


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingDependency("Parquet files need pyarrow: pip install 'kedge[data]'.") from None
    return pa, parquet
