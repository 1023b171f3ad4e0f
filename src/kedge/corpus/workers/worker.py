"""The life of a worker process: load the explainer, then explain batch after batch.

One thread takes batches out of the pipe, so that the sender never waits, and notices when the run
is gone: a worker does not outlive it, and clears up after it.
"""

import os
import pickle
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from kedge.corpus.outcome import Outcome
from kedge.corpus.workers.task import Form, explain_each, without_progress
from kedge.corpus.workers.transfer import StoredExplainer, pickled
from kedge.errors import Failure
from kedge.utils.deadline import Deadline
from kedge.utils.messages import first_line

if TYPE_CHECKING:
    from kedge.corpus.items import Item

__all__ = ["run_worker"]

# Results are sent when there are some and this many seconds have passed since the last.
SEND = 0.02
# How often, in seconds, a worker looks whether its run is still there.
LOOK = 0.5


def run_worker(
    pipe: Connection, stored: StoredExplainer, form: Form, timeout: float | None, parent: int
) -> None:
    """Be a worker."""
    _settle_in()
    inbox: SimpleQueue[list[Item]] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, inbox, stored, parent), daemon=True).start()
    deadline = None if timeout is None else Deadline(timeout)
    try:
        explainer = without_progress(stored.load(), deadline)
    except BaseException as error:  # noqa: BLE001  (a model may raise anything when it is loaded)
        why = Failure(type(error).__name__, first_line(error))
        _post(pipe, pickled(("refused", why)))
        return
    _post(pipe, pickled(("ready",)))

    import joblib

    with joblib.parallel_config(backend="sequential"):  # the cores are taken: by the other workers
        while True:
            items = inbox.get()
            started, results = time.perf_counter(), []
            for result in explain_each(explainer, items, form, deadline):
                results.append(result)
                now = time.perf_counter()
                if now - started >= SEND or len(results) == len(items):
                    _post(pipe, _message(results, now - started))
                    started, results = now, []
            if results:
                _post(pipe, _message(results, time.perf_counter() - started))


def _post(pipe: Connection, message: bytes) -> None:
    try:
        pipe.send_bytes(message)
    except OSError:
        threading.Event().wait()  # the run is gone: the other thread clears up and ends us


def _message(results: list[Any], seconds: float) -> bytes:
    try:
        return pickled(("done", results, seconds))
    except Exception:  # noqa: BLE001  (something in an explanation, its label say, cannot be pickled)
        return pickled(("done", [_portable(result) for result in results], seconds))


def _portable(outcome: Outcome) -> Outcome:
    try:
        pickled(outcome)
    except Exception as error:  # noqa: BLE001
        why = Failure("WorkerError", f"Its explanation cannot be sent back by the worker ({error}).")
        return Outcome(outcome.row, outcome.id, outcome.digest, None, why)
    return outcome


def _settle_in() -> None:
    """Leave Ctrl-C and standard input to the run, and standard output to what the run says."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)


def _receive(
    pipe: Connection, inbox: "SimpleQueue[list[Item]]", stored: StoredExplainer, parent: int
) -> None:
    try:
        while True:
            _await(pipe, parent)
            inbox.put(pickle.loads(pipe.recv_bytes()))  # noqa: S301  (from the run that started us)
    except (EOFError, OSError):
        # A run that ends in good order ends us too. One that was killed leaves its folder to us; its pipe is
        # closed a moment before it is gone.
        for _ in range(20):
            if os.getppid() != parent:
                stored.discard()
                break
            time.sleep(0.1)
        os._exit(0)


def _await(pipe: Connection, parent: int) -> None:
    """Wait until there is something to receive; raises when the run is gone."""
    while not pipe.poll(LOOK):
        if os.getppid() != parent:  # another process may hold the pipe open
            raise EOFError
