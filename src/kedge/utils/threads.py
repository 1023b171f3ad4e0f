"""One thread for linear algebra while kedge works: its arrays are small, and more threads only wait.

A product of two small matrices takes less time than waking a second thread. The limit is one of the
whole process: whoever is first inside sets it, and lifts it when leaving; others meanwhile let it be.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock, get_ident
from typing import Any

__all__ = ["limit_scipy", "one_thread"]


class _Limits(ExitStack):
    """The limits that one thread has set, and must lift."""

    scipy: bool | None = None

    def set(self) -> None:
        """Limit what is loaded by now."""
        scipy = "scipy.linalg" in sys.modules
        if scipy != self.scipy:
            self.enter_context(_controller(scipy).limit(limits=1))
            self.scipy = scipy


# Held by whoever has set the limit; and what is set, by the thread that did.
_LOCK = Lock()
_SET: dict[int, _Limits] = {}


@cache
def _controller(scipy: bool) -> Any:
    """The linear algebra of this process, looked for again only when scipy's has joined numpy's.

    Only what numpy and scipy compute with. A network's threads are its own, and so are those of a
    forest or of gradient boosting.
    """
    del scipy  # it tells one search from the next
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra in one thread, unless somebody else sees to that already."""
    if not _LOCK.acquire(blocking=False):
        yield
        return
    try:
        with _Limits() as limits:
            _SET[get_ident()] = limits
            limits.callback(_SET.pop, get_ident())
            limits.set()
            yield
    finally:
        _LOCK.release()


def limit_scipy() -> None:
    """Limit scipy's linear algebra, too, where it was loaded after ``one_thread`` began."""
    limits = _SET.get(get_ident())
    if limits is not None:
        limits.set()
