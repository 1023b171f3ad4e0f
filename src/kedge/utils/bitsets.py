"""Sets of small numbers as bits, 64 to a word."""

import numpy as np
from numpy.typing import NDArray

from kedge.typing import Bits

__all__ = ["bit_set", "count_bits"]


def bit_set(rows: NDArray[np.int32], size: int) -> Bits:
    """Numbers below ``size`` as a set of bits.

    >>> count_bits(bit_set(np.array([0, 3, 64], dtype=np.int32), 70))
    3
    """
    bits = np.zeros((size + 63) // 64 * 64, dtype=np.uint8)
    bits[rows] = 1
    return np.packbits(bits, bitorder="little").view("<u8")


def count_bits(bits: Bits) -> int:
    """How many bits are set."""
    if hasattr(np, "bitwise_count"):
        return int(np.bitwise_count(bits).sum())
    return int(np.unpackbits(bits.view(np.uint8)).sum())  # numpy before 2.0
