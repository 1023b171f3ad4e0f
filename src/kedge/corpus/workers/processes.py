"""Workers that are processes of this machine: started here, replaced when they die, ended with the run.

They are started by loky, which comes with joblib: a fresh interpreter that does not run the user's script
again. A worker's messages are tuples that begin with "ready", "refused" or "done".
"""

import atexit
import os
import pickle
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from kedge.corpus.items import Item
from kedge.corpus.workers.dispatch import SECONDS, Done, Lost
from kedge.corpus.workers.task import Form
from kedge.corpus.workers.transfer import StoredExplainer, pickled
from kedge.corpus.workers.worker import run_worker
from kedge.errors import Failure, ModelError, WorkerError

__all__ = ["Processes"]

# Processes in a row that die before they are ready, by themselves or killed, until the run gives up.
FAILED_STARTS, KILLED = 3, 10
# Libraries that start threads of their own; a worker's share of the cores is theirs.
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_FROM_OUTSIDE = {"SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"}


class _Process:
    """One worker process and the pipe to it."""

    def __init__(self, stored: StoredExplainer, form: Form, timeout: float | None, threads: int) -> None:
        from joblib.externals.loky.backend.context import get_context

        context: Any = get_context("loky")
        ours, theirs = context.Pipe()
        environment = {name: os.environ.get(name, str(threads)) for name in _THREADS}
        self.pipe: Connection = ours
        self.ready = False
        self._process = context.Process(
            target=run_worker,
            args=(theirs, stored, form, timeout, os.getpid()),
            env=environment,
            name="kedge-worker",
        )
        with _interrupts_held_back():
            self._process.start()
        theirs.close()

    def send(self, items: Sequence[Item]) -> None:
        """Give it a batch."""
        self.pipe.send_bytes(pickled(items))

    def end(self) -> None:
        """Kill it."""
        with suppress(OSError, AttributeError):  # it is gone already, or never came to be
            os.kill(self._process.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)

    def exit_reason(self) -> tuple[str, bool]:
        """Why it ended, and whether it may have been ended from outside."""
        self._process.join(5)
        code = self._process.exitcode
        self.pipe.close()
        if code is None:
            return "it closed its pipe", True
        if code >= 0:
            return f"it ended with exit code {code}", False
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"it was ended by {name}", name in _FROM_OUTSIDE


class Processes:
    """A fleet of worker processes.

    Parameters
    ----------
    stored
        The explainer.
    count
        How many workers.
    form
        What they give back for each document.
    timeout
        Seconds that one document may take.
    """

    depth = 2
    batch_seconds = SECONDS

    def __init__(self, stored: StoredExplainer, count: int, form: Form, timeout: float | None = None) -> None:
        from joblib import cpu_count

        self._start = (stored, form, timeout, max(1, cpu_count() // count))
        self._count, self._failed_starts = count, 0
        self._members: list[_Process] = []
        # At the end of the interpreter too, before the standard library waits for processes to end.
        atexit.register(self.close)

    def workers(self) -> Sequence[_Process]:
        """Those that are ready; what is missing is started."""
        while len(self._members) < self._count:
            try:
                self._members.append(_Process(*self._start))
            except OSError as error:
                if not self._members:
                    raise WorkerError(f"No worker process can be started: {error.strerror}.") from error
                self._count = len(self._members)  # go on with as many as there are
        return [member for member in self._members if member.ready]

    def wait(self, seconds: float | None) -> Iterable[Done | Lost]:
        """What workers have to say, or that they are gone."""
        pipes = {member.pipe: member for member in self._members}
        events: list[Done | Lost] = []
        for pipe in wait(list(pipes), seconds):
            member = pipes[pipe]  # type: ignore[index]
            try:
                kind, *content = pickle.loads(member.pipe.recv_bytes())  # noqa: S301  (our own worker's)
            except (EOFError, OSError):
                events.append(self._lost(member))
                continue
            if kind == "done":
                events.append(Done(member, *content))
            elif kind == "ready":
                member.ready, self._failed_starts = True, 0
            else:
                raise _cannot_load(content[0])
        return events

    def prove(self) -> None:
        """Wait until a worker has loaded the model; raises if none can."""
        while not self.workers():
            for _ in self.wait(None):
                pass

    def _lost(self, member: _Process) -> Lost:
        self._members.remove(member)
        reason, outside = member.exit_reason()
        if not member.ready:
            self._failed_starts += 1
            if self._failed_starts >= (KILLED if outside else FAILED_STARTS):
                raise WorkerError(
                    f"The workers die while they load the model ({reason}); use fewer workers, or see that "
                    "there is memory enough."
                )
        return Lost(member, reason, outside)

    def close(self) -> None:
        """End all workers."""
        atexit.unregister(self.close)
        members, self._members = self._members, []
        for member in members:
            member.end()
        for member in members:
            member.exit_reason()


def _cannot_load(why: Failure) -> ModelError:
    return ModelError(
        f"The workers cannot load the model ({why}); see that it can be pickled and that its modules can be "
        "imported in another process."
    )


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back while a worker starts.

    It inherits that, and so does not show where it was when the user interrupted the run; it is the run
    that obeys, and ends its workers.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
