"""One thread for linear algebra while kedge works: its arrays are small, and more threads only wait.

A product of two small matrices takes less time than waking a second thread. The limit is one of the
whole process: the first thread inside sets it, and lifts it when leaving; the others leave it alone.
"""

import sys
from contextlib import ContextDecorator
from functools import cache
from threading import Lock, get_ident
from typing import Any, Self

__all__ = ["limit_scipy", "one_thread"]

# Held by the thread that has set the limit; and what it has set.
_LOCK = Lock()
_SET: dict[int, "_Limit"] = {}


@cache
def _libraries(scipy: bool) -> list[Any]:
    """The linear algebra of this process, looked for again only when scipy's has joined numpy's.

    Only what numpy and scipy compute with. A network's threads are its own, and so are those of a
    forest or of gradient boosting.
    """
    del scipy  # it distinguishes one search from the next
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _Limit(ContextDecorator):
    """The limit, as a context or around a function; cheap enough for every explanation."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, int]] | None = None

    def _recreate_cm(self) -> Self:
        return type(self)()  # each call of a decorated function is a context of its own

    def __enter__(self) -> Self:
        if _LOCK.acquire(blocking=False):
            self._before = []
            _SET[get_ident()] = self
            self.set()
        return self

    def set(self) -> None:
        """Limit what is loaded by now."""
        assert self._before is not None  # noqa: S101  (the lock is held)
        for library in _libraries("scipy.linalg" in sys.modules):
            threads = library.get_num_threads()
            if threads != 1:
                library.set_num_threads(1)
                self._before.append((library, threads))

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            return
        del _SET[get_ident()]
        for library, threads in reversed(self._before):
            library.set_num_threads(threads)
        self._before = None
        _LOCK.release()


def one_thread() -> _Limit:
    """Linear algebra in one thread, unless another thread has set that already."""
    return _Limit()


def limit_scipy() -> None:
    """Limit scipy's linear algebra, too, where it was loaded after ``one_thread`` began."""
    limit = _SET.get(get_ident())
    if limit is not None:
        limit.set()
