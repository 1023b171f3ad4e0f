"""Workers on a dask cluster, each checked when it joins and given the model once.

A worker must have kedge in the same version, be able to unpack the model, have the same copy of the
modules it is made of, and give the same answers as here; one that does not is left out, and its documents go
to the others.
Workers may join and leave while a run lasts.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from kedge.corpus.items import Item
from kedge.corpus.remedies import CONTINUE
from kedge.corpus.workers.dispatch import Done, Lost
from kedge.corpus.workers.inspection import (
    Credentials,
    credentials,
    differences,
    explain_there,
    install,
    is_installed,
)
from kedge.corpus.workers.task import Form
from kedge.corpus.workers.transfer import pack
from kedge.errors import MissingDependency, OptionError, WorkerError
from kedge.utils.messages import name_error

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = ["Cluster", "connected"]

# How often, in seconds, it is looked which workers there are.
LOOK = 1.0
# How long, in seconds, a run waits for a worker when there is none, and for a lost scheduler to come back.
WAIT_FOR_WORKERS, WAIT_FOR_SCHEDULER = 60.0, 10.0


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address, for as long as the run lasts."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingDependency("A dask cluster needs dask.distributed: pip install 'kedge[dask]'.") from None
    try:
        client = distributed.Client(address, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise OptionError(
            f"No dask scheduler answers at {address} ({error}); start one with `dask scheduler`."
        ) from error
    try:
        yield client
    finally:
        with suppress(Exception):  # a scheduler that is gone cannot be said goodbye to
            client.close(timeout=2)


class _Thread:
    """One thread of a dask worker: takes a batch at a time."""

    def __init__(self, cluster: "Cluster", address: str) -> None:
        self.address, self._cluster = address, cluster
        self.task: Any = None

    def send(self, items: Sequence[Item]) -> None:
        """Give it a batch."""
        self.task = self._cluster.submit(self, list(items))

    def end(self) -> None:
        """Give it up; what runs in a thread cannot be ended, but its whole process can, if dask minds it."""
        self._cluster.give_up(self)


class Cluster:
    """A fleet of dask workers.

    Parameters
    ----------
    client
        A client of the cluster.
    explainer
        How to explain.
    form
        What workers give back for each document.
    timeout
        Seconds that one document may take.
    note
        Called with each worker that is left out, and why.
    """

    depth = 1  # which thread of a worker takes which of two tasks is dask's to say
    batch_seconds = 1.0

    def __init__(
        self,
        client: Any,
        explainer: "Explainer",
        form: Form,
        timeout: float | None = None,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._client, self._explainer, self._note = client, explainer, note
        self._form, self._timeout = form, timeout
        self._name = pack(explainer).name
        self._wanted: Credentials = credentials(explainer)
        self._data: Any = None  # the explainer on the cluster, while workers still need it
        self._threads: dict[str, list[_Thread]] = {}
        self._joining: dict[str, Any] = {}
        self._refused: dict[str, str] = {}
        self._events: SimpleQueue[tuple[str, Any, Any]] = SimpleQueue()
        self._fresh = False  # whether a worker has joined since the last answer
        self._looked, self._alone_since, self._silent_since = 0.0, time.monotonic(), 0.0

    def workers(self) -> Sequence[_Thread]:
        """The threads of the workers that have passed."""
        return [thread for threads in self._threads.values() for thread in threads]

    def wait(self, seconds: float | None) -> Iterable[Done | Lost]:
        """What has come back, and who is gone."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            events = self._look()
            left = LOOK if end is None else min(LOOK, max(0.0, end - time.monotonic()))
            with suppress(Empty):
                events += self._heard(*self._events.get(timeout=left if not events else 0.0))
                while True:
                    events += self._heard(*self._events.get_nowait())
            if events or self._fresh or (end is not None and time.monotonic() >= end):
                self._fresh = False
                return events

    def submit(self, thread: _Thread, items: list[Item]) -> Any:
        """Have a batch explained by a thread of a worker."""
        return self._ask("batch", thread, explain_there, self._name, items, self._form, self._timeout)

    def _ask(self, kind: str, who: Any, function: Any, *arguments: Any) -> Any:
        address = who.address if isinstance(who, _Thread) else who
        future = self._client.submit(
            function, *arguments, workers=[address], allow_other_workers=False, pure=False, retries=0
        )
        future.add_done_callback(lambda done: self._events.put((kind, who, done)))
        return future

    def _look(self) -> list[Done | Lost]:
        """Who has joined, and who has left."""
        now = time.monotonic()
        if self._client.status != "running":
            self._silent_since = self._silent_since or now
            if now - self._silent_since > WAIT_FOR_SCHEDULER or self._client.status == "closed":
                raise WorkerError(
                    f"The dask scheduler at {self._address} is gone; start it again, and ",
                    CONTINUE,
                )
            return []
        self._silent_since = 0.0
        if now - self._looked < LOOK:
            return []
        self._looked = now
        try:
            present = self._client.sync(self._client.scheduler.ncores, callback_timeout=5)
        except Exception:  # noqa: BLE001  (the next look will see that the scheduler is gone)
            return []
        for address, count in present.items():
            if address not in self._threads and address not in self._joining and address not in self._refused:
                self._joining[address] = (count, self._ask("joined", address, is_installed, self._name))
        gone = [address for address in self._threads if address not in present]
        for address in [a for a in self._joining if a not in present]:
            del self._joining[address]
        events: list[Done | Lost] = [
            e for address in gone for e in self._drop(address, "its dask worker is gone")
        ]
        self._check_there_are_workers(present, now)
        return events

    def _check_there_are_workers(self, present: dict[str, int], now: float) -> None:
        if self._threads or self._joining:
            self._alone_since = now
            return
        if present and all(address in self._refused for address in present):
            address, why = next(iter(self._refused.items()))
            raise WorkerError(f"No dask worker can be used; the one at {address} says: {why}")
        if now - self._alone_since > WAIT_FOR_WORKERS:
            raise WorkerError("The dask cluster has no workers; start some with `dask worker`.")

    def _heard(self, kind: str, who: Any, future: Any) -> list[Done | Lost]:
        if kind != "batch":
            self._examine(kind, who, future)
            return []
        if who not in self._threads.get(who.address, ()):  # given up, or gone
            return []
        if future.status == "finished":
            results, seconds = future.result()
            return [Done(who, results, seconds)]
        if future.status == "cancelled":  # with its worker, or with the scheduler
            return list(self._drop(who.address, "its dask worker is gone"))
        # Something is wrong with this worker, or with the batch: which, shows when its documents are alone.
        return list(self._drop(who.address, _said(future.exception()), outside=False))

    def _examine(self, kind: str, address: str, future: Any) -> None:
        """Take a worker in, step by step: has it the model; if not give it; is it as it should be."""
        if address not in self._joining:
            return
        count, _ = self._joining[address]
        if future.status == "cancelled":
            del self._joining[address]  # it will be looked at again
        elif future.status != "finished":
            self._refuse(address, _said(future.exception()))
        elif kind == "joined" and future.result() is None:
            if self._data is None or self._data.status != "finished":
                self._data = self._client.scatter(pack(self._explainer).data, hash=False)
            self._joining[address] = (count, self._ask("installed", address, install, self._name, self._data))
            return
        elif found := differences(self._wanted, future.result()):
            self._refuse(address, found)
        else:
            del self._joining[address]
            self._threads[address] = [_Thread(self, address) for _ in range(count)]
            self._fresh = True
        if not self._joining:
            self._data = None  # workers have unpacked it: the bytes need not stay

    def _refuse(self, address: str, why: str) -> None:
        self._joining.pop(address, None)
        self._refused[address] = why
        if self._note is not None:
            self._note(f"The dask worker at {address} was left out: {why}")

    def _drop(self, address: str, why: str, *, outside: bool = True) -> Iterator[Lost]:
        """Forget a worker; if it is still there it will be looked at again."""
        for thread in self._threads.pop(address, ()):
            if thread.task is not None:
                thread.task.cancel()
            yield Lost(thread, why, outside)

    def give_up(self, thread: _Thread) -> None:
        """Do without a thread whose task does not end."""
        threads = self._threads.get(thread.address, [])
        if thread in threads:
            threads.remove(thread)
        if not threads:
            self._threads.pop(thread.address, None)
            self._refuse(thread.address, "it does not come back from a document.")
        with suppress(Exception):  # without a nanny it cannot be started again
            self._client.restart_workers([thread.address], timeout=5, raise_for_error=False)

    @property
    def _address(self) -> str:
        return str(getattr(self._client.scheduler, "address", None) or "its address")

    def close(self) -> None:
        """Give nothing more to do."""
        for threads in self._threads.values():
            for thread in threads:
                if thread.task is not None:
                    thread.task.cancel()
        self._threads, self._data = {}, None


def _said(error: BaseException | None) -> str:
    return "nothing is known." if error is None else f"{name_error(error).rstrip('.')}."
