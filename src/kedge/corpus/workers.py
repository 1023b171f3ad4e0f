"""Many documents through a place's workers, in order, whatever happens to the workers.

Work goes out in rounds of a few seconds: a round holds a bounded number of documents, so memory does
not depend on the size of the corpus, and results come back in input order while it runs. A worker
that dies is replaced and its documents are done again. A document that kills its worker every time
becomes a row with that reason.
"""

import signal
import warnings
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from kedge.corpus.backends import Place
from kedge.corpus.items import Item
from kedge.corpus.task import Form, Shipment, batches_help, explain_batch, failed, ready
from kedge.errors import KedgeError, ModelError

__all__ = ["explained"]

# A batch should take about this long: far more than the few milliseconds it costs to send it, and
# short enough that little is lost with a worker and workers finish a round together.
SECONDS = 0.3
# Documents per batch at first, and at most.
FIRST, MOST = 4, 256
# Documents per batch in this very process, where batches help: most of what there is to gain, while
# rows are still written several times a second.
ALONE = 32
# Batches per worker and round: at its end workers wait for the last one, on average half a batch.
PER_ROUND = 24
# Characters of text in a round: what bounds memory when documents are long.
CHARACTERS = 1 << 24
# How often a round may lose its workers without finishing a document before its documents are
# tried one by one.
PATIENCE = 2
DIED = "WorkerDied"
"""The kind of error of a document that kills its worker."""


def explained(items: Iterator[Item], place: Place, form: Form = "outcome") -> Generator[Any]:
    """What becomes of each item, in order.

    Parameters
    ----------
    items
        The documents; read only as fast as they are explained.
    place
        Where to run.
    form
        What to give back for each: outcomes or lines of JSON.
    """
    if place.backend is None and not isinstance(place.cargo, Shipment):
        several = ALONE if batches_help(place.cargo) else 1
        while batch := list(islice(items, several)):
            yield from explain_batch(place.cargo, batch, form)[0]
        return
    _check(place)
    size = FIRST
    while batches := _round(items, size, place.workers):
        done, seconds = 0, 0.0
        for results, took in _survived(deque(batches), place, form):
            yield from results
            done, seconds = done + len(results), seconds + took
        if seconds > 0:
            # At most four times larger at a time: the first documents may not be typical.
            size = max(1, min(int(SECONDS * done / seconds), 4 * size, MOST))


def _round(items: Iterator[Item], size: int, workers: int) -> list[list[Item]]:
    batches: list[list[Item]] = []
    characters = 0
    while len(batches) < PER_ROUND * workers and characters < CHARACTERS:
        batch = list(islice(items, size))
        if not batch:
            break
        characters += sum(len(item.text) for item in batch if isinstance(item.text, str))
        batches.append(batch)
    return batches


def _survived(batches: deque[list[Item]], place: Place, form: Form) -> Iterator[tuple[list[Any], float]]:
    """Results of each batch, in order; lost workers are replaced and lost batches done again."""
    patience = PATIENCE
    while batches:
        try:
            for result in _streamed(batches, place, form):
                batches.popleft()
                patience = PATIENCE
                yield result
        except KedgeError:
            raise
        except Exception:  # noqa: BLE001  (each backend has its own errors for a lost worker)
            patience -= 1
            place.renew()
            if patience < 0:
                yield _one_by_one(batches.popleft(), place, form)
                patience = PATIENCE


def _one_by_one(items: Sequence[Item], place: Place, form: Form) -> tuple[list[Any], float]:
    """Documents one of which may kill its worker: each alone, twice at most."""
    results: list[Any] = []
    seconds = 0.0
    for item in items:
        for attempt in (1, 2):
            try:
                ((result,), took) = next(_streamed([[item]], place, form))
            except KedgeError:
                raise
            except Exception as error:  # noqa: BLE001
                place.renew()
                if attempt == 2:
                    reason = f"{DIED}: its worker died on this document, twice ({_named(error)})."
                    outcome = failed(item, reason)
                    results.append(outcome if form == "outcome" else outcome.to_line())
            else:
                results.append(result)
                seconds += took
                break
    return results, seconds


def _streamed(
    batches: Sequence[list[Item]] | deque[list[Item]], place: Place, form: Form
) -> Iterator[tuple[list[Any], float]]:
    from joblib import delayed

    tasks = [delayed(explain_batch)(place.cargo, batch, form) for batch in batches]
    if not place.streams:
        yield from place.parallel(batch_size=1)(tasks)
        return
    # One task at a time per dispatch: the batches are of the right size already.
    results = place.parallel(return_as="generator", batch_size=1)(tasks)
    try:
        for result in results:  # noqa: UP028  (it would close them before the warnings are off)
            yield result
    finally:
        with warnings.catch_warnings():  # whoever stops early knows that results are thrown away
            warnings.simplefilter("ignore")
            results.close()


def _check(place: Place) -> None:
    """Let one worker load the explainer, so that a model that cannot be loaded is told at once."""
    from joblib import delayed

    if not isinstance(place.cargo, Shipment):
        return
    for attempt in (1, 2):
        try:
            with _interrupted_later():
                place.parallel()([delayed(ready)(place.cargo)])
        except KedgeError:
            raise
        except Exception as error:
            if attempt == 2:
                raise ModelError(
                    f"The workers cannot load the model ({_named(error)}); use one worker, or see that "
                    "the workers have kedge, the model's libraries and memory enough."
                ) from error
        else:
            return


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Hold Ctrl-C back while workers start.

    They inherit that, and so do not each show where they were when the user interrupted the run; once
    they are there, the run obeys.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _named(error: BaseException) -> str:
    reason = str(error).strip().split("\n", maxsplit=1)[0]
    return f"{type(error).__name__}: {reason}" if reason else type(error).__name__
