"""Where batches run: in this process, in processes on this machine, or on a cluster.

joblib does the running, through whichever backend the user has chosen: ``joblib.parallel_config(...)``
around the call, or ``workers=`` and ``dask=``. What is added here is how the explainer gets to the
workers, and that a task lost by dask is an error instead of an endless wait.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedge.corpus.task import Shipment, live_with, packed
from kedge.errors import MissingDependency, OptionError

if TYPE_CHECKING:
    from kedge.explain import Explainer

__all__ = ["Place", "check_workers", "place"]


class Place:
    """Where to run.

    Parameters
    ----------
    cargo
        What tasks carry: a shipment, or the explainer itself within one process.
    backend
        A joblib backend, or None for this very process.
    workers
        How many tasks at a time.
    options
        What else the backend is told.
    renewed
        Gives a fresh backend after workers were lost; None where the old one recovers by itself.
    """

    def __init__(
        self,
        cargo: "Shipment | Explainer",
        backend: Any = None,
        workers: int = 1,
        options: Mapping[str, Any] | None = None,
        renewed: Callable[[], Any] | None = None,
    ) -> None:
        self.cargo, self.backend, self.workers = cargo, backend, workers
        self._options = dict(options or {})
        self._renewed = renewed

    def parallel(self, **options: Any) -> Any:
        """A joblib.Parallel on this backend."""
        from joblib import Parallel

        return Parallel(n_jobs=self.workers, backend=self.backend, **self._options, **options)

    @property
    def streams(self) -> bool:
        """Whether results come back one by one; from some backends (ray, Spark) only a round at a time."""
        return self.backend == "loky" or bool(getattr(self.backend, "supports_return_generator", False))

    def renew(self) -> None:
        """Make the place usable again after workers were lost."""
        if self._renewed is not None:
            self.backend = self._renewed()


def check_workers(workers: int | None) -> None:
    """Refuse a number of workers that cannot be meant."""
    if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers == 0):
        raise OptionError(f"workers must be a whole number other than 0, got {workers!r}; -1 is all cores.")


def chosen(workers: int | None, dask: str | None) -> tuple[Any, int]:
    """The joblib backend (None: this process) and the number of workers.

    An explicit choice wins over a surrounding ``joblib.parallel_config``, and that over all cores.
    """
    from joblib import cpu_count
    from joblib.parallel import get_active_backend

    check_workers(workers)
    if dask is not None:
        return _dask_backend(dask), -1
    around, n_jobs = get_active_backend()
    if type(around).__name__ == "SequentialBackend" and workers is None:
        return None, 1
    if type(around).__name__ not in {"LokyBackend", "SequentialBackend"}:
        return around, n_jobs if workers is None else workers
    if workers is None:
        workers = n_jobs if n_jobs not in {None, 1} else -1
    count = workers if workers > 0 else max(1, cpu_count() + 1 + workers)
    return (None, 1) if count == 1 else ("loky", count)


@contextmanager
def place(explainer: "Explainer", workers: int | None = None, dask: str | None = None) -> Iterator[Place]:
    """Set up the place, and clean up after it."""
    backend, count = chosen(workers, dask)
    kind = backend if isinstance(backend, str) else type(backend).__name__
    if backend is None or kind == "ThreadingBackend":
        yield Place(explainer, backend, count)
        return
    name, data = packed(explainer)
    if kind == "loky":
        folder = Path(tempfile.mkdtemp(prefix="kedge-"))
        try:
            path = folder / "explainer.pickle"
            path.write_bytes(data)
            start = {"initializer": live_with, "initargs": (os.getpid(),)}
            yield Place(Shipment(name, path), "loky", count, start)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return
    cargo = Shipment(name, data=data)
    if kind == "DaskDistributedBackend":
        with _dask_place(backend, cargo) as on_cluster:
            yield on_cluster
        return
    # Ray, Spark and others: the explainer travels with each batch, which their own object stores and
    # serialisers may share; each process unpacks it once.
    yield Place(cargo, backend, count)


def _dask_backend(address: str) -> Any:
    distributed = _distributed()
    from joblib._dask import DaskDistributedBackend

    try:
        client = distributed.Client(address, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise OptionError(
            f"No dask scheduler answers at {address} ({error}); start one with `dask scheduler`."
        ) from error
    backend = DaskDistributedBackend(client=client)
    backend.kedge_owns_client = True
    return backend


@contextmanager
def _dask_place(backend: Any, cargo: Shipment) -> Iterator[Place]:
    """A dask cluster whose workers have the shipment already, and get it again when all are new."""
    client = backend.client

    def make() -> Any:
        try:
            client.wait_for_workers(1, timeout=60)
        except TimeoutError as error:
            raise OptionError("The dask cluster has no workers; start some with `dask worker`.") from error
        return _safe_dask(client, cargo)

    try:
        first = make()
        yield Place(cargo, first, max(1, sum(client.ncores().values())), renewed=make)
    finally:
        if getattr(backend, "kedge_owns_client", False):
            client.close()


def _safe_dask(client: Any, cargo: Shipment) -> Any:
    """Joblib's dask backend, but for tasks that dask gives up on.

    joblib's backend stores the exception of such a task (its worker was killed once too often, say)
    and never tells the waiting call about it. Here it is told.
    """
    from joblib._dask import DaskDistributedBackend

    class Safe(DaskDistributedBackend):  # type: ignore[misc]
        def submit(self, func: Any, callback: Any = None) -> Any:
            future = super().submit(func, callback)

            def tell(done: Any) -> None:
                if callback is not None and done.exception() is not None:
                    callback(_Lost(done.exception()))

            future.add_done_callback(tell)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, _Lost):
                raise out.error
            if isinstance(out, BaseException):  # a task whose data went with the last worker
                raise out
            return super().retrieve_result_callback(out)

    return Safe(client=client, scatter=[cargo])


@dataclass(frozen=True)
class _Lost:
    error: BaseException


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingDependency("A dask cluster needs dask.distributed: pip install 'kedge[dask]'.") from None
    return distributed
