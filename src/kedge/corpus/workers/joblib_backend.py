"""Any backend that joblib knows: threads, multiprocessing, ray, Spark.

Work goes out in rounds of a few seconds, because some of these give results only when all are there. They do
not report which worker was lost, or of which document: a round that fails is tried again, then its documents
one by one.
"""

import warnings
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from kedge.corpus.items import Item
from kedge.corpus.workers.dispatch import CHARACTERS, FIRST, KILLS, MOST, SECONDS
from kedge.corpus.workers.task import Form, explain_batch, formed
from kedge.errors import Failure, KedgeError, WorkerDied, WorkerError
from kedge.utils.messages import name_error

if TYPE_CHECKING:
    from kedge.corpus.workers.transfer import PackedExplainer
    from kedge.explainer import Explainer

__all__ = ["explained_in_rounds"]

# Batches per worker and round: at its end workers wait for the last one, on average half a batch.
PER_ROUND = 24
# How often a round may fail without finishing a batch before its documents are tried one by one.
PATIENCE = 2


class _Rounds:
    def __init__(self, cargo: "PackedExplainer | Explainer", backend: Any, workers: int, form: Form) -> None:
        self._cargo, self._backend, self._workers, self._form = cargo, backend, workers, form

    def run(self, items: Iterator[Item]) -> Generator[Any]:
        size = FIRST
        while batches := self._round(items, size):
            done, seconds = 0, 0.0
            for results, took in self._survived(deque(batches)):
                yield from results
                done, seconds = done + len(results), seconds + took
            if seconds > 0:
                size = max(1, min(int(SECONDS * done / seconds), 4 * size, MOST))

    def _round(self, items: Iterator[Item], size: int) -> list[list[Item]]:
        batches: list[list[Item]] = []
        characters = 0
        while len(batches) < PER_ROUND * self._workers and characters < CHARACTERS:
            if not (batch := list(islice(items, size))):
                break
            characters += sum(len(item.text) for item in batch if isinstance(item.text, str))
            batches.append(batch)
        return batches

    def _survived(self, batches: deque[list[Item]]) -> Iterator[tuple[list[Any], float]]:
        """Results of each batch, in order; lost batches are done again."""
        patience = PATIENCE
        while batches:
            try:
                for result in self._parallel(batches):
                    batches.popleft()
                    patience = PATIENCE
                    yield result
            except KedgeError:
                raise
            except Exception as error:  # noqa: BLE001  (each backend has its own errors for a lost worker)
                patience -= 1
                if patience < 0:
                    yield self._one_by_one(batches.popleft(), error), 0.0
                    patience = PATIENCE

    def _one_by_one(self, items: Sequence[Item], error: BaseException) -> list[Any]:
        """Documents one of which may kill its worker: each alone, a few times at most."""
        results: list[Any] = []
        for item in items:
            for _ in range(KILLS):
                try:
                    ((result,), _) = next(self._parallel([[item]]))
                except KedgeError:
                    raise
                except Exception as raised:  # noqa: BLE001
                    error = raised
                else:
                    results.append(result)
                    break
            else:
                why = WorkerDied(f"Its worker died of this document, {KILLS} times ({name_error(error)}).")
                results.append(formed(item.failed(Failure.of(why)), self._form))
        return results

    def _parallel(self, batches: Iterable[list[Item]]) -> Iterator[tuple[list[Any], float]]:
        from joblib import Parallel, delayed

        tasks = [delayed(explain_batch)(self._cargo, batch, self._form) for batch in batches]
        # One task at a time per dispatch: the batches are of the right size already.
        setting = {"n_jobs": self._workers, "backend": self._backend, "batch_size": 1}
        if not getattr(self._backend, "supports_return_generator", False):
            yield from Parallel(**setting)(tasks)
            return
        results = Parallel(**setting, return_as="generator")(tasks)
        try:
            for result in results:  # noqa: UP028  (it would close them before the warnings are off)
                yield result
        finally:
            with warnings.catch_warnings():  # stopping early discards results on purpose
                warnings.simplefilter("ignore")
                results.close()


def explained_in_rounds(
    items: Iterator[Item],
    cargo: "PackedExplainer | Explainer",
    backend: Any,
    workers: int,
    form: Form = "outcome",
) -> Generator[Any]:
    """What becomes of each item, in order.

    Parameters
    ----------
    items
        The documents; read only as fast as they are explained.
    cargo
        What tasks carry: the explainer packed up, or itself within one process.
    backend, workers
        A joblib backend, and how many tasks it does at a time.
    form
        What to give back for each: outcomes or lines of JSON.
    """
    if workers < 1:
        raise WorkerError(f"The backend {type(backend).__name__} offers {workers} workers.")
    yield from _Rounds(cargo, backend, workers, form).run(items)
