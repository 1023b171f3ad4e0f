"""Randomness from the document itself.

The generator of an explanation depends on the user's seed and on the text, on nothing else: not on
the order of documents, the number of workers, or where a run was interrupted.
"""

from hashlib import blake2b

import numpy as np

__all__ = ["digest", "generator"]


def digest(text: str) -> str:
    """What tells texts apart in results that do not keep them: 64 bits, as 16 hexadecimal digits.

    >>> digest("good"), digest("good") == digest("bad")
    ('07878fd8745bb530', False)
    """
    return _hash(text, 8).hex()


def generator(seed: int, text: str) -> np.random.Generator:
    """The generator for one document under one seed."""
    words = np.frombuffer(_hash(text, 16), dtype="<u4").tolist()
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


def _hash(text: str, size: int) -> bytes:
    # A lone surrogate is no valid text, but it must not be the end of a corpus either.
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()
