"""Returning unused memory to the system."""

import ctypes
import gc
from functools import cache
from typing import Any

__all__ = ["give_back"]


def give_back() -> None:
    """Return what is free to the system.

    The C library keeps what a thread has freed for the next one, which after a single large text may be most
    of what a process seems to hold. glibc returns it on request; elsewhere it is left to the system.
    """
    gc.collect()
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another C library, another system
        return None
