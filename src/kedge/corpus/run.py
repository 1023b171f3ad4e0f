"""A whole corpus, from Python or from file to file."""

import json
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedge.corpus.audit import Auditor, audited_outcomes
from kedge.corpus.early_failure import fail_early
from kedge.corpus.feed import Feed, Tracked
from kedge.corpus.files.audits import AuditFile, written_rows
from kedge.corpus.files.journal import Intent, Journal
from kedge.corpus.files.readers import Source
from kedge.corpus.files.results import earlier_rows
from kedge.corpus.files.table import Table, check_parquet
from kedge.corpus.items import Item, items_of
from kedge.corpus.outcome import Line, Outcome
from kedge.corpus.promise import Promised, as_promise, proposing, unaudited
from kedge.corpus.remedies import OTHER_OUT
from kedge.corpus.resume import Row, check_model, paired, run_options
from kedge.corpus.summary import Summary
from kedge.corpus.workers.backends import check_timeout, check_workers, explained_somewhere
from kedge.corpus.workers.task import without_progress
from kedge.errors import OptionError, StorageError
from kedge.typing import Label
from kedge.utils.sentences import Option

if TYPE_CHECKING:
    from kedge.corpus.workers.task import Form
    from kedge.explainer import Explainer

__all__ = ["check_run", "explain_file", "explain_texts"]

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
    timeout: float | None = None,
    promise: Promised = "document",
) -> Iterator[Outcome]:
    """What becomes of each text, in order; see ``Explainer.explain_corpus``."""
    check_workers(workers)
    check_timeout(timeout)
    wanted = as_promise(promise)
    feed = Feed(items_of(texts, ids, label), "")  # refuses a single string now, not at the first `next`
    where = {"workers": workers, "dask": dask, "timeout": timeout}
    if wanted is None:
        return _outcomes(explainer, feed, **where)
    proposer = proposing(explainer)
    return audited_outcomes(Auditor(proposer, wanted, where), _outcomes(proposer, feed, **where), label)


def _outcomes(explainer: "Explainer", feed: Feed, **where: Any) -> Generator[Outcome]:
    given = 0
    with closing(explained_somewhere(explainer, feed, **where)) as outcomes:
        for outcome in outcomes:
            given += 1
            yield outcome
    feed.close(given)


