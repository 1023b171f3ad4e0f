"""What is known of a probability: one type, used everywhere."""

import math
from typing import NamedTuple

__all__ = ["UNKNOWN", "Interval"]

# Sums of probabilities (of unfair coins, say) are off by less than this.
_ROUNDED = 1e-12


class Interval(NamedTuple):
    """A probability: the ends of what is known, and the best estimate between them.

    One means certain. A probability that is not certain, but too close to one for a double to tell, is given
    as the largest double below one.

    >>> Interval(0.94, 0.96, 0.97).reaches(0.95), Interval.exactly(1.0).reaches(0.95)
    (None, True)
    """

    low: float
    mean: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> "Interval":
        """A probability that is known."""
        return cls(value, value, value)

    @property
    def width(self) -> float:
        """What is left open."""
        return self.high - self.low

    @property
    def in_doubt(self) -> bool:
        """Whether more is left open than the rounding of sums: some sample's label is not known."""
        return self.width > _ROUNDED

    def reaches(self, threshold: float) -> bool | None:
        """Whether the probability is at least ``threshold``; None while that is open."""
        if self.low >= threshold:
            return True
        return False if self.high < threshold else None

    def splits(self, threshold: float | None) -> bool:
        """Whether the threshold lies inside, so that its side is still open."""
        return threshold is not None and self.low < threshold <= self.high

    def within(self, low: float, high: float) -> "Interval":
        """The part between two ends; the estimate moves into it."""
        low, high = max(self.low, low), min(self.high, high)
        return Interval(low, min(max(self.mean, low), high), high)

    def clearly_uncertain(self) -> "Interval":
        """Below one, for a probability known not to be certain."""
        most = math.nextafter(1.0, 0.0)
        return Interval(min(self.low, most), min(self.mean, most), min(self.high, most))


UNKNOWN = Interval(0.0, 0.5, 1.0)
"""Nothing is known."""
