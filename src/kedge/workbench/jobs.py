"""A queue with few workers, a time limit, and jobs that can be stopped.

Each job has a thread of its own. It is stopped twice over: politely, the next time the model has
been asked about a batch; and by an exception raised inside the thread, for a search that computes
without asking. Its place is free again when the thread has really ended.
"""

import asyncio
import ctypes
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from kedge.errors import OutOfQueries

__all__ = ["Busy", "Job", "Jobs", "Stopped", "TimeLimit"]

# Part of the time limit after which the search is asked for the best it has found so far.
_SOFT = 0.8
# A thread that does not end is told again after so many seconds.
_AGAIN = 0.5


class Busy(Exception):  # noqa: N818  (named for what happened, like kedge.errors)
    """The queue is full."""


class TimeLimit(Exception):  # noqa: N818
    """The job did not end within the limit."""


class Stopped(BaseException):
    """Raised inside a job's thread; not an ``Exception``, so that no model can swallow it."""


class Job:
    """One piece of work in the queue: how far it is, and how to stop it."""

    def __init__(self, seconds: float) -> None:
        self.queries = 0
        self.task: asyncio.Task[Any]
        self._seconds = seconds
        self._started: float | None = None
        self._stop = threading.Event()

    @property
    def started(self) -> bool:
        """Whether it is being worked on, not waiting any more."""
        return self._started is not None

    def progress(self, queries: int) -> None:
        """Take note of the work's progress; raises when the work should end."""
        self.queries = queries
        if self._stop.is_set():
            raise Stopped
        if self._started is not None and time.monotonic() - self._started > _SOFT * self._seconds:
            raise OutOfQueries(
                f"The time limit of {self._seconds:g} s was near after {queries:,} queries, so the search "
                "ended here."
            )

    def begin(self) -> None:
        """The clock starts when the waiting is over."""
        self._started = time.monotonic()

    def stop(self) -> None:
        """Ask the work to end."""
        self._stop.set()


class Jobs:
    """The queue of one server."""

    def __init__(self, *, workers: int, waiting: int, seconds: float) -> None:
        self._slots = asyncio.Semaphore(workers)
        self._most = workers + waiting
        self._seconds = seconds
        self._ending: set[asyncio.Task[None]] = set()
        self.busy = 0

    def submit(self, work: Callable[[Job], Any]) -> Job:
        """Put some work in the queue; its ``task`` gives the result. Cancelling the task stops it."""
        if self.busy >= self._most:
            raise Busy
        self.busy += 1
        job = Job(self._seconds)
        job.task = asyncio.get_running_loop().create_task(self._run(job, work))
        return job

    async def _run(self, job: Job, work: Callable[[Job], Any]) -> Any:
        try:
            await asyncio.wait_for(self._slots.acquire(), self._seconds)
        except BaseException as error:
            self.busy -= 1
            if isinstance(error, TimeoutError):
                raise Busy from None
            raise
        job.begin()
        outcome, thread = _in_thread(lambda: work(job))
        outcome.add_done_callback(self._free)
        try:
            return await asyncio.wait_for(asyncio.shield(outcome), self._seconds)
        except (TimeoutError, asyncio.CancelledError) as error:
            job.stop()
            ending = asyncio.get_running_loop().create_task(_end(outcome, thread))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
            if isinstance(error, TimeoutError):
                raise TimeLimit from None
            raise

    def _free(self, outcome: "asyncio.Future[Any]") -> None:
        self.busy -= 1
        self._slots.release()
        if not outcome.cancelled():
            outcome.exception()  # nobody may be waiting for it any more


def _in_thread(work: Callable[[], Any]) -> "tuple[asyncio.Future[Any], threading.Thread]":
    """Run some work in a thread of its own; the future tells when and how it ended."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if outcome.done():
            return
        if isinstance(error, Exception):
            outcome.set_exception(error)
        elif error is not None:
            outcome.set_exception(TimeLimit())
        else:
            outcome.set_result(value)

    def body() -> None:
        value, error = None, None
        try:
            value = work()
        except BaseException as raised:  # noqa: BLE001  (a thread's last words go to the one who waits)
            error = raised
        with suppress(RuntimeError):  # the server is gone
            loop.call_soon_threadsafe(settle, value, error)

    thread = threading.Thread(target=body, name="kedge-job", daemon=True)
    thread.start()
    return outcome, thread


async def _end(outcome: "asyncio.Future[Any]", thread: threading.Thread) -> None:
    """Raise ``Stopped`` inside a thread until it ends."""
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    while thread.is_alive():
        if thread.ident is not None:
            raise_in(ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped))
        await asyncio.wait({outcome}, timeout=_AGAIN)
        if outcome.done():
            return
    if not outcome.done():
        outcome.set_exception(TimeLimit())
