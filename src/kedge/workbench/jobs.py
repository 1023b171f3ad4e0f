"""A queue with few workers, a time limit, and jobs that can be stopped.

Each job has a thread to itself. Towards the end of its time it is stopped in three steps:
after the next batch of queries, for what was found; by ``TimeIsUp`` raised inside the
thread, for an estimate; and by ``Stopped``, to end. Its place is free again when the work has
really ended; until then it is *stuck*.
"""

import asyncio
import ctypes
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from kedge.errors import OutOfTime
from kedge.utils.deadline import TimeIsUp
from kedge.utils.memory import give_back

__all__ = ["FIRM", "Busy", "Job", "Jobs", "Stopped", "TimeLimit", "insist", "raise_in"]

# Parts of the time limit after which a search that queries, and one that computes, gives what it has.
_SOFT, FIRM = 0.6, 0.7
# A thread that does not end is interrupted again after so many seconds, one that missed it after so few.
_AGAIN, _SOON = 0.5, 0.01
# After a job of so many seconds memory is returned to the system.
_LONG = 0.5
# The weight of the latest job in the mean time that a job takes.
_LATEST = 0.2


class Busy(Exception):  # noqa: N818  (named for what happened, like kedge.errors)
    """The queue is full, or would not come to this job in time; ``seconds`` until it may be otherwise."""

    def __init__(self, seconds: float = 1.0) -> None:
        super().__init__()
        self.seconds = seconds


class TimeLimit(Exception):  # noqa: N818
    """The job did not end within the limit."""


class Stopped(BaseException):
    """Raised inside a job's thread; not an ``Exception``, so that no model can swallow it."""


class Job:
    """One piece of work in the queue: how far it is, and how to stop it."""

    def __init__(self, seconds: float) -> None:
        self.queries = 0
        self.task: asyncio.Task[Any]
        self.seconds = seconds
        self._started: float | None = None
        self._stop = threading.Event()
        self._stopped: float | None = None

    @property
    def started(self) -> bool:
        """Whether it is being worked on, not waiting any more."""
        return self._started is not None

    @property
    def worked(self) -> float:
        """Seconds since the work began."""
        return 0.0 if self._started is None else time.monotonic() - self._started

    @property
    def late(self) -> float:
        """Seconds since it was stopped."""
        return 0.0 if self._stopped is None else time.monotonic() - self._stopped

    def progress(self, queries: int) -> None:
        """Take note of the work's progress; raises when the work should end."""
        self.queries = queries
        self.look()
        if self.worked > _SOFT * self.seconds:
            raise OutOfTime(
                f"The time limit of {self.seconds:g} s was near after {queries:,} queries, so the search "
                "ended here."
            )

    def look(self) -> None:
        """Raise if the work was stopped."""
        if self._stop.is_set():
            raise Stopped

    def begin(self) -> None:
        """The clock starts when the waiting is over."""
        self._started = time.monotonic()

    def stop(self) -> None:
        """Ask the work to end."""
        self._stopped = time.monotonic()
        self._stop.set()


class Jobs:
    """The queue of one server."""

    def __init__(self, *, workers: int, waiting: int, seconds: float) -> None:
        insist()
        self._slots = asyncio.Semaphore(workers)
        self._workers, self._most = workers, workers + waiting
        self._seconds = seconds
        self._mean = 0.0  # of the seconds that jobs took lately
        self._ending: set[asyncio.Task[None]] = set()
        self._ended: set[Job] = set()  # stopped, and not yet gone
        self._idle: list[_JobThread] = []
        self.busy = 0

    @property
    def stuck(self) -> bool:
        """Whether no worker is left: all jobs were stopped, and none has ended."""
        return sum(job.late > _AGAIN for job in self._ended) >= self._workers

    def submit(self, work: Callable[[Job], Any]) -> Job:
        """Put some work in the queue; its ``task`` gives the result. Cancelling the task stops it."""
        ahead = max(0, self.busy + 1 - self._workers) / self._workers * self._mean
        if self.stuck or self.busy >= self._most or ahead > self._seconds:
            raise Busy(self._seconds if self.stuck else max(1.0, ahead))
        self.busy += 1
        job = Job(self._seconds)
        job.task = asyncio.get_running_loop().create_task(self._run(job, work))
        return job

    async def _run(self, job: Job, work: Callable[[Job], Any]) -> Any:
        try:
            async with asyncio.timeout(self._seconds):
                await self._slots.acquire()
        except BaseException as error:
            self.busy -= 1
            if isinstance(error, TimeoutError):
                raise Busy(self._seconds) from None
            raise
        job.begin()
        thread = self._idle.pop() if self._idle else _JobThread()
        outcome = thread.take(lambda: work(job))
        outcome.add_done_callback(lambda done: self._free(done, job, thread))
        try:
            await asyncio.wait({outcome}, timeout=FIRM * self._seconds)
            if not outcome.done():
                thread.interrupt(TimeIsUp)
                await asyncio.wait({outcome}, timeout=(1 - FIRM) * self._seconds)
        except asyncio.CancelledError:
            self._stop(job, outcome, thread)
            raise
        if outcome.done():
            return outcome.result()
        self._stop(job, outcome, thread)
        raise TimeLimit

    def _stop(self, job: Job, outcome: "asyncio.Future[Any]", thread: "_JobThread") -> None:
        """End a job whose client is gone or out of time."""
        if outcome.done():
            return
        job.stop()
        self._ended.add(job)
        ending = asyncio.get_running_loop().create_task(_end(outcome, thread))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _free(self, outcome: "asyncio.Future[Any]", job: Job, thread: "_JobThread") -> None:
        self.busy -= 1
        self._ended.discard(job)
        self._mean += _LATEST * (job.worked - self._mean)
        self._slots.release()
        if thread.interrupted:
            thread.dismiss()
        else:
            thread.rest()
            self._idle.append(thread)
        if not outcome.cancelled():
            outcome.exception()  # so that asyncio does not report it as never retrieved


