"""Where to look for the shortest anchor of a linear score, and how closely: by harmonics.

Estimates say which lengths to look at, and how many harmonics their proof takes. The first look is taken at
many documents together (`begin_together`), and is as a rule the last.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

from kedge.evaluators.harmonics import FIRST
from kedge.model.scores.additive import UNIT, AdditiveScore
from kedge.results.interval import Interval
from kedge.search.exact.ladder import Ladder
from kedge.search.exact.prefix_tails import Look, PrefixWaves

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
    """The first look at the anchors of a ladder; and what it tells, where it was taken at the right ones."""

    ladder: Ladder
    look: Look
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
    spans = []
    for ladder in ladders:
        length = guess(ladder, threshold, shortest)
        spans.append((min(length + 2, len(ladder)), max(length - 2, shortest)))
    waves = PrefixWaves(ladders, FINE, spans)
    counts, nothing, here = [], [], []
    for ladder, look in zip(ladders, waves.looks, strict=True):
        widths = _widths(look, threshold, COARSE)
        aim = min(widths)
        here.append(aim >= FINE and _next_span(ladder, look, threshold, shortest) is None)
        counts.append(min(look.needed(widths), _most(ladder)) if here[-1] else FIRST)
        nothing.append(NOTHING * aim)
    tails = waves.tails(counts, nothing)
    rows = zip(ladders, waves.looks, tails, here, strict=True)
    return [Begun(ladder, look, tail if right else None) for ladder, look, tail, right in rows]


def by_waves(ladder: Ladder, threshold: float, shortest: int, begun: Begun | None) -> dict[int, Interval]:
    """Length to precision, by harmonics: intervals just narrow enough to be told from the threshold."""
    _, look, told = begun or _first_looks([ladder], threshold, shortest)[0]
    if told is not None and reaching(told, threshold, shortest) and proven(told, threshold, shortest):
        return told
    waves, finest, aim, most = None, FINE, COARSE, _most(ladder)
    while told is None and (span := _next_span(ladder, look, threshold, shortest)) is not None:
        waves = PrefixWaves([ladder], FINE, [span])
        look = waves.looks[0]
    looked: dict[int, Interval] = {}
    while True:
        widths = _widths(look, threshold, aim)
        aim = min(widths)
        if aim < finest:  # the circle leaves too much outside
            finest, span = aim / 2.0, (look.longest, look.least)
        else:
            count = min(look.needed(widths), most)
            if waves is not None:
                told = waves.tails([count], [NOTHING * aim])[0]
            for length, tail in (told or {}).items():
                known = looked.get(length, tail)
                looked[length] = Interval(max(known.low, tail.low), tail.mean, min(known.high, tail.high))
            reached = bool(reaching(looked, threshold, shortest))
            if reached and (count == most or proven(looked, threshold, shortest)):
                return looked
            if count == most and look.longest == len(ladder):
                return looked
            aim /= 8.0
            finest, span = aim, (min(look.longest + (4 if count == most else 0), len(ladder)), look.least)
        waves = PrefixWaves([ladder], finest, [span])
        look = waves.looks[0]


def _most(ladder: Ladder) -> int:
    """How many harmonics a look may take."""
    return max(HARMONICS // ladder.coins, FIRST)


def _next_span(ladder: Ladder, look: Look, threshold: float, shortest: int) -> tuple[int, int] | None:
    """Where to look if not here: lengths from one that reaches the threshold to one that misses it."""
    longest, least, reaching = look.longest, look.least, look.reaching(threshold)
    if reaching == 0 and longest < len(ladder):
        return min(2 * longest + 4, len(ladder)), longest
    if reaching == longest - least + 1 and least > shortest:
        return min(least + 1, len(ladder)), max(least - 6, shortest)
    return None


def _widths(look: Look, threshold: float, aim: float) -> list[float]:
    """Half widths that tell the answer, the length before it and the empty anchor from the threshold."""
    widths = [aim] * len(look.precisions)
    if threshold == 1.0:
        return widths  # what is certain is known without any harmonics
    reaching = look.reaching(threshold)
    last = look.longest - look.least
    for row, finest in ((max(reaching - 1, 0), FINEST), (min(reaching, last), FINEST), (-1, EMPTY)):
        room = ROOM * abs(look.precisions[row] - threshold)
        widths[row] = min(widths[row], max(room, finest))
    return widths


def guess(ladder: Ladder, threshold: float, shortest: int) -> int:
    """About how long the shortest anchor is: where to look, never what to claim.

    By a Gaussian of the same mean and variance: beyond its middle it never falls with the length.
    """
    keep, heads, squares, most = ladder.keep, ladder.heads, ladder.squared_heads, len(ladder)
    nothing = keep * (ladder.floor + float(heads[-1])) + (1.0 - keep) * ladder.bias
    far = keep * (1.0 - keep) * _deviations(threshold) ** 2

    def reaches(length: int) -> bool:
        mean = nothing + (1.0 - keep) * float(heads[length])
        return mean >= 0.0 and mean * mean >= far * (ladder.squares - float(squares[length]))

    low, high = shortest - 1, shortest
    while high < most and not reaches(high):
        low, high = high, 2 * high + 1
    high = min(high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


@cache
def _deviations(threshold: float) -> float:
    """So many standard deviations above zero a Gaussian is positive with this chance."""
    return NormalDist().inv_cdf(min(threshold, 1.0 - UNIT)) if threshold > 0.5 else 0.0


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
