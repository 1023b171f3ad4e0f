"""Fresh samples that anyone can draw again: coins from a hash of the text, the anchor and the seed.

A proof by samples is worth as much as the samples. These follow from public data alone, so a checker of
the proof draws the same ones (``docs/certificates.md`` says how, ``certificates/checker.py`` does it); and
an anchor that was chosen by looking at other samples has not met them.
"""

from dataclasses import dataclass
from hashlib import sha256, shake_256

import numpy as np

from kedge.reading.reading import Reading
from kedge.typing import Bools, Counts, Kept

__all__ = ["FreshSamples"]


@dataclass(frozen=True, eq=False)
class FreshSamples:
    """The endless sequence of samples given an anchor.

    Parameters
    ----------
    key
        What is hashed together with the number of a sample.
    sizes, sure
        (d,) occurrences of each unit, and how many of them the anchor keeps.
    keep
        Probability that a free occurrence stays.
    """

    key: bytes
    sizes: Counts
    sure: Counts
    keep: float

    @classmethod
    def of(cls, reading: Reading, kept: Kept, seed: int) -> "FreshSamples | None":
        """The samples given an anchor; None where a perturbation does not toss a coin for each occurrence."""
        if not getattr(reading.perturbation, "independent", False):
            return None
        text = sha256(reading.document.text.encode("utf-8", "surrogatepass")).hexdigest()
        positions = ",".join(map(str, reading.units.anchor(kept).positions))
        key = f"kedge samples 1\n{text}\n{positions}\n{seed}\n".encode()
        return cls(key, reading.units.sizes, reading.units.counts(kept), reading.keep)

    def rows(self, first: int, n: int) -> Counts:
        """(n, d) the samples numbered ``first``, ``first + 1``, ...

        Sample i is what SHAKE-256 gives of the key and of i in eight bytes: one bit for each free
        occurrence, unit by unit, or a number of eight bytes where coins are not fair. All big-endian.
        """
        free = self.sizes - self.sure
        coins = int(free.sum())
        counts = np.tile(self.sure, (n, 1))
        if not n or not coins:
            return counts
        width = -(-coins // 8) if self.keep == 0.5 else 8 * coins
        drawn = b"".join(
            shake_256(self.key + i.to_bytes(8, "big")).digest(width) for i in range(first, first + n)
        )
        stays = self._tosses(np.frombuffer(drawn, dtype=np.uint8).reshape(n, width), coins)
        at = np.flatnonzero(free)
        counts[:, at] += np.add.reduceat(stays, np.cumsum(free[at]) - free[at], axis=1, dtype=np.int64)
        return counts

    def _tosses(self, drawn: np.ndarray, coins: int) -> Bools:
        """(n, coins) which occurrences stay."""
        if self.keep == 0.5:
            return np.unpackbits(drawn, axis=1, count=coins).astype(bool)
        # A double times a power of two is exact; a coin is off by less than 2^-64.
        return drawn.view(">u8") < np.uint64(int(self.keep * 2.0**64))
