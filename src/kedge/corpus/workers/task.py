"""What a worker does with documents: explain each, or say why it cannot."""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from kedge.corpus.items import Check, Item
from kedge.corpus.outcome import Outcome
from kedge.corpus.workers.transfer import PackedExplainer, unpack
from kedge.errors import Failure, Inconsistent, TextError
from kedge.pipeline import Query
from kedge.studies.checking import Checked, check_anchor
from kedge.text.anchor import Anchor
from kedge.utils.deadline import Deadline
from kedge.utils.threads import one_thread

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = [
    "Form",
    "batches_help",
    "check_item",
    "explain_batch",
    "explain_each",
    "explain_item",
    "formed",
    "without_progress",
]

Form = Literal["outcome", "line", "full line"]
"""What a worker gives back: outcomes, or lines of JSON (made there, where the cores are)."""


def explain_each(
    explainer: "Explainer", items: Sequence[Item], form: Form, deadline: Deadline | None = None
) -> Iterator[Any]:
    """What becomes of each document, in order."""
    if deadline is not None:
        deadline.begin()
    known = _prepared(explainer, items)
    for k, item in enumerate(items):
        query, known[k] = known[k], None  # free what is done
        if deadline is not None:
            deadline.begin()
        if item.check is not None:
            yield check_item(explainer, item, item.check)
        else:
            yield item.done or formed(explain_item(explainer, item, query), form)


def explain_batch(
    source: "PackedExplainer | Explainer", items: Sequence[Item], form: Form = "outcome"
) -> tuple[list[Any], float]:
    """What becomes of some documents, in order, and how many seconds they took."""
    started = time.perf_counter()
    explainer = unpack(source) if isinstance(source, PackedExplainer) else source
    results = list(explain_each(explainer, items, form))
    return results, time.perf_counter() - started


def formed(outcome: Outcome, form: Form) -> Any:
    """An outcome in the requested form."""
    return outcome if form == "outcome" else outcome.to_line(full=form == "full line")


def batches_help(explainer: "Explainer") -> bool:
    """Whether one call about many documents saves time that matters, and cannot change an answer.

    For a model whose inside is read, the one question left, which label the document has, costs about
    as much as all the rest, most of it per call. Its arithmetic goes row by row, so that the answer
    does not depend on what else is in the batch. A black box is queried thousands of times per document, in
    batches already.
    """
    return explainer.model.additive is not None or explainer.model.leaves is not None


def _prepared(explainer: "Explainer", items: Sequence[Item]) -> list[Query | None]:
    """The model's answers about several documents from one call, where that helps."""
    known: list[Query | None] = [None] * len(items)
    if len(items) > 1 and batches_help(explainer):
        usable = [k for k, item in enumerate(items) if item.done is None and is_text(item.text)]
        try:
            queries = explainer.prepare_batch(
                [items[k].text for k in usable], [items[k].label for k in usable]
            )
        except Exception:  # noqa: BLE001  (each will be explained alone, and the culprit get its own error)
            return known
        for query, k in zip(queries, usable, strict=True):
            known[k] = query
    return known


def is_text(value: Any) -> bool:
    """Whether a model can be queried with a value."""
    return isinstance(value, str) and bool(value.strip())


def explain_item(explainer: "Explainer", item: Item, query: Query | None = None) -> Outcome:
    """One document: an explanation, or the reason why there is none. Never raises."""
    if item.problem is not None:
        return item.failed(Failure.of(TextError(item.problem)))
    try:
        # Harder removals are computed on first access. Rows and pipes between processes access everything,
        # which would double the time of a corpus: there they are given only on request.
        explanation = explainer.answer(query or Query(item.text, item.label), bare=True)
    except Exception as error:  # noqa: BLE001  (a single document must not end the run)
        return item.failed(Failure.of(error))
    return Outcome(item.row, item.id, item.digest, explanation)


@one_thread()
def check_item(explainer: "Explainer", item: Item, check: Check) -> Checked | Outcome:
    """The check of one anchor, or the reason why there is none. Never raises."""
    options = explainer.options
    try:
        reading = explainer.read(item.text, item.label)
        kept = reading.units.kept(Anchor(check.positions))
        if str(reading.label) != str(check.label):
            why = Inconsistent(f"The model says {reading.label!r} now, not {check.label!r}.")
            return item.failed(Failure.of(why))
        return check_anchor(
            reading, kept, options.threshold, level=check.level, samples=check.samples, seed=options.seed
        )
    except Exception as error:  # noqa: BLE001  (what cannot be checked is not proved)
        return item.failed(Failure.of(error))


def without_progress(explainer: "Explainer", deadline: Deadline | None = None) -> "Explainer":
    """The same explainer with another ``progress``, none or a deadline.

    A corpus has a progress of its own, and a caller's function cannot follow to other processes.
    """
    return explainer if explainer.options.progress is deadline else explainer.with_options(progress=deadline)
