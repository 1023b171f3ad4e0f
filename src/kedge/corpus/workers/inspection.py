"""Whether a worker on another machine is fit to explain: what it says of itself, against what is true here.

Functions that run there are here too. They are found by name, so a worker needs kedge.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kedge.corpus.items import Item
from kedge.corpus.user_code import own_modules
from kedge.corpus.workers.task import Form, explain_each, without_progress
from kedge.corpus.workers.transfer import PackedExplainer, already_unpacked, unpack
from kedge.utils.deadline import Deadline

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = ["Credentials", "credentials", "differences", "explain_there", "install", "is_installed"]

# Texts that a worker's model is queried with, and how far its probabilities may be off: another processor
# rounds differently, an old copy of a model is further off.
PROBES = ("The food was not good, but the staff were friendly.", "GREAT!", "It took them 40 minutes, twice.")
TOLERANCE = 0.01


@dataclass(frozen=True)
class Credentials:
    """What shows that a worker is fit.

    Parameters
    ----------
    version
        Of kedge.
    modules
        The user's own modules that are loaded, and a hash of each file: libraries are left to their versions.
    answers
        What the model says about a few texts: a label and a probability each; None if it cannot be queried.
    """

    version: str
    modules: dict[str, str] = field(default_factory=dict)
    answers: tuple[tuple[str, float], ...] | None = None


def credentials(explainer: "Explainer") -> Credentials:
    """Those of this process."""
    import kedge

    return Credentials(kedge.__version__, own_modules(), _answers(explainer))


def differences(here: Credentials, there: Credentials) -> str | None:
    """What is wrong with a worker, or None."""
    if here.version != there.version:
        return f"it has kedge {there.version}, not {here.version}."
    for name in sorted(here.modules.keys() & there.modules.keys()):
        if here.modules[name] != there.modules[name]:
            return f"it has another copy of the module {name}."
    if here.answers is not None and there.answers is None:
        return "its model cannot be queried."
    for text, one, other in zip(PROBES, here.answers or (), there.answers or (), strict=False):
        if one[0] != other[0] or abs(one[1] - other[1]) > TOLERANCE:
            return f"its model answers {text!r} differently ({other[0]}, not {one[0]})."
    return None


def is_installed(name: str) -> Credentials | None:
    """On a worker: its credentials, if it has the explainer of this name from an earlier run."""
    explainer = already_unpacked(name)
    return None if explainer is None else credentials(explainer)


def install(name: str, data: bytes) -> Credentials:
    """On a worker: unpack the explainer, keep it, and show credentials."""
    return credentials(unpack(PackedExplainer(name, data)))


_MINE = threading.local()


def explain_there(
    name: str, items: Sequence[Item], form: Form, timeout: float | None
) -> tuple[list[Any], float]:
    """On a worker: what becomes of some documents, in order, and how many seconds they took."""
    started = time.perf_counter()
    explainer = already_unpacked(name)
    if explainer is None:
        raise LookupError("the worker was started again and has no model")
    deadline = None
    if timeout is not None:
        # The clock is one thread's, so each has an explainer of its own.
        if getattr(_MINE, "key", None) != (name, timeout):
            _MINE.key, _MINE.deadline = (name, timeout), Deadline(timeout)
            _MINE.explainer = without_progress(explainer, _MINE.deadline)
        explainer, deadline = _MINE.explainer, _MINE.deadline
    results = list(explain_each(explainer, items, form, deadline))
    return results, time.perf_counter() - started


def _answers(explainer: "Explainer") -> tuple[tuple[str, float], ...] | None:
    try:
        found = explainer.model.predict(list(PROBES))
        rows = [found.of(k) for k in range(len(PROBES))]
        return tuple((_label(row), _largest(row)) for row in rows)
    except Exception:  # noqa: BLE001  (a model may not like these texts; its own will show what it does)
        return None


def _label(answer: Any) -> str:
    return repr(answer.labels[0]) if answer.labels is not None else ""


def _largest(answer: Any) -> float:
    shares = answer.distribution()
    return max(shares.values()) if shares else 0.0
