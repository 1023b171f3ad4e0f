"""Where documents are explained: in this process, in processes of this machine, on a dask cluster, by joblib.

``workers=`` and ``dask=`` choose, or a ``joblib.parallel_config`` around the call. kedge has workers of its
own on this machine and on a dask cluster: there it knows which worker died of which document, and can end
one that takes too long. Whatever else joblib knows (threads, ray, Spark) does what joblib lets it do.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from itertools import islice
from typing import TYPE_CHECKING, Any

from kedge.corpus.items import Item
from kedge.corpus.workers.dispatch import explained
from kedge.corpus.workers.joblib_backend import explained_in_rounds
from kedge.corpus.workers.processes import Processes
from kedge.corpus.workers.task import Form, batches_help, explain_each, without_progress
from kedge.corpus.workers.transfer import pack, stored
from kedge.errors import ModelError, OptionError
from kedge.utils.sentences import Option

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = ["check_timeout", "check_workers", "explained_somewhere"]

# Documents per batch in this very process, where batches help: most of what there is to gain, while
# rows are still written several times a second.
ALONE = 32


def check_workers(workers: int | None) -> None:
    """Refuse a number of workers that cannot be meant."""
    if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers == 0):
        raise OptionError(
            Option("workers"),
            f" must be a whole number other than 0, got {workers!r}; -1 is all cores.",
            value=workers,
        )


def check_timeout(timeout: float | None) -> None:
    """Refuse a time limit that cannot be meant."""
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0
    ):
        raise OptionError(
            Option("timeout"), f" must be a number of seconds above 0, got {timeout!r}.", value=timeout
        )


def explained_somewhere(
    explainer: "Explainer",
    items: Iterator[Item],
    form: Form = "outcome",
    *,
    workers: int | None = None,
    dask: str | None = None,
    timeout: float | None = None,
    isolate: bool = False,
    note: Callable[[str], None] | None = None,
) -> Generator[Any]:
    """What becomes of each item, in order, from wherever the caller wants them explained.

    Parameters
    ----------
    explainer, items, form
        How to explain what, and what to give back for each.
    workers, dask
        How many processes (None: all cores, or what a ``parallel_config`` says), or a scheduler's address.
    timeout
        Seconds that one document may take.
    isolate
        With one worker too, explain in another process: so that no document can end this one.
    note
        Called with what else the user should know.
    """
    explainer = without_progress(explainer)
    if dask is not None:
        from kedge.corpus.workers.dask_cluster import connected

        with connected(dask) as client:
            yield from _on_cluster(explainer, items, form, client, timeout, note)
        return
    backend, count = _chosen(workers)
    kind = type(backend).__name__
    if kind == "DaskDistributedBackend":
        yield from _on_cluster(explainer, items, form, backend.client, timeout, note)
    elif backend is not None:
        if timeout is not None:
            raise OptionError(
                Option("timeout"), f" needs kedge's own workers, or dask: joblib's {kind} cannot end a task."
            )
        cargo = explainer if kind == "ThreadingBackend" else pack(explainer)
        yield from explained_in_rounds(items, cargo, backend, count, form)
    elif count > 1 or timeout is not None:
        yield from _in_processes(explainer, items, form, count, timeout)
    elif isolate:
        yield from _isolated(explainer, items, form)
    else:
        yield from _in_this_process(explainer, items, form)


def _chosen(workers: int | None) -> tuple[Any, int]:
    """The joblib backend (None: workers of our own) and the number of workers.

    An explicit choice wins over a surrounding ``joblib.parallel_config``, and that over all cores.
    """
    from joblib import cpu_count
    from joblib.parallel import get_active_backend

    check_workers(workers)
    around, n_jobs = get_active_backend()
    kind = type(around).__name__
    if kind == "SequentialBackend" and workers is None:
        return None, 1
    if kind not in {"LokyBackend", "SequentialBackend"}:
        if kind == "DaskDistributedBackend":
            return around, 1
        # A negative number, or none, means what the backend takes it to mean.
        return around, int(around.effective_n_jobs(n_jobs if workers is None else workers))
    if workers is None:
        workers = n_jobs if n_jobs not in {None, 1} else -1
    return None, workers if workers > 0 else max(1, cpu_count() + 1 + workers)


def _in_this_process(explainer: "Explainer", items: Iterator[Item], form: Form) -> Generator[Any]:
    several = ALONE if batches_help(explainer) else 1
    while batch := list(islice(items, several)):
        yield from explain_each(explainer, batch, form)


def _in_processes(
    explainer: "Explainer", items: Iterator[Item], form: Form, count: int, timeout: float | None
) -> Generator[Any]:
    with stored(explainer) as where, closing(Processes(where, count, form, timeout)) as fleet:
        yield from explained(items, fleet, form, timeout)


def _isolated(explainer: "Explainer", items: Iterator[Item], form: Form) -> Generator[Any]:
    """In one other process; in this one, if the model cannot be taken there."""
    with ExitStack() as stack:
        try:
            where = stack.enter_context(stored(explainer))
            fleet = stack.enter_context(closing(Processes(where, 1, form)))
            fleet.prove()
        except ModelError:
            yield from _in_this_process(explainer, items, form)
        else:
            yield from explained(items, fleet, form)


def _on_cluster(
    explainer: "Explainer",
    items: Iterator[Item],
    form: Form,
    client: Any,
    timeout: float | None,
    note: Callable[[str], None] | None,
) -> Generator[Any]:
    from kedge.corpus.workers.dask_cluster import Cluster

    with closing(Cluster(client, explainer, form, timeout, note)) as fleet:
        yield from explained(items, fleet, form, timeout)
