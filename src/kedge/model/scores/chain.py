"""A score that is a sum over windows of units: bias + sum_m weight_m prod_{i in window_m} X_i."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.model.scores.additive import UNIT
from kedge.typing import Bools, Counts, Floats

__all__ = ["ChainScore"]


@dataclass(frozen=True, eq=False)
class ChainScore:
    """The explained label holds iff the score is positive (``strict``), or not negative.

    A window is a tuple of units, in order; those of one unit are the words themselves, longer ones what
    neighbours say together. Units in longer windows are single positions, kept (1) or not (0).

    Parameters
    ----------
    bias
        The score of nothing kept.
    windows, weights
        What is added where all units of a window are kept.
    sizes
        (d,) the number of positions of each unit.
    strict
        Whether a score of exactly zero loses the label.
    rounding
        Bound on the distance between the score in real arithmetic and what the model compares; None where
        it adds up exactly these weights.
    """

    bias: float
    windows: tuple[tuple[int, ...], ...]
    weights: Floats
    sizes: Counts
    strict: bool = True
    rounding: float | None = None

    @cached_property
    def magnitude(self) -> float:
        """No partial sum is larger."""
        most = np.ones(len(self.windows))
        for m, window in enumerate(self.windows):
            if len(window) == 1:
                most[m] = self.sizes[window[0]]
        return abs(self.bias) + float(np.abs(self.weights) @ most)

    @cached_property
    def exact(self) -> bool:
        """True when neither the model nor a sum in doubles makes any error.

        Whole multiples of 2^(e - 53), where magnitude < 2^e, are added without rounding in any order.
        """
        if self.rounding is not None or not math.isfinite(self.magnitude):
            return False
        grain = math.ldexp(1.0, math.frexp(self.magnitude)[1] + 1 - 53)
        values = [self.bias, *self.weights.tolist()]
        return grain > 0.0 and all((value / grain).is_integer() for value in values)

    @cached_property
    def error(self) -> float:
        """Bound on the error of the model's score and of ours together; 0 when exact."""
        if self.exact:
            return 0.0
        own = 2.0 * (int(self.sizes.sum()) + len(self.windows) + 8) * UNIT * self.magnitude
        return own + (own if self.rounding is None else self.rounding)

    @cached_property
    def _by_length(self) -> list[tuple[Counts, Floats]]:
        """Windows of one length as (m, length) units, with their weights."""
        lengths = np.array([len(window) for window in self.windows])
        found = []
        for length in sorted(set(lengths.tolist())):
            at = np.flatnonzero(lengths == length)
            units = np.array([self.windows[m] for m in at], dtype=np.int64)
            found.append((units, self.weights[at]))
        return found

    def score(self, kept: Counts) -> Floats:
        """(n,) the score of each row of kept units."""
        total = np.full(len(kept), self.bias)
        values = kept.astype(np.float64)
        for units, weights in self._by_length:
            present = values[:, units[:, 0]]
            for k in range(1, units.shape[1]):
                present = present * values[:, units[:, k]]
            total += present @ weights
        return total

    def holds(self, kept: Counts) -> Bools:
        """(n,) whether the explained label holds."""
        score = self.score(kept)
        held: Bools = score > 0 if self.strict else score >= 0
        return held
