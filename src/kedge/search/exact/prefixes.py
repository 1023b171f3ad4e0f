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
from kedge.evaluators.harmonics import FIRST
from kedge.model.scores.additive import AdditiveScore
from kedge.results.interval import Interval
from kedge.search.exact.ladder import Ladder, enumerate_prefixes
from kedge.search.exact.prefix_tails import PrefixWaves, lattice_of, on_lattice
from kedge.typing import Floats, Kept

__all__ = ["Ranking", "shortest_prefix"]

# Up to this many occurrences all 2^n samples are added up: tens of microseconds.
ALL_COINS = 14
# Half widths of intervals: narrow enough to be useful, what a first look is prepared for, and the finest.
COARSE, FINE, FINEST = 2.5e-3, 8e-5, 1e-15
# An interval takes this share of the room that there is beside the threshold, and what cannot be heard at a
# harmonic this share of the interval.
ROOM, NOTHING = 0.8, 1e-3
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
    """Intervals just narrow enough to be told from the threshold."""
    guesses = _gaussian(ladder)
    guess = int(np.argmax(guesses >= threshold)) if guesses[-1] >= threshold else len(ladder)
    guess = max(guess, shortest)
    lattice = lattice_of(ladder, LATTICE) if score.exact else None
    if lattice is None:
        looked = _by_waves(ladder, threshold, guess, shortest)
    else:
        looked = _by_lattice(ladder, lattice, threshold, guess, shortest)
    if not _proven(looked, threshold, shortest):
        _in_the_middle(score, ladder, threshold, shortest, looked)
    return looked


def _proven(looked: Mapping[int, Interval], threshold: float, shortest: int) -> bool:
    """Whether the shortest length that is known to reach is known to be the shortest."""
    reached = _reaching(looked, threshold, shortest)
    if not reached:
        return True  # nothing to be proven
    length = min(reached)
    return length == shortest or (length - 1 in looked and looked[length - 1].high < threshold)


def _by_waves(ladder: Ladder, threshold: float, guess: int, shortest: int) -> dict[int, Interval]:
    """By harmonics: estimates say which lengths to look at, and how many harmonics their proof takes."""
    waves = _around_the_answer(ladder, threshold, guess, shortest)
    most = max(HARMONICS // ladder.coins, FIRST)
    looked: dict[int, Interval] = {}
    aim = COARSE
    while True:
        widths = _widths(waves, threshold, aim)
        aim = min(widths)
        if aim >= waves.finest:
            count = min(waves.needed(widths), most)
            for length, tail in waves.tails(count, NOTHING * aim).items():
                known = looked.get(length, tail)
                looked[length] = Interval(max(known.low, tail.low), tail.mean, min(known.high, tail.high))
            reached = bool(_reaching(looked, threshold, shortest))
            if reached and (count == most or _proven(looked, threshold, shortest)):
                return looked
            if count == most and waves.longest == len(ladder):
                return looked
            more = 4 if count == most else 0
            aim /= 8.0
            waves = PrefixWaves(ladder, aim, min(waves.longest + more, len(ladder)), waves.least)
        else:  # the circle leaves too much outside
            waves = PrefixWaves(ladder, aim / 2.0, waves.longest, waves.least)


def _around_the_answer(ladder: Ladder, threshold: float, guess: int, shortest: int) -> PrefixWaves:
    """A few lengths from one that reaches the threshold to one that misses it, by estimate."""
    longest, least = min(guess + 2, len(ladder)), max(guess - 2, shortest)
    while True:
        waves = PrefixWaves(ladder, FINE, longest, least)
        if waves.reaching(threshold) == 0 and longest < len(ladder):
            longest, least = min(2 * longest + 4, len(ladder)), longest
        elif waves.reaching(threshold) == longest - least + 1 and least > shortest:
            longest, least = min(least + 1, len(ladder)), max(least - 6, shortest)
        else:
            return waves


def _widths(waves: PrefixWaves, threshold: float, aim: float) -> list[float]:
    """Half widths that tell the answer, the length before it and the empty anchor from the threshold."""
    widths = [aim] * len(waves.precisions)
    if threshold == 1.0:
        return widths  # what is certain is known without any harmonics
    reaching = waves.reaching(threshold)
    last = waves.longest - waves.least
    for row, finest in ((max(reaching - 1, 0), FINEST), (min(reaching, last), FINEST), (-1, FINE)):
        room = ROOM * abs(waves.precisions[row] - threshold)
        widths[row] = min(widths[row], max(room, finest))
    return widths


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
        if _reaching(looked, threshold, shortest):
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
    heads, squares = ladder.heads, ladder.squared_heads
    lowest = keep * ladder.floor + (1 - keep) * ladder.bias  # the mean when nothing is kept, but for rungs
    mean = (1 - keep) * heads + (lowest + keep * float(heads[-1]))
    variance = keep * (1 - keep) * (ladder.squares - squares)
    scale = np.sqrt(np.maximum(variance, 1e-30 * squares[-1]))
    guess: Floats = ndtr(mean / scale)
    return guess
