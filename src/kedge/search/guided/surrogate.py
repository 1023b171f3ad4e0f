"""A linear stand-in for the model around one document: what a black box's answers teach.

score(c) = bias + weights . c; the label is predicted to hold where the score is positive. It ranks
the units and predicts the precision of every anchor without asking the model.
Its weights are whole numbers, so that these predictions are exact probabilities, which is what lets
them serve as a control variate (``evaluators.bets``). It is never trusted: claims rest on fresh
samples of the model itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kedge.typing import Bools, Counts, Floats, Kept

__all__ = ["Surrogate"]

# The scores of all samples fall on at most about this many whole numbers: a hundred steps and more per
# unit for documents of a few hundred words, at a few milliseconds per hundred units.
_GRID = 1 << 15
# How much coarser the grid may be while the surrogate is still learning.
_COARSER = 32
# Beyond this many units exact predictions cost more than they save.
_MANY = 3000
# There the weights only rank, and may be as fine as whole numbers allow.
_FINE_GRID = 1 << 48


@dataclass(frozen=True)
class Surrogate:
    """score(c) = bias + weights . c, in whole numbers, for units of given sizes.

    ``noise`` is the standard deviation of what the model's own score adds to it, as far as is known, and
    ``scale`` how many of these whole numbers are one of what was fitted.
    """

    weights: Counts
    bias: int
    sizes: Counts
    keep: float
    noise: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, weights: Floats, bias: float, sizes: Counts, keep: float, noise: float = 0.0) -> "Surrogate":
        """Round real weights to the grid."""
        span = float(np.abs(weights) @ sizes)
        grid = _GRID if len(weights) <= _MANY else _FINE_GRID
        scale = grid / span if span > 0 else 1.0
        # A bias beyond all the weights decides everything; how far beyond makes no difference.
        whole = np.rint(np.clip(bias * scale, -grid, grid))
        return cls(np.rint(weights * scale).astype(np.int64), int(whole), sizes, keep, noise * scale, scale)

    @property
    def exact(self) -> bool:
        """Whether exact predictions are affordable."""
        return len(self.weights) <= _MANY

    def scores(self, counts: Counts) -> Counts:
        """(n,) the score of each row."""
        scores: Counts = counts @ self.weights + self.bias
        return scores

    def holds(self, counts: Counts) -> Bools:
        """(n,) where the label is predicted to hold."""
        held: Bools = self.scores(counts) > 0
        return held

    def order(self, resolution: float = 0.0) -> list[int]:
        """Occurrences (unit indices with repetition) by decreasing weight; near ties by position.

        Weights are compared in steps of ``resolution`` times the largest, so that equal words rank
        in the order of the text and not by the noise of the fit.
        """
        step = max(resolution * float(np.abs(self.weights).max(initial=0)), 1.0)
        steps = np.rint(self.weights / step)
        units = np.argsort(-steps, kind="stable")
        return [int(j) for j in np.repeat(units, self.sizes[units])]

    def losses(self, order: Sequence[int], longest: int, *, noisy: bool = False) -> Floats:
        """(longest + 1,) predicted probability that the label is lost, for each prefix of an order.

        Where ``noisy``, by the score and its noise: no exact probability of anything, but a better guess.

        One convolution of the law of the score per occurrence, added from the end of the order
        towards its beginning: the prefixes share the work.
        """
        from scipy.special import ndtr

        law, low = np.ones(1), 0
        losses = np.empty(longest + 1)
        kept = self.bias + int(self.weights[np.asarray(order, dtype=np.int64)].sum())
        for length in range(len(order), -1, -1):
            if length < len(order):
                weight = int(self.weights[order[length]])
                kept -= weight
                law, low = _one_more(law, low, weight, self.keep)
            if length <= longest:
                if noisy and self.noise:
                    losses[length] = law @ ndtr(-(kept + low + np.arange(len(law))) / self.noise)
                else:  # lost where kept + low + i <= 0
                    losses[length] = law[: max(0, -(kept + low) + 1)].sum()
        return np.clip(losses, 0.0, 1.0)

    def coarse(self) -> "Surrogate":
        """The same on a coarser grid: predictions to about a percent, at a fraction of the cost."""
        weights = np.rint(self.weights / _COARSER).astype(np.int64)
        bias, noise, scale = round(self.bias / _COARSER), self.noise / _COARSER, self.scale / _COARSER
        return Surrogate(weights, bias, self.sizes, self.keep, noise, scale)

    def moments(self, kept: Kept, gone: int | None = None) -> tuple[float, float]:
        """Mean and variance of the score given an anchor, in what was fitted; with an occurrence gone."""
        sure = np.bincount(np.asarray(kept, dtype=np.int64), minlength=len(self.sizes))
        free = self.sizes - sure
        if gone is not None:
            sure[gone] -= 1
        mean = self.bias + float(self.weights @ (sure + self.keep * free))
        variance = self.keep * (1 - self.keep) * float(self.weights.astype(np.float64) ** 2 @ free)
        return mean / self.scale, variance / self.scale**2

    def exchanges(self, rest: Kept, options: Sequence[int]) -> dict[int, float]:
        """Predicted loss of an anchor with each of some further units added, in one pass."""
        free = self.sizes - np.bincount(np.asarray(rest, dtype=np.int64), minlength=len(self.sizes))
        free[list(options)] -= 1
        law, low = np.ones(1), 0
        for unit in np.repeat(np.arange(len(free)), free).tolist():
            law, low = _one_more(law, low, int(self.weights[unit]), self.keep)
        sure = self.bias + int(self.weights[list(rest)].sum())
        losses = {}
        for chosen in options:
            part, start = law, low
            for other in options:
                if other != chosen:
                    part, start = _one_more(part, start, int(self.weights[other]), self.keep)
            least = sure + int(self.weights[chosen]) + start
            losses[chosen] = float(part[: max(0, 1 - least)].sum())
        return losses

    def loss(self, kept: Kept, *, noisy: bool = False) -> float:
        """Predicted probability that the label is lost given an anchor."""
        free = self.sizes - np.bincount(np.asarray(kept, dtype=np.int64), minlength=len(self.sizes))
        order = [*kept, *np.repeat(np.arange(len(self.sizes)), free).tolist()]
        return float(self.losses(order, len(kept), noisy=noisy)[len(kept)])

    def cautious(self, kept: Kept, more: float) -> "Surrogate":
        """The same with a bias that predicts the label of samples given an anchor to be lost more often."""
        law, low = np.ones(1), self.bias + int(self.weights[list(kept)].sum())
        free = self.sizes - np.bincount(np.asarray(kept, dtype=np.int64), minlength=len(self.sizes))
        for unit in np.repeat(np.arange(len(free)), free).tolist():
            law, least = _one_more(law, 0, int(self.weights[unit]), self.keep)
            low += least
        below = np.cumsum(law)
        lost = float(below[-low]) if 0 <= -low < len(below) else 0.0 if low > 0 else 1.0
        cut = low + int(np.searchsorted(below, lost + more))  # the first score at which it is so often
        return replace(self, bias=self.bias - max(cut, 0))


def _one_more(law: Floats, low: int, weight: int, keep: float) -> tuple[Floats, int]:
    """The law of a sum with one more coin that adds ``weight`` with probability ``keep``."""
    if not weight:
        return law, low
    step = abs(weight)
    more = np.zeros(len(law) + step)
    stays, goes = (keep, 1 - keep) if weight > 0 else (1 - keep, keep)
    more[: len(law)] = goes * law
    more[step:] += stays * law
    return more, low + min(weight, 0)
