"""What is free goes back to the system."""

import ctypes
from pathlib import Path

import pytest

from kedge.utils.memory import give_back

STATM = Path("/proc/self/statm")


@pytest.mark.skipif(
    not STATM.exists() or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs glibc on Linux"
)
def test_free_memory_between_what_is_held():
    """Many small pieces freed between a few that stay: the system has their pages again."""

    def held():
        return int(STATM.read_text().split()[1]) * 4096

    give_back()
    before = held()
    pieces = [bytes(1000) for _ in range(150_000)]
    full = held()
    assert full - before > 100_000_000
    kept = pieces[::1000]
    del pieces
    give_back()
    assert held() - before < 30_000_000
    assert len(kept) == 150
