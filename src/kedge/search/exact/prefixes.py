"""Exhaustive Anchors for a linear score, exactly: sort, then find the shortest top-l anchor.

Of all anchors of length l the one that takes the l largest coefficients has the largest precision
(`kedge.search.exact.ladder`), so no other needs to be looked at. The answer is the smallest l whose
precision reaches the threshold; it is proven when the interval of l lies at or above the threshold
and that of l - 1 below it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kedge.evaluators.additive import HALVES, additive_tail
from kedge.evaluators.grids.cells import BUDGET
from kedge.evaluators.harmonics import Harmonics
from kedge.model.scores.additive import AdditiveScore
from kedge.results.interval import Interval
from kedge.search.exact.ladder import Ladder, enumerate_prefixes
from kedge.search.exact.prefix_tails import by_harmonics, lattice_of, on_lattice
from kedge.typing import Floats, Kept

__all__ = ["Ranking", "shortest_prefix"]

# Up to this many occurrences all 2^n samples are added up: tens of microseconds.
ALL_COINS = 14
# Half widths of the first intervals: as fine as the Gaussian guess says the decision needs, within
# these. The coarse end keeps the reported interval useful, the fine end keeps the first look short.
COARSE, FINE = 2.5e-3, 2e-4
# Harmonics times occurrences that a look may cost: about half a second.
HARMONICS = 1 << 25
# A lattice is used where it costs no more than this.
LATTICE = BUDGET / 16


@dataclass(frozen=True)
class Ranking:
    """The answer of the exact search.

    Parameters
    ----------
    kept
        The anchor in unit space.
    tail
        Its precision.
    baseline
        Precision with nothing kept.
    proven
        No shorter anchor reaches the threshold.
    reached
        The lower end of the interval is at or above the threshold.
    looked
        Length to precision of the top-l anchors that were looked at.
    ladder
        The ranking, to turn lengths into anchors.
    """

    kept: Kept
    tail: Interval
    baseline: Interval
    proven: bool
    reached: bool
    looked: Mapping[int, Interval]
    ladder: Ladder

    def top(self, length: int) -> Kept:
        """The anchor of the ``length`` largest coefficients."""
        return tuple(sorted(self.ladder.owners[:length].tolist()))


def shortest_prefix(
    score: AdditiveScore,
    threshold: float,
    *,
    keep: float = 0.5,
    allow_empty: bool = False,
) -> Ranking:
    """Find the shortest anchor of a linear score whose precision is at least ``threshold``.

    Parameters
    ----------
    score
        A linear score of the label that holds for the whole document.
    threshold
        The precision to reach.
    keep
        Probability that an occurrence outside the anchor stays.
    allow_empty
        Whether keeping nothing is an answer.
    """
    ladder = Ladder.of(score, keep)
    shortest = 0 if allow_empty else 1
    if not len(ladder):
        return _nothing_speaks_for_it(score, ladder, threshold, shortest)
    if ladder.coins <= ALL_COINS:
        looked = _by_enumeration(ladder, threshold, shortest)
    else:
        looked = _by_bounds(score, ladder, threshold, shortest)
    reached = _reaching(looked, threshold, shortest)
    length = min(reached) if reached else max(looked)
    before = looked.get(length - 1)
    proven = length == shortest or (before is not None and before.high < threshold)
    return Ranking(
        tuple(sorted(ladder.owners[:length].tolist())),
        looked[length],
        looked[0],
        bool(reached) and proven,
        bool(reached),
        looked,
        ladder,
    )


def _reaching(looked: Mapping[int, Interval], threshold: float, shortest: int) -> list[int]:
    """Lengths whose whole interval is at or above the threshold."""
    return [n for n, tail in looked.items() if n >= shortest and tail.low >= threshold]


def _nothing_speaks_for_it(score: AdditiveScore, ladder: Ladder, threshold: float, shortest: int) -> Ranking:
    """No coefficient is positive: what removes words can only raise the score."""
    counts = np.zeros(ladder.units, dtype=np.int64)
    baseline = additive_tail(score, counts, ladder.keep, threshold=threshold)
    kept: Kept = ()
    tail = baseline
    if shortest and ladder.units:
        best = int(np.argmax(score.slopes))  # type: ignore[arg-type]
        kept = (best,)
        counts[best] = 1
        tail = additive_tail(score, counts, ladder.keep, threshold=threshold)
    reached = tail.low >= threshold
    return Ranking(kept, tail, baseline, reached, reached, {0: baseline, len(kept): tail}, ladder)


def _by_enumeration(ladder: Ladder, threshold: float, shortest: int) -> dict[int, Interval]:
    """Short anchors one by one, then by bisection: precision never falls with the length."""
    precision = enumerate_prefixes(ladder)
    looked = {0: precision(0)}
    length = shortest
    while length <= min(4, len(ladder)):
        if length not in looked:
            looked[length] = precision(length)
        if looked[length].low >= threshold:
            return looked
        length += 1
    low, high = length - 1, len(ladder)
    looked[high] = precision(high)
    while high - low > 1:
        middle = (low + high) // 2
        looked[middle] = precision(middle)
        low, high = (low, middle) if looked[middle].low >= threshold else (middle, high)
    return looked


def _by_bounds(score: AdditiveScore, ladder: Ladder, threshold: float, shortest: int) -> dict[int, Interval]:
    """Intervals just narrow enough, narrower only where the threshold is not settled."""
    guesses = _gaussian(ladder)
    guess = int(np.argmax(guesses >= threshold)) if guesses[-1] >= threshold else len(ladder)
    guess = max(guess, shortest)
    # Only the answer and the length before it, if it could be one, must be told from the threshold.
    gap = min(abs(float(g) - threshold) for g in guesses[max(guess - 1, shortest) : guess + 1])
    harmonics = _harmonics(ladder, min(max(gap / 3.0, FINE), COARSE), threshold)
    lattice = lattice_of(ladder, LATTICE) if score.exact else None
    start = min(guess + 2, len(ladder))
    looked: dict[int, Interval] = {}
    while True:
        lengths = range(start, shortest - 1, -1)
        if lattice is None:
            new = by_harmonics(ladder, harmonics, lengths, threshold)
        else:
            new = on_lattice(ladder, lattice, lengths, threshold)
        for length, tail in new.items():
            old = looked.get(length, tail)
            looked[length] = Interval(max(old.low, tail.low), tail.mean, min(old.high, tail.high))
        if start == len(ladder):
            looked.setdefault(start, _all_rungs(ladder))
        reached = _reaching(looked, threshold, shortest)
        if not reached:
            if start < len(ladder):
                start = min(2 * start + 4, len(ladder))
                continue
            return looked
        start = min(reached)
        if start == shortest or (start - 1 in looked and looked[start - 1].high < threshold):
            return looked
        finer = min(8.0, HARMONICS / (ladder.coins * harmonics.count))
        if lattice is not None or finer < 1.5:
            return _in_the_middle(score, ladder, threshold, shortest, looked)
        harmonics = _harmonics(ladder, harmonics.target / finer, threshold)


def _in_the_middle(
    score: AdditiveScore,
    ladder: Ladder,
    threshold: float,
    shortest: int,
    looked: dict[int, Interval],
) -> dict[int, Interval]:
    """No bound separates the precision from the threshold: settle it exactly where that is cheap."""
    length = min(_reaching(looked, threshold, shortest))
    while length > shortest:
        counts = np.bincount(ladder.owners[: length - 1], minlength=ladder.units)
        states = math.prod((score.sizes - counts + 1).tolist())
        if states > HALVES:
            break
        tail = additive_tail(score, counts.astype(np.int64), ladder.keep, width=0.0)
        looked[length - 1] = tail
        if tail.low < threshold:
            break
        length -= 1
    return looked


def _all_rungs(ladder: Ladder) -> Interval:
    """With every positive occurrence kept, no sample scores below the document itself."""
    certain = ladder.floor + float(ladder.rungs.sum()) > ladder.error
    return Interval(1.0, 1.0, 1.0) if certain else Interval(0.0, 1.0, 1.0)


def _gaussian(ladder: Ladder) -> Floats:
    """(L + 1,) rough precision of the top-l anchors: where to look, never what to claim."""
    from scipy.special import ndtr

    keep = ladder.keep
    heads = np.concatenate([[0.0], np.cumsum(ladder.rungs)])
    squares = np.concatenate([[0.0], np.cumsum(ladder.rungs**2)])
    mean = ladder.floor + (1 - keep) * float(ladder.drops.sum())
    mean = mean + heads + keep * (heads[-1] - heads)
    variance = keep * (1 - keep) * (float(ladder.drops @ ladder.drops) + squares[-1] - squares)
    scale = np.sqrt(np.maximum(variance, 1e-30 * squares[-1]))
    guess: Floats = ndtr(mean / scale)
    return guess


def _harmonics(ladder: Ladder, target: float, threshold: float) -> Harmonics:
    """Harmonics for intervals of half width ``target`` near the threshold, by the Gaussian density."""
    deviation = math.sqrt(ladder.keep * (1 - ladder.keep) * ladder.squares)
    return Harmonics.of(target, _density(threshold) / deviation, ladder.squares)


@lru_cache(maxsize=64)
def _density(probability: float) -> float:
    """Height of the standard normal density at the quantile of ``probability``."""
    from scipy.special import ndtri

    z = float(ndtri(min(max(probability, 0.01), 0.99)))
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
