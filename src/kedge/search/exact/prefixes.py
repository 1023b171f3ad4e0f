"""Exhaustive Anchors for a linear score, exactly: sort, then find the shortest top-l anchor.

Of all anchors of length l the one that takes the l largest coefficients has the largest precision
(`kedge.search.exact.ladder`), so no other needs to be looked at. The answer is the smallest l whose
precision reaches the threshold; it is proven when the interval of l lies at or above the threshold
and that of l - 1 below it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kedge.evaluators.additive import HALVES, additive_tail
from kedge.evaluators.grids.cells import BUDGET
from kedge.model.scores.additive import AdditiveScore
from kedge.results.interval import Interval
from kedge.search.exact.ladder import Ladder, enumerate_prefixes
from kedge.search.exact.prefix_tails import lattice_of, on_lattice
from kedge.search.exact.waves import ALL_COINS, Begun, by_waves, guess, proven, reaching
from kedge.typing import Kept

__all__ = ["Ranking", "shortest_prefix"]

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
    begun: Begun | None = None,
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
    begun
        The first steps, if they were taken already, together with those of other scores.
    """
    ladder = Ladder.of(score, keep) if begun is None else begun.ladder
    shortest = 0 if allow_empty else 1
    if not len(ladder):
        return _nothing_speaks_for_it(score, ladder, threshold, shortest)
    if ladder.coins <= ALL_COINS:
        looked = _by_enumeration(ladder, threshold, shortest)
    else:
        looked = _by_bounds(score, ladder, threshold, shortest, begun)
    reached = reaching(looked, threshold, shortest)
    length = min(reached) if reached else max(looked)
    return Ranking(
        tuple(sorted(ladder.owners[:length].tolist())),
        looked[length],
        looked[0],
        bool(reached) and proven(looked, threshold, shortest),
        bool(reached),
        looked,
        ladder,
    )


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


def _by_bounds(
    score: AdditiveScore, ladder: Ladder, threshold: float, shortest: int, begun: Begun | None
) -> dict[int, Interval]:
    """Intervals just narrow enough to be told from the threshold."""
    lattice = lattice_of(ladder, LATTICE) if score.exact else None
    if lattice is None:
        looked = by_waves(ladder, threshold, shortest, begun)
    else:
        looked = _by_lattice(ladder, lattice, threshold, guess(ladder, threshold, shortest), shortest)
    if not proven(looked, threshold, shortest):
        _in_the_middle(score, ladder, threshold, shortest, looked)
    return looked


def _by_lattice(
    ladder: Ladder, step: float, threshold: float, guess: int, shortest: int
) -> dict[int, Interval]:
    """On the lattice of the coefficients: from a guess downwards, and from farther up if that misses."""
    start = min(guess + 2, len(ladder))
    while True:
        looked = on_lattice(ladder, step, range(start, shortest - 1, -1), threshold)
        if start == len(ladder):
            looked.setdefault(start, _all_rungs(ladder))
            return looked
        if reaching(looked, threshold, shortest):
            return looked
        start = min(2 * start + 4, len(ladder))


def _in_the_middle(
    score: AdditiveScore,
    ladder: Ladder,
    threshold: float,
    shortest: int,
    looked: dict[int, Interval],
) -> dict[int, Interval]:
    """No bound separates the precision from the threshold: settle it exactly where that is cheap."""
    length = min(reaching(looked, threshold, shortest))
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