class _JobThread(threading.Thread):
    """A thread that does one job after the other: a new one for each would cost as much as a short answer.

    What is raised inside a thread may come late. So a thread that was interrupted does no other job. All of
    this is decided in the thread of the event loop, where an outcome is made known.
    """

    def __init__(self) -> None:
        super().__init__(name="kedge-job", daemon=True)
        self.interrupted = False
        self._outcome: asyncio.Future[Any] | None = None
        self._inbox: SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self.start()

    def take(self, work: Callable[[], Any]) -> "asyncio.Future[Any]":
        """Do some work; the future has the result."""
        outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._outcome = outcome
        self._inbox.put((outcome, work))
        return outcome

    def interrupt(self, kind: type[BaseException]) -> None:
        """Raise an exception inside the work."""
        self.interrupted = True
        raise_in(self, kind)

    def rest(self) -> None:
        """Forget the job before."""
        self._outcome = None

    def dismiss(self) -> None:
        """Have the thread end when its work is done."""
        self._inbox.put(None)

    def run(self) -> None:
        """Wait for work, and do it."""
        with suppress(Stopped, TimeIsUp):  # interrupted too early or too late
            while (given := self._inbox.get()) is not None:
                self._do(*given)
                del given  # while it waits, a thread holds nothing of the job before
        if self._outcome is not None:
            self._tell(self._outcome, None, TimeLimit())

    def _do(self, outcome: "asyncio.Future[Any]", work: Callable[[], Any]) -> None:
        value, error = None, None
        started = time.monotonic()
        try:
            value = work()
        except BaseException as raised:  # noqa: BLE001  (a thread's last words go to the one who waits)
            error = raised if isinstance(raised, Exception) else TimeLimit()
        self._tell(outcome, value, error)
        if time.monotonic() - started > _LONG:
            give_back()

    def _tell(self, outcome: "asyncio.Future[Any]", value: Any, error: Exception | None) -> None:
        with suppress(RuntimeError):  # the server is gone
            outcome.get_loop().call_soon_threadsafe(_settle, outcome, value, error)


def _settle(outcome: "asyncio.Future[Any]", value: Any, error: Exception | None) -> None:
    if outcome.done():
        return
    if error is not None:
        outcome.set_exception(error)
    else:
        outcome.set_result(value)


def raise_in(thread: threading.Thread, kind: type[BaseException]) -> None:
    """Raise an exception inside a thread, the next time it runs Python code."""
    if thread.ident is not None and thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(kind))


def insist() -> None:
    """Have what is raised inside a thread raised again where Python ignores it.

    It may land in the callback of a weak reference, say, whose exceptions are printed and forgotten.
    """
    before = sys.unraisablehook
    if getattr(before, "insists", False):
        return

    def again(ignored: "sys.UnraisableHookArgs") -> None:
        if ignored.exc_type in {TimeIsUp, Stopped}:
            # From another thread: raised here and now it would be ignored like the first.
            threading.Timer(_SOON, raise_in, (threading.current_thread(), ignored.exc_type)).start()
        else:
            before(ignored)

    again.insists = True  # type: ignore[attr-defined]
    sys.unraisablehook = again


async def _end(outcome: "asyncio.Future[Any]", thread: _JobThread) -> None:
    """Raise ``Stopped`` inside a job until it ends."""
    while thread.is_alive():
        if outcome.done():
            return
        thread.interrupt(Stopped)
        await asyncio.wait({outcome}, timeout=_AGAIN)
    if not outcome.done():
        outcome.set_exception(TimeLimit())
