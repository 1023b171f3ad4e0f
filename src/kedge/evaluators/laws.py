"""Independent variables that add up: words with one occurrence left to chance, and words with several."""

from typing import NamedTuple

import numpy as np

from kedge.typing import Counts, Floats

__all__ = ["NO_LAWS", "Coins", "Laws"]


class Coins(NamedTuple):
    """Independent variables that are (n,) sizes with the same chance, and else 0."""

    sizes: Floats
    chance: float = 0.5

    @property
    def squares(self) -> float:
        """The sum of the squared ranges."""
        return float(self.sizes @ self.sizes)

    @property
    def mean(self) -> float:
        """The mean of the sum."""
        return self.chance * float(self.sizes.sum())


class Laws(NamedTuple):
    """Independent variables of several values: the values of all, the chance of each, where each begins."""

    values: Floats
    weights: Floats
    starts: Counts

    @property
    def means(self) -> Floats:
        """(n,) the mean of each."""
        means: Floats = np.add.reduceat(self.values * self.weights, self.starts)
        return means

    @property
    def squares(self) -> float:
        """The sum of the squared ranges."""
        if not len(self.starts):
            return 0.0
        spread = np.maximum.reduceat(self.values, self.starts)
        spread = spread - np.minimum.reduceat(self.values, self.starts)
        return float(spread @ spread)

    @property
    def away(self) -> Floats:
        """Each value's distance from its mean."""
        often = np.diff(self.starts, append=len(self.values))
        away: Floats = self.values - np.repeat(self.means, often)
        return away


NO_LAWS = Laws(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))
