"""Where to look for the shortest anchor of a linear score, and how closely: by harmonics.

Estimates say which lengths to look at, and how many harmonics their proof takes. The first look is taken at
many documents together (`begin_together`), and is as a rule the last.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kedge.evaluators.harmonics import FIRST
from kedge.model.scores.additive import AdditiveScore
from kedge.results.interval import Interval
from kedge.search.exact.ladder import Ladder
from kedge.search.exact.prefix_tails import Looks, PrefixWaves
from kedge.typing import Bools, Counts, Floats

__all__ = ["ALL_COINS", "Begun", "begin_together", "by_waves", "guess", "proven", "reaching"]

# Up to this many occurrences all 2^n samples are added up: tens of microseconds.
ALL_COINS = 14
# Half widths of intervals: narrow enough to be useful, what a first look is prepared for, the finest of the
# empty anchor, which decides nothing but a remark, and the finest of all.
COARSE, FINE, EMPTY, FINEST = 2.5e-3, 8e-5, 2e-6, 1e-15
# An interval takes this share of the room that there is beside the threshold, and what cannot be heard at a
# harmonic this share of the interval.
ROOM, NOTHING = 0.8, 1e-3
# Harmonics times occurrences that a look may cost: about half a second.
HARMONICS = 1 << 25


class Begun(NamedTuple):
    """The first look at the anchors of a ladder, beside those at others; and what it tells.

    Parameters
    ----------
    ladder
        The ladder.
    looks, place
        What was heard of all ladders, and which of them this one is.
    tails
        Length to precision, where the look was taken at the right lengths.
    """

    ladder: Ladder
    looks: Looks
    place: int
    tails: dict[int, Interval] | None


def begin_together(
    scores: Sequence[AdditiveScore], threshold: float, *, keep: float = 0.5, allow_empty: bool = False
) -> list[Begun | None]:
    """The first steps of `shortest_prefix` for many scores, which are taken beside each other.

    None where there is nothing to be gained: few words, or scores on a lattice.
    """
    shortest = 0 if allow_empty else 1
    ladders = [Ladder.of(score, keep) for score in scores]
    waves = [
        k
        for k, (score, ladder) in enumerate(zip(scores, ladders, strict=True))
        if len(ladder) and ladder.coins > ALL_COINS and not score.exact
    ]
    begun: list[Begun | None] = [None] * len(scores)
    if waves:
        found = _first_looks([ladders[k] for k in waves], threshold, shortest)
        for k, one in zip(waves, found, strict=True):
            begun[k] = one
    return begun


def _first_looks(ladders: Sequence[Ladder], threshold: float, shortest: int) -> list[Begun]:
    """A few lengths around a guess; and intervals for them, where these are the right ones."""
    spans = [
        (min(length + 2, len(ladder)), max(length - 2, shortest))
        for length, ladder in zip(_guesses(ladders, threshold, shortest), ladders, strict=True)
    ]
    waves = PrefixWaves(ladders, FINE, spans)
    looks = waves.looks
    widths = _widths(looks, threshold, COARSE)
    aims = np.minimum.reduceat(widths, looks.first)
    lengths = np.array([len(ladder) for ladder in ladders])
    here = ~(_is_above(looks, threshold, lengths) | _is_below(looks, threshold, shortest)) & (aims >= FINE)
    most = np.array([_most(ladder) for ladder in ladders])
    counts = np.where(here, np.minimum(looks.needed(widths), most), FIRST)
    tails = waves.tails(counts, NOTHING * aims)
    rows = zip(ladders, tails, here.tolist(), strict=True)
    return [Begun(ladder, looks, k, tail if right else None) for k, (ladder, tail, right) in enumerate(rows)]


def by_waves(ladder: Ladder, threshold: float, shortest: int, begun: Begun | None) -> dict[int, Interval]:
    """Length to precision, by harmonics: intervals just narrow enough to be told from the threshold."""
    _, looks, place, told = begun or _first_looks([ladder], threshold, shortest)[0]
    if told is not None and reaching(told, threshold, shortest) and proven(told, threshold, shortest):
        return told
    look = looks.of(place)
    waves, finest, aim, most = None, FINE, COARSE, _most(ladder)
    while told is None and (span := _next_span(ladder, look, threshold, shortest)) is not None:
        waves = PrefixWaves([ladder], FINE, [span])
        look = waves.looks
    looked: dict[int, Interval] = {}
    while True:
        widths, longest, least = _widths(look, threshold, aim), int(look.longest[0]), int(look.least[0])
        aim = float(widths.min())
        if aim < finest:  # the circle leaves too much outside
            finest, span = aim / 2.0, (longest, least)
        else:
            count = min(int(look.needed(widths)[0]), most)
            if waves is not None:
                told = waves.tails(np.array([count]), np.array([NOTHING * aim]))[0]
            for length, tail in (told or {}).items():
                known = looked.get(length, tail)
                looked[length] = Interval(max(known.low, tail.low), tail.mean, min(known.high, tail.high))
            reached = bool(reaching(looked, threshold, shortest))
            if reached and (count == most or proven(looked, threshold, shortest)):
                return looked
            if count == most and longest == len(ladder):
                return looked
            aim /= 8.0
            finest, span = aim, (min(longest + (4 if count == most else 0), len(ladder)), least)
        waves = PrefixWaves([ladder], finest, [span])
        look = waves.looks


def _most(ladder: Ladder) -> int:
    """How many harmonics a look may take."""
    return max(HARMONICS // ladder.coins, FIRST)


def _is_above(looks: Looks, threshold: float, lengths: Counts) -> Bools:
    """Whether the answer is longer than all that was looked at."""
    above: Bools = (looks.reaching(threshold) == 0) & (looks.longest < lengths)
    return above


def _is_below(looks: Looks, threshold: float, shortest: int) -> Bools:
    """Whether it may be shorter than all that was looked at."""
    every = looks.reaching(threshold) == looks.longest - looks.least + 1
    below: Bools = every & (looks.least > shortest)
    return below


def _next_span(ladder: Ladder, look: Looks, threshold: float, shortest: int) -> tuple[int, int] | None:
    """Where to look if not here: lengths from one that reaches the threshold to one that misses it."""
    longest, least, total = int(look.longest[0]), int(look.least[0]), len(ladder)
    if _is_above(look, threshold, np.array([total]))[0]:
        return min(2 * longest + 4, total), longest
    if _is_below(look, threshold, shortest)[0]:
        return min(least + 1, total), max(least - 6, shortest)
    return None


def _widths(looks: Looks, threshold: float, aim: float) -> Floats:
    """Half widths that tell the answer, the length before it and the empty anchor from the threshold."""
    widths = np.full(len(looks.precisions), aim)
    if threshold == 1.0:
        return widths  # what is certain is known without any harmonics
    reaching = looks.reaching(threshold)
    answer = np.maximum(reaching - 1, 0)
    before = np.minimum(reaching, looks.longest - looks.least)
    for row, finest in ((answer, FINEST), (before, FINEST), (looks.rows - 1, EMPTY)):
        at = looks.first + row
        room = ROOM * np.abs(looks.precisions[at] - threshold)
        widths[at] = np.minimum(widths[at], np.maximum(room, finest))
    return widths


def guess(ladder: Ladder, threshold: float, shortest: int) -> int:
    """About how long the shortest anchor is: where to look, never what to claim."""
    return _guesses([ladder], threshold, shortest)[0]


def _guesses(ladders: Sequence[Ladder], threshold: float, shortest: int) -> list[int]:
    """The same of several ladders: by a Gaussian of the same mean and variance."""
    from scipy.special import ndtr

    keep = ladders[0].keep
    often = np.array([len(ladder) + 1 for ladder in ladders])
    ends = np.cumsum(often)
    heads = np.concatenate([ladder.heads for ladder in ladders])
    squared = np.concatenate([ladder.squared_heads for ladder in ladders])
    floor, bias, squares = np.array([(one.floor, one.bias, one.squares) for one in ladders]).T
    # The mean when nothing is kept, but for rungs.
    lowest = keep * floor + (1 - keep) * bias
    mean = (1 - keep) * heads + np.repeat(lowest + keep * heads[ends - 1], often)
    variance = keep * (1 - keep) * (np.repeat(squares, often) - squared)
    scale = np.sqrt(np.maximum(variance, 1e-30 * np.repeat(squared[ends - 1], often)))
    reach = ndtr(mean / scale) >= threshold
    reach[ends - 1] = True  # where no shorter one does, all of them
    reached = np.flatnonzero(reach)
    lengths = reached[np.searchsorted(reached, ends - often)] - (ends - often)
    return np.maximum(lengths, shortest).tolist()


def reaching(looked: Mapping[int, Interval], threshold: float, shortest: int) -> list[int]:
    """Lengths whose whole interval is at or above the threshold."""
    return [n for n, tail in looked.items() if n >= shortest and tail.low >= threshold]


def proven(looked: Mapping[int, Interval], threshold: float, shortest: int) -> bool:
    """Whether the shortest length that is known to reach is known to be the shortest."""
    reached = reaching(looked, threshold, shortest)
    if not reached:
        return True  # nothing to be proven
    length = min(reached)
    return length == shortest or (length - 1 in looked and looked[length - 1].high < threshold)
