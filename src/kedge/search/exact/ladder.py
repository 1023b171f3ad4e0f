"""The best anchors of a linear score: the occurrences with the largest coefficients.

For the exact precision, at every length l the l occurrences with the largest coefficients are
best: swap a kept occurrence of coefficient u for a free one of coefficient t >= u, couple the two
coins as one coin X, and the score grows by (t - u)(1 - X) >= 0. The best anchors are therefore
nested, their precision never falls while the coefficients are positive, and it is 1 once every
positive occurrence is kept. Write the score of a sample that keeps the top l as

    floor + sum_{k <= l} rung_k + sum_{k > l} rung_k X_k + sum_i drop_i Y_i,

with floor the bias plus every negative coefficient, and ``drop`` what is won back when a word that
speaks against the label is removed. The free part for l - 1 is the free part for l plus one coin, so that
what is worked out for one length serves the next (`kedge.search.exact.prefix_tails`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.model.scores.additive import AdditiveScore
from kedge.results.interval import Interval
from kedge.typing import Counts, Floats

__all__ = ["Ladder", "enumerate_prefixes"]


@dataclass(frozen=True)
class Ladder:
    """A linear score, seen from its positive occurrences.

    Parameters
    ----------
    rungs, owners
        (L,) positive coefficients of single occurrences, largest first, and the unit of each;
        equal ones in the order of the units.
    drops
        Absolute values of the negative coefficients of single occurrences.
    bias, floor
        The score of nothing, and the score when all that speaks against the label is kept.
    keep
        Probability that a free occurrence stays.
    error
        Bound on the floating-point error of the score, the model's and ours; 0 when exact.
    strict
        Whether a score of exactly zero loses the label.
    units
        How many units there are.
    """

    rungs: Floats
    owners: Counts
    drops: Floats
    bias: float
    floor: float
    keep: float
    error: float
    strict: bool
    units: int

    @classmethod
    def of(cls, score: AdditiveScore, keep: float) -> "Ladder":
        """Sort the occurrences of a linear score."""
        slopes = score.slopes
        if slopes is None:
            raise ValueError("The ranking theorem needs a linear score.")
        order = np.repeat(falling := np.argsort(-slopes, kind="stable"), score.sizes[falling])
        values = slopes[order]
        positive = int(np.count_nonzero(values > 0.0))
        drops = -values[len(values) - int(np.count_nonzero(values < 0.0)) :]
        return cls(
            values[:positive],
            order[:positive],
            drops,
            score.bias,
            score.bias - float(drops.sum()),
            keep,
            score.error + score.added_up(len(values)),
            score.strict,
            len(slopes),
        )

    def __len__(self) -> int:
        return len(self.rungs)

    @property
    def coins(self) -> int:
        """How many occurrences matter at all."""
        return len(self.rungs) + len(self.drops)

    @cached_property
    def heads(self) -> Floats:
        """(L + 1,) the sums of the largest coefficients."""
        return _running(self.rungs)

    @cached_property
    def squared_heads(self) -> Floats:
        """(L + 1,) the sums of their squares."""
        return _running(self.rungs * self.rungs)

    @cached_property
    def squares(self) -> float:
        """The sum of the squared coefficients of all occurrences."""
        return float(self.drops @ self.drops) + float(self.squared_heads[-1])


def enumerate_prefixes(ladder: Ladder) -> Callable[[int], Interval]:
    """Length l to the precision of the top-l anchor, by adding up all 2^coins samples.

    With the coins in this order, the samples of the top-l anchor are the first 2^(coins - l)
    entries of one array. Samples so close to zero that only the model's own rounding decides stay
    inside the interval; all others leave it without width.
    """
    n = ladder.coins
    coins = ladder.drops.tolist() + ladder.rungs[::-1].tolist()
    half = n // 2
    low, high = _subset_sums(ladder.floor, coins[:half]), _subset_sums(0.0, coins[half:])
    sums = np.add.outer(high, low).ravel()
    # The sample that keeps nothing: every drop won, no rung. A sum of no terms is not rounded.
    nothing = (1 << len(ladder.drops)) - 1
    sums[nothing] = ladder.bias
    heads = ladder.heads.tolist()
    weights = None if ladder.keep == 0.5 else _weights(ladder)

    def precision(length: int) -> Interval:
        total = 1 << (n - length)
        scores, need = sums[:total], -heads[length]
        # Both ends: surely positive, and positive but for rounding.
        if ladder.error > 0.0:
            low, high = scores > need + ladder.error, scores >= need - ladder.error
        else:
            low = high = (scores > need) if ladder.strict else (scores >= need)
        if length == 0 and abs(ladder.bias) <= ladder.error:
            low[nothing] = high[nothing] = ladder.bias > 0.0 or (ladder.bias == 0.0 and not ladder.strict)
        if weights is None:
            ends = [int(np.count_nonzero(low)) / total, int(np.count_nonzero(high)) / total]
        else:
            chances = weights[:total] / weights[:total].sum()
            # Unfair coins: each chance is rounded a few times per coin.
            slack = 8.0 * n * 2.0**-52
            ends = [1.0 if low.all() else max(0.0, float(chances[low].sum()) - slack)]
            ends.append(min(1.0, float(chances[high].sum()) + slack) if high.any() else 0.0)
        return Interval(ends[0], (ends[0] + ends[1]) / 2, ends[1])

    return precision


def _subset_sums(start: float, coins: list[float]) -> list[float]:
    """``start`` plus the sum of every subset; bit k of the place says whether coin k is in it."""
    sums = [start]
    for coin in coins:
        sums += [value + coin for value in sums]
    return sums


def _weights(ladder: Ladder) -> Floats:
    """(2^coins,) the chance of each sample, up to a common factor of each prefix."""
    weights, odds = np.ones(1), ladder.keep / (1.0 - ladder.keep)
    for chance in [1.0 / odds] * len(ladder.drops) + [odds] * len(ladder.rungs):
        weights = np.concatenate([weights, weights * chance])
    return weights


def _running(values: Floats) -> Floats:
    """(n + 1,) the sums of the first values."""
    running = np.zeros(len(values) + 1)
    np.cumsum(values, out=running[1:])
    return running
