"""A model in processes of its own, which can be ended whatever the model is doing.

A thread cannot be stopped while it computes outside Python; a process can. Each request gets one of a few
processes; one that had to be ended is replaced. The thread of the request passes messages on, and is the
one that the server's queue stops.
"""

import os
import pickle
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from kedge.corpus.workers.transfer import pack, pickled
from kedge.errors import KedgeError, ModelRaised
from kedge.utils.deadline import TimeIsUp
from kedge.utils.messages import name_error
from kedge.workbench.jobs import FIRM, Job, insist, raise_in

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = ["Isolated"]

# How often, in seconds, a request looks whether it was stopped while its process works.
_LOOK = 0.05

Answer = Callable[["Explainer", Job], Any]


class Isolated:
    """Answers in other processes: as many as work at the same time."""

    def __init__(self, explainer: "Explainer", count: int, seconds: float) -> None:
        self._packed, self._seconds = pack(explainer).data, seconds
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        for _ in range(count):
            self._start()

    def _start(self) -> None:
        self._idle.put(_Process(self._packed, self._seconds))

    def __call__(self, answer: Answer, job: Job) -> Any:
        """What ``answer(explainer, job)`` gives, computed in another process; raises what it raises."""
        process = self._idle.get()  # there is one for every job that is worked on
        try:
            value, error = process.ask(answer, job)
        except BaseException:
            process.end()
            self._start()
            raise
        self._idle.put(process)
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """End the processes that wait for work."""
        with suppress(Empty):
            while True:
                self._idle.get_nowait().end()


class _Process:
    """One process and the pipe to it."""

    def __init__(self, packed: bytes, seconds: float) -> None:
        from joblib.externals.loky.backend.context import get_context

        context: Any = get_context("loky")  # a fresh interpreter that does not run the user's script again
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, seconds), name="kedge-model", daemon=True)
        self._process.start()
        theirs.close()
        self._pipe.send_bytes(packed)

    def ask(self, answer: Answer, job: Job) -> tuple[Any, Exception | None]:
        """Have it answer; the job learns how far it is, and may stop the waiting by raising."""
        try:
            self._pipe.send_bytes(pickled(answer))
            while True:
                while not self._pipe.poll(_LOOK):
                    job.look()
                kind, *content = pickle.loads(self._pipe.recv_bytes())  # noqa: S301  (our own process's)
                if kind == "ended":
                    return content[0], content[1]
                job.queries = content[0]
        except (EOFError, OSError):
            self._process.join(5)
            raise ModelRaised(
                f"The model's process ended unexpectedly (exit code {self._process.exitcode})."
            ) from None

    def end(self) -> None:
        """Kill it."""
        with suppress(OSError, AttributeError):
            os.kill(self._process.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        self._process.join(5)
        self._pipe.close()


def _work(pipe: Connection, seconds: float) -> None:
    """The life of a process: load the explainer, then answer one request after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the server's
    insist()
    with suppress(EOFError, OSError):
        explainer: Explainer = pickle.loads(pipe.recv_bytes())  # noqa: S301  (from the server that started us)
        while True:
            answer: Answer = pickle.loads(pipe.recv_bytes())  # noqa: S301
            value, error = _answered(explainer, answer, _Reporting(seconds, pipe))
            pipe.send_bytes(_message(value, error))


def _answered(explainer: "Explainer", answer: Answer, job: Job) -> tuple[Any, Exception | None]:
    job.begin()
    alarm = threading.Timer(FIRM * job.seconds, raise_in, (threading.main_thread(), TimeIsUp))
    alarm.daemon = True
    alarm.start()
    try:
        return answer(explainer, job), None
    except Exception as error:  # noqa: BLE001  (whatever it is, the caller gets it)
        return None, error
    except TimeIsUp:
        return None, ModelRaised("The model did not answer in time.")
    finally:
        alarm.cancel()


def _message(value: Any, error: Exception | None) -> bytes:
    try:
        return pickled(("ended", value, error))
    except Exception:  # noqa: BLE001  (an exception of the model's own may not travel)
        kind = ModelRaised if isinstance(error, KedgeError) else RuntimeError
        return pickled(("ended", None, kind(name_error(error) if error is not None else "It cannot travel.")))


class _Reporting(Job):
    """A job whose progress is known in another process."""

    def __init__(self, seconds: float, pipe: Connection) -> None:
        super().__init__(seconds)
        self._pipe = pipe

    def progress(self, queries: int) -> None:
        """Tell the server, and end when the time is nearly over."""
        super().progress(queries)
        self._pipe.send_bytes(pickle.dumps(("progress", queries)))
