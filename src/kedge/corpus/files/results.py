"""Reading results back: rows of JSONL or Parquet, one by one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kedge.corpus.files.journal import intact_rows
from kedge.corpus.files.table import check_parquet
from kedge.errors import StorageError

__all__ = ["earlier_rows", "result_rows"]


def result_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """The rows of a result, JSONL or Parquet, one by one."""
    path = Path(path)
    if _is_parquet(path):
        yield from _parquet_rows(path)
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                raise StorageError(f"{path} is not a result of kedge: line {number} is not JSON.") from None


def earlier_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of an earlier run, whole or not, as a journal holds them."""
    if _is_parquet(path):
        for row in _parquet_rows(path):
            if isinstance(row.get("explanation"), str):
                row["explanation"] = json.loads(row["explanation"])
            yield row
        return
    with path.open("rb") as file:
        for row, _ in intact_rows(file):
            yield row


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from error


def _parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    check_parquet()
    from pyarrow import ArrowException, parquet

    try:
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=1024):
            yield from batch.to_pylist()
    except (OSError, ArrowException) as error:
        raise StorageError(f"{path} cannot be read as Parquet: {error}.") from error
