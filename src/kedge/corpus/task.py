"""What runs in a worker: a batch of documents in, their outcomes out.

The explainer travels once per worker, not once per document: tasks carry a ``Shipment``, a name under
which a worker finds the explainer it has already unpacked, and where to fetch it the first time.
"""

import os
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kedge.corpus.items import Item
from kedge.corpus.outcome import Outcome
from kedge.errors import KedgeError, ModelError
from kedge.model.model import Predictions

if TYPE_CHECKING:
    from kedge.explain import Explainer

__all__ = ["Form", "Shipment", "batches_help", "explain_batch", "live_with", "packed", "ready"]

Form = Literal["outcome", "line", "full line"]
"""What a worker gives back: outcomes, or lines of JSON (made there, where the cores are)."""

# The explainers this process has unpacked, by name. One run needs one; a few are kept for callers
# that alternate between models.
_UNPACKED: dict[str, "Explainer"] = {}
_KEPT = 4


@dataclass(frozen=True)
class Shipment:
    """An explainer on its way to the workers.

    Parameters
    ----------
    name
        A hash of its content.
    path
        The file that holds it, where workers share a disk with us.
    data
        The content itself, where they may not.
    """

    name: str
    path: Path | None = None
    data: bytes | None = field(default=None, repr=False)


def packed(explainer: "Explainer") -> tuple[str, bytes]:
    """An explainer as bytes, functions defined in a notebook included, and their name."""
    import cloudpickle

    try:
        data: bytes = cloudpickle.dumps(explainer)
    except Exception as error:
        raise ModelError(
            f"The model cannot be sent to other processes ({type(error).__name__}: {error}); use one worker, "
            "or make the model picklable."
        ) from error
    return blake2b(data, digest_size=16).hexdigest(), data


def unpack(shipment: Shipment) -> "Explainer":
    """The explainer, unpacked when this process sees it for the first time."""
    if shipment.name not in _UNPACKED:
        import pickle

        data = shipment.data if shipment.path is None else shipment.path.read_bytes()
        if data is None:
            raise ModelError("The shipment holds no explainer.")
        while len(_UNPACKED) >= _KEPT:
            del _UNPACKED[next(iter(_UNPACKED))]
        _UNPACKED[shipment.name] = pickle.loads(data)  # noqa: S301  (our own, made a moment ago)
    return _UNPACKED[shipment.name]


def live_with(parent: int) -> None:
    """Live exactly as long as the run that started this worker.

    Ctrl-C reaches every process of a terminal; it is the run's to obey, and to end its workers. And
    kill -9 leaves no one to end them, so they watch for that themselves.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=watch, daemon=True, name="kedge-watch").start()


def ready(shipment: Shipment) -> int:
    """Load the explainer, and say in which process."""
    unpack(shipment)
    return os.getpid()


def explain_batch(
    source: "Shipment | Explainer", items: Sequence[Item], form: Form = "outcome"
) -> tuple[list[Any], float]:
    """Outcomes of some documents, in order, and how many seconds they took."""
    started = time.perf_counter()
    explainer = unpack(source) if isinstance(source, Shipment) else source
    known = _predictions(explainer, items)
    outcomes = [explain_item(explainer, item, k) for item, k in zip(items, known, strict=True)]
    if form == "outcome":
        return outcomes, time.perf_counter() - started
    lines = [outcome.to_line(full=form == "full line") for outcome in outcomes]
    return lines, time.perf_counter() - started


def batches_help(explainer: "Explainer") -> bool:
    """Whether one call about many documents saves time that matters, and cannot change an answer.

    For a model whose inside is read, the one question left, which label the document has, costs about
    as much as all the rest, most of it per call. Its arithmetic goes row by row, so that the answer
    does not depend on what else is asked. A black box is asked thousands of times per document, in
    batches already.
    """
    return explainer.model.additive is not None or explainer.model.leaves is not None


def _predictions(explainer: "Explainer", items: Sequence[Item]) -> list[Predictions | None]:
    """The model's answers about several documents from one call, where that helps."""
    known: list[Predictions | None] = [None] * len(items)
    if len(items) > 1 and batches_help(explainer):
        usable = [k for k, item in enumerate(items) if isinstance(item.text, str) and item.text.strip()]
        try:
            answers = explainer.model.predict([items[k].text for k in usable])
        except Exception:  # noqa: BLE001  (each will be asked alone, and the culprit have its own error)
            return known
        for at, k in enumerate(usable):
            known[k] = answers.of(at)
    return known


def explain_item(explainer: "Explainer", item: Item, known: Predictions | None = None) -> Outcome:
    """One document: an explanation, or the reason why there is none. Never raises."""
    if item.problem is not None:
        return failed(item, f"TextError: {item.problem}")
    try:
        explanation = explainer.explain(item.text, item.label, known=known)
    except KedgeError as error:
        return failed(item, f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001  (a single document must not end the run)
        return failed(item, f"{type(error).__name__}: {error} (not foreseen: please report it)")
    return Outcome(item.row, item.id, item.digest, explanation)


def failed(item: Item, reason: str) -> Outcome:
    """A document without an explanation."""
    return Outcome(item.row, item.id, item.digest, None, reason)
