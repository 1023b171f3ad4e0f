"""Temporary evaluation mode: a torch module is queried with dropout off, and left as it was found."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

__all__ = ["evaluating"]


@dataclass
class _InUse:
    """How many threads use a module, and the submodules to put back into training mode afterwards."""

    users: int = 0
    training: list[Any] = field(default_factory=list)


# By identity, while in use: threads that use the same module share one change of its mode.
_IN_USE: dict[int, _InUse] = {}
_LOCK = Lock()


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Every submodule in evaluation mode; each one's own mode back when the last user has left.

    A module whose parts are all in evaluation mode is not touched. A part that its owner froze (batch
    normalisation in evaluation mode inside a module in training mode) stays frozen.
    """
    with _LOCK:
        entry = _IN_USE.setdefault(id(module), _InUse())
        entry.users += 1
        training = [part for part in module.modules() if part.training]
        for part in training:
            part.training = False
        entry.training += training
    try:
        yield
    finally:
        with _LOCK:
            entry.users -= 1
            if not entry.users:
                for part in entry.training:
                    part.training = True
                del _IN_USE[id(module)]
