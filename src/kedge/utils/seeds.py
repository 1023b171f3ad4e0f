"""Randomness from the document itself.

The generator of an explanation depends on the user's seed and on the text, on nothing else: not on
the order of documents, the number of workers, or where a run was interrupted.
"""

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

__all__ = ["digest", "generator", "text_generator"]


def digest(text: str) -> str:
    """What identifies texts in results that do not keep them: 64 bits, as 16 hexadecimal digits.

    >>> digest("good"), digest("good") == digest("bad")
    ('07878fd8745bb530', False)
    """
    return _hash(text, 8).hex()


class _Hashed(ISeedSequence):
    """A seed made by a hash. numpy's own mixing of a list of integers takes ten times as long."""

    def __init__(self, state: bytes) -> None:
        self._state = state

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """The words of state a bit generator asks for; the same on every machine."""
        little = np.dtype(dtype).newbyteorder("<")
        return np.frombuffer(self._state, dtype=little, count=n_words).astype(dtype)


def generator(seed: int, text: str) -> np.random.Generator:
    """The generator for one document under one seed.

    >>> float(generator(0, "good").random()) == float(generator(0, "good").random())
    True
    """
    state: Any = _Hashed(_hash(f"{seed} {text}", 32))  # numpy's stubs know only its own sequences
    return np.random.Generator(np.random.PCG64(state))


def text_generator(text: str) -> np.random.Generator:
    """The generator for one document under every seed; independent of all of ``generator``'s.

    >>> float(text_generator("good").random()) == float(text_generator("good").random())
    True
    """
    state: Any = _Hashed(_hash(f"any {text}", 32))
    return np.random.Generator(np.random.PCG64(state))


def _hash(text: str, size: int) -> bytes:
    # A lone surrogate is no valid text, but it must not be the end of a corpus either.
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()