def explain_file(
    explainer: "Explainer",
    source: Source,
    out: str | Path,
    *,
    workers: int | None = None,
    dask: str | None = None,
    timeout: float | None = None,
    resume: bool = False,
    retry_errors: bool = False,
    overwrite: bool = False,
    limit: int | None = None,
    label: Label | None = None,
    full: bool = False,
    promise: Promised = "document",
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
        How many processes (None or -1: all cores), or the address of a dask scheduler. One worker is another
        process too, so that no document can end the run.
    timeout
        Seconds that one document may take. A search that queries the model answers with the best it has found
        by then; what does not end is ended, and is a row with that reason.
    resume
        Go on where an interrupted run ended, once it is clear that it is the same run; one that is
        finished already stays as it is.
    retry_errors
        Go on, or begin where nothing is, and do those documents again whose rows are errors.
    overwrite
        Replace what is there.
    limit
        Only so many documents.
    label
        The label to explain, for a multi-label model.
    full
        Keep in each row the whole explanation, text and trace included.
    promise
        For each ``"document"`` one of its own; or, for black boxes, one for the ``"corpus"``:
        anchors are not proved one by one, but an audit of some proves how many of them reach the threshold.
    watch
        Called after every document with the summary so far and the position in the source.
    """
    out = Path(out)
    check_run(out, source, workers=workers, timeout=timeout, limit=limit)
    if overwrite and retry_errors:
        raise OptionError(
            Option("overwrite", True), " starts from scratch; leave out ", Option("retry_errors"), "."
        )
    intent: Intent = (
        "overwrite" if overwrite else "retry" if retry_errors else "resume" if resume else "begin"
    )
    if (wanted := as_promise(promise)) is not None:
        if source.once:
            raise OptionError(
                Option("promise", "corpus"), " reads the input a second time; save it to a file."
            )
        explainer = proposing(explainer)
    options = run_options(explainer, source, limit, label, full=full, promise=wanted)
    documents = Feed(_labelled(islice(iter(source), limit), label), source.name)
    run = _Run(without_progress(explainer), documents, watch, label, full=full)
    # What depends on the clock cannot be done again.
    again = run.explainer if timeout is None else None
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(out, options, intent))
        if journal.complete:
            run.take_up(paired(earlier_rows(out), documents, out.name), again)
            run.check_ended(out)
            if wanted is not None:
                run.summary.audit = AuditFile(journal.audit, options, fresh=False).result
            return run.summary
        new, about = out.with_name(out.name + ".new"), _provenance(options)
        table = None
        if out.suffix == ".parquet" and wanted is None:
            table = stack.enter_context(Table(new, full=full, about=about))
        checks = AuditFile(journal.audit, options, fresh=journal.fresh)
        run.take_up(paired(journal.recovered(), documents, journal.part.name), again, table)
        run.write(journal, table, workers=workers, dask=dask, timeout=timeout)
        documents.close(run.summary.documents)
        written = None if table is None else table.close()
        if wanted is not None:
            where = {"workers": workers, "dask": dask, "timeout": timeout, "isolate": True}
            again_read = _labelled(islice(iter(source), limit), label)
            audit = checks.complete(Auditor(run.explainer, wanted, where), journal.rows(), again_read)
            run.summary.take_in(audit)
            written = written_rows(map(audit.about, journal.rows()), new, full=full, about=about)
        journal.finish(written)
        if wanted is None:
            journal.audit.unlink(missing_ok=True)
    return run.summary


class _Run:
    """One run of ``explain_file``: what it is made of, and how far it is."""

    def __init__(
        self,
        explainer: "Explainer",
        documents: Feed,
        watch: Watcher | None,
        label: Label | None,
        *,
        full: bool,
    ) -> None:
        self.explainer, self.summary = explainer, Summary()
        self._documents, self._watch, self._label = documents, watch, label
        self._form: Form = "full line" if full else "line"

    def take_up(
        self, pairs: Iterator[tuple[Row, Item]], again: "Explainer | None", table: Table | None = None
    ) -> None:
        """Take in the rows of an earlier run; its first and its last explanation are made again."""
        first = last = None
        for pair in pairs:
            self.summary.add(pair[0])
            if table is not None:
                table.add(pair[0])
            if pair[0]["error"] is None:
                first, last = first or pair, pair
        self.summary.resumed = self.summary.documents
        ends = [first] if first is last else [first, last]
        if again is not None:
            check_model(again, [(unaudited(pair[0]), pair[1]) for pair in ends if pair is not None])

    def check_ended(self, out: Path) -> None:
        """Refuse a whole result of fewer documents than there are."""
        if next(self._documents, None) is not None:
            raise StorageError(
                f"{out.name} is complete with {self.summary.documents:,} rows, but the input has more "
                "documents now; ",
                OTHER_OUT,
            )

    def write(self, journal: Journal, table: Table | None, **where: Any) -> None:
        """Explain what is left, and write each row as it comes."""
        summary = self.summary
        if journal.damaged.exists():
            summary.notes.append(f"Lines that are no rows were set aside in {journal.damaged.name}.")
        # What an earlier run has written is there anyway.
        begun = summary.documents or journal.before.exists()
        items = Tracked(chain(self._kept(journal), self._documents))
        results = explained_somewhere(
            self.explainer, items, self._form, **where, isolate=True, note=summary.notes.append
        )
        with closing(results) as lines:
            for line in lines if begun else fail_early(lines, self._label):
                journal.append(line)
                row = line.to_row()
                summary.add(row)
                if table is not None:
                    table.add(row)
                position, done = items.passed()
                summary.resumed += done
                if self._watch is not None:
                    self._watch(summary, position)

    def _kept(self, journal: Journal) -> Iterator[Item]:
        """Documents of the run whose errors are retried: what is done stays, what failed is done again."""
        if not journal.before.exists():
            return
        rows = islice(earlier_rows(journal.before), self.summary.documents, None)
        for row, item in paired(rows, self._documents, journal.before.name):
            if row["error"] is None:
                yield replace(item, done=Line(json.dumps(unaudited(row), separators=(",", ":")) + "\n"))
            else:
                self.summary.retried += 1
                yield item


def check_run(
    out: str | Path,
    source: Source | None = None,
    *,
    workers: int | None = None,
    timeout: float | None = None,
    limit: int | None = None,
) -> None:
    """Refuse what cannot be done before anything is started."""
    out = Path(out)
    if out.suffix not in FORMATS:
        raise OptionError(f"{out.name} must end in one of {', '.join(FORMATS)}.")
    if out.suffix == ".parquet":
        check_parquet()
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise OptionError(
            Option("limit"), f" must be a whole number of at least 1, got {limit!r}.", value=limit
        )
    check_workers(workers)
    check_timeout(timeout)
    for file in () if source is None else source.files:
        if file.path is not None and file.path.resolve() in _written(out):
            raise OptionError(
                f"{file.name} is the input; choose another ", Option("out"), ", so that it is not replaced."
            )


def _written(out: Path) -> set[Path]:
    """The files that a run writes."""
    endings = ("", ".part", ".run", ".before", ".damaged", ".new", ".audit")
    return {out.with_name(out.name + ending).resolve() for ending in endings}


def _provenance(options: dict[str, Any]) -> dict[str, Any]:
    """Where results come from."""
    import kedge

    return {"kedge": kedge.__version__, "began": datetime.now(UTC).isoformat(timespec="seconds"), **options}


def _labelled(items: Iterator[Item], label: Label | None) -> Iterator[Item]:
    return items if label is None else (replace(item, label=label) for item in items)
