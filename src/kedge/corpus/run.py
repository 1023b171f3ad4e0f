"""A whole corpus, from Python or from file to file."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedge.corpus.backends import place
from kedge.corpus.items import Item, items_of
from kedge.corpus.journal import Journal
from kedge.corpus.outcome import Outcome
from kedge.corpus.readers import Source
from kedge.corpus.summary import Summary
from kedge.corpus.table import check_parquet, write_parquet
from kedge.corpus.task import explain_item
from kedge.corpus.workers import DIED, explained
from kedge.errors import KedgeError, OptionError, StorageError, TextError

if TYPE_CHECKING:
    from kedge.corpus.task import Form
    from kedge.explain import Explainer

__all__ = ["explain_file", "explain_texts", "result_rows"]

FORMATS = (".jsonl", ".ndjson", ".parquet")
Watcher = Callable[[Summary, int], None]


def explain_texts(
    explainer: "Explainer",
    texts: Iterable[str],
    *,
    ids: Iterable[Any] | None = None,
    workers: int | None = None,
    dask: str | None = None,
) -> Iterator[Outcome]:
    """What becomes of each text, in order; see ``Explainer.explain_corpus``."""
    items = items_of(texts, ids)  # refuses a single string now, not at the first `next`
    return _outcomes(_without_progress(explainer), items, workers, dask)


def _outcomes(
    explainer: "Explainer", items: Iterator[Item], workers: int | None, dask: str | None
) -> Iterator[Outcome]:
    with place(explainer, workers, dask) as where:
        yield from explained(items, where)


def explain_file(
    explainer: "Explainer",
    source: Source,
    out: str | Path,
    *,
    workers: int | None = None,
    dask: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    limit: int | None = None,
    full: bool = False,
    watch: Watcher | None = None,
) -> Summary:
    """Explain the documents of a file into another one, so that nothing is ever lost.

    Parameters
    ----------
    explainer
        How to explain.
    source
        The documents; see ``open_source``.
    out
        The result: ``.jsonl`` or ``.parquet``, one row per document, in input order.
    workers, dask
        How many processes (None or -1: all cores), or the address of a dask scheduler.
    resume
        Go on where an interrupted run ended.
    overwrite
        Replace what is there.
    limit
        Only so many documents.
    full
        Keep in each row the whole explanation, text and trace included.
    watch
        Called after every document with the summary so far and the position in the source.
    """
    out = Path(out)
    if out.suffix not in FORMATS:
        raise OptionError(f"{out.name} must end in one of {', '.join(FORMATS)}.")
    if out.suffix == ".parquet":
        check_parquet()
    summary = Summary()
    journal = Journal(out, _asked(explainer, source, limit, full=full), resume=resume, overwrite=overwrite)
    if journal.complete:
        for row in result_rows(out):
            summary.add(row)
        summary.resumed = summary.documents
        return summary
    items = _readable(islice(iter(source), limit), source)
    with journal:
        explainer = _without_progress(explainer)
        last = None
        for row in journal.recovered():
            item = _same(row, next(items, None), journal)
            last = (row, item)
            summary.add(row)
        summary.resumed = summary.documents
        if last is not None:
            _check_model(explainer, *last)
        positions = _Positions(items)
        form: Form = "full line" if full else "line"
        with place(explainer, workers, dask) as where, closing(explained(positions, where, form)) as lines:
            for line in lines:
                journal.append(line)
                summary.add(json.loads(line))
                if watch is not None:
                    watch(summary, positions.passed())
        written = None
        if out.suffix == ".parquet":
            written = write_parquet(journal.part, out.with_name(out.name + ".new"), full=full)
        journal.finish(written)
    return summary


def result_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """The rows of a result, JSONL or Parquet, one by one."""
    path = Path(path)
    if path.suffix == ".parquet":
        check_parquet()
        from pyarrow import parquet

        for batch in parquet.ParquetFile(path).iter_batches(batch_size=1024):
            yield from batch.to_pylist()
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield json.loads(line)
            except ValueError:
                raise StorageError(f"Line {number} of {path} is not JSON: no result of kedge.") from None


class _Positions:
    """The items, remembering where in the source those stand that are on their way."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._ahead: list[int] = []
        self._at = 0

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        item = next(self._items)
        self._ahead.append(item.position)
        return item

    def passed(self) -> int:
        """The position of the next item that has come back."""
        position = self._ahead[self._at]
        self._at += 1
        if self._at > 1024:
            del self._ahead[: self._at]
            self._at = 0
        return position


def _without_progress(explainer: "Explainer") -> "Explainer":
    """A corpus has a progress of its own, and a caller's function cannot follow to other processes."""
    if explainer.options.progress is None:
        return explainer
    return type(explainer)(explainer.given, **_options(explainer) | {"progress": None})


def _options(explainer: "Explainer") -> dict[str, Any]:
    return {f.name: getattr(explainer.options, f.name) for f in fields(explainer.options)}


def _asked(explainer: "Explainer", source: Source, limit: int | None, *, full: bool) -> dict[str, Any]:
    """What makes two runs the same run, as plain data."""
    options = {
        name: value if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__
        for name, value in _options(explainer).items()
        if name not in {"progress", "batch_size"}
    }
    return {
        "format": 1,
        "source": source.path.name,
        "text": source.text,
        "id": source.id,
        "limit": limit,
        "full": full,
        "model": explainer.model.name,
        **options,
    }


def _readable(items: Iterator[Item], source: Source) -> Iterator[Item]:
    """A source that ends badly is one sentence, and what came before it is kept."""
    row = -1
    try:
        for item in items:
            row = item.row
            yield item
    except KedgeError:
        raise
    except Exception as error:  # every format and packing has errors of its own
        reason = f"{type(error).__name__}: {error}"
        raise TextError(
            f"{source.path.name} cannot be read beyond row {row} ({reason}); the rows before it are kept."
        ) from error


def _same(row: dict[str, Any], item: Item | None, journal: Journal) -> Item:
    """The document that a row was made from."""
    if item is None or item.digest != row["digest"]:
        raise StorageError(
            f"Row {row['row']} of {journal.part.name} was made from another text than the input has there "
            "now; give the same input, or begin again with --overwrite."
        )
    return item


def _check_model(explainer: "Explainer", row: dict[str, Any], item: Item) -> None:
    """Do one row again: a model that was trained anew meanwhile would mix two results in one file."""
    if str(row["error"]).startswith(DIED):
        return  # what killed its worker would kill us
    again = json.loads(explain_item(explainer, item).to_line())
    for name in ("label", "words", "status", "error"):
        if again[name] != row[name]:
            raise StorageError(
                f"Row {row['row']} comes out differently now ({name} {again[name]!r}, not {row[name]!r}), so "
                "this is not the model the run was begun with; begin again with --overwrite."
            )
