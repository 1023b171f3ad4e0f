"""A whole corpus, from Python or from file to file."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedge.corpus.backends import check_workers, place
from kedge.corpus.beginning import worth_writing
from kedge.corpus.items import Item, items_of
from kedge.corpus.journal import Journal
from kedge.corpus.outcome import Outcome
from kedge.corpus.readers import Source
from kedge.corpus.resume import Row, asked_for, check_model, options_of, paired
from kedge.corpus.summary import Summary
from kedge.corpus.table import check_parquet, write_parquet
from kedge.corpus.workers import explained
from kedge.errors import KedgeError, OptionError, StorageError, TextError
from kedge.typing import Label

if TYPE_CHECKING:
    from kedge.corpus.task import Form
    from kedge.explain import Explainer

__all__ = ["check_run", "explain_file", "explain_texts", "result_rows"]

FORMATS = (".jsonl", ".ndjson", ".parquet")
Watcher = Callable[[Summary, int], None]


def explain_texts(
    explainer: "Explainer",
    texts: Iterable[str],
    *,
    ids: Iterable[Any] | None = None,
    label: Label | None = None,
    workers: int | None = None,
    dask: str | None = None,
) -> Iterator[Outcome]:
    """What becomes of each text, in order; see ``Explainer.explain_corpus``."""
    check_workers(workers)
    items = items_of(texts, ids, label)  # refuses a single string now, not at the first `next`
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
    label: Label | None = None,
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
        Go on where an interrupted run ended, once it is clear that it is the same run; one that is
        finished already stays as it is.
    overwrite
        Replace what is there.
    limit
        Only so many documents.
    label
        The label to explain, for a multi-label model.
    full
        Keep in each row the whole explanation, text and trace included.
    watch
        Called after every document with the summary so far and the position in the source.
    """
    out = Path(out)
    check_run(out, workers=workers, limit=limit)
    summary = Summary()
    asked = asked_for(explainer, source, limit, label, full=full)
    journal = Journal(out, asked, resume=resume, overwrite=overwrite)
    items = _readable(_labelled(islice(iter(source), limit), label), source)
    explainer = _without_progress(explainer)
    if journal.complete:
        journal.check_asked()
        _take_up(summary, explainer, paired(result_rows(out), items, out.name))
        if next(items, None) is not None:
            raise StorageError(
                f"{out.name} is complete with {summary.documents:,} rows, but the input has more documents "
                "now; choose another --out, or begin again with --overwrite."
            )
        return summary
    with journal:
        _take_up(summary, explainer, paired(journal.recovered(), items, journal.part.name))
        positions = _Positions(items)
        form: Form = "full line" if full else "line"
        with place(explainer, workers, dask) as where, closing(explained(positions, where, form)) as lines:
            # What an earlier run has written is there anyway.
            for line in lines if summary.documents else worth_writing(lines, label):
                journal.append(line)
                summary.add(json.loads(line))
                if watch is not None:
                    watch(summary, positions.passed())
        written = None
        if out.suffix == ".parquet":
            written = write_parquet(journal.part, out.with_name(out.name + ".new"), full=full)
        journal.finish(written)
    return summary


def check_run(out: str | Path, *, workers: int | None = None, limit: int | None = None) -> None:
    """Refuse what cannot be done before anything is begun."""
    out = Path(out)
    if out.suffix not in FORMATS:
        raise OptionError(f"{out.name} must end in one of {', '.join(FORMATS)}.")
    if out.suffix == ".parquet":
        check_parquet()
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise OptionError(f"limit must be a whole number of at least 1, got {limit!r}.")
    check_workers(workers)


def _take_up(summary: Summary, explainer: "Explainer", pairs: Iterator[tuple[Row, Item]]) -> None:
    """Take in the rows of an earlier run; the first and the last explanation are made again."""
    first = last = None
    for pair in pairs:
        summary.add(pair[0])
        if pair[0]["error"] is None:
            first, last = first or pair, pair
    summary.resumed = summary.documents
    again = [first] if first is last else [first, last]
    check_model(explainer, [pair for pair in again if pair is not None])


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
    return type(explainer)(explainer.given, **options_of(explainer) | {"progress": None})


def _labelled(items: Iterator[Item], label: Label | None) -> Iterator[Item]:
    return items if label is None else (replace(item, label=label) for item in items)


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
