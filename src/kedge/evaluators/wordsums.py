"""The tails of scores between two sums over words: one characteristic function bounds each from both sides.

Several scores are worked out beside each other, in a few calls for all of them; each to the last bit as if
it were alone.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.evaluators.harmonics import FIRST, Circle, Complexes, Spectra, Waves, circumference, powers
from kedge.evaluators.laws import Coins, Laws
from kedge.evaluators.loudness import is_quiet, loud_harmonics
from kedge.results.interval import UNKNOWN, Interval
from kedge.typing import Bools, Counts, Floats

__all__ = ["COARSE", "Between", "WordSums"]

COARSE = 5e-3
"""Half the width of an interval that has nothing to decide."""
# An interval takes this share of the room that there is beside the threshold, down to the finest half width;
# and what cannot be heard at a harmonic this share of the interval.
_ROOM, _FINE, _NOTHING = 0.8, 2e-4, 1e-3
# Sums with more harmonics than this are looked at one by one, for what a table of them would take.
_TOGETHER = 4096
_NO_MORE = np.empty(0)


@dataclass(frozen=True)
class Between:
    """Scores that lie between two sums each: low + sum of its words <= score <= high + sum of its words.

    Parameters
    ----------
    low, high, likely
        (s,) the constants of the two sums, and the constant that the score is closest to as a rule.
    spare_low, spare_high
        (s,) with at most this probability the lower, the upper sum fails to bound the score.
    """

    low: Floats
    high: Floats
    likely: Floats
    spare_low: Floats
    spare_high: Floats


@dataclass(frozen=True)
class WordSums:
    """Several sums over words, one after another.

    Parameters
    ----------
    values, law
        (n,) what the counts that each word can have bring, and the chance of each, word by word.
    often
        (w,) how many counts each word can have.
    words
        (s,) how many words each sum has.
    keep
        Probability that a free occurrence stays.
    error
        (s,) bounds on the floating-point errors of the scores.
    """

    values: Floats
    law: Floats
    often: Counts
    words: Counts
    keep: float
    error: Floats

    @cached_property
    def starts(self) -> Counts:
        """(w,) where the counts of each word begin."""
        return np.cumsum(self.often) - self.often

    @cached_property
    def firsts(self) -> Counts:
        """(s,) where the words of each sum begin."""
        return np.cumsum(self.words) - self.words

    def _added(self, each: Floats) -> Floats:
        """(s,) sums of what there is for each word."""
        added: Floats = np.add.reduceat(each, self.firsts)
        return added

    def tails(
        self, score: Between, threshold: float | None = None, width: float = COARSE, finest: float = _FINE
    ) -> list[Interval]:
        """Certified intervals for P(score > 0).

        Of half the width given, or narrower where that shows the side of a threshold; and wider by what lies
        between the two sums.
        """
        start = self.values[self.starts]
        moved = self.values - np.repeat(start, self.often)
        least, most = np.minimum.reduceat(moved, self.starts), np.maximum.reduceat(moved, self.starts)
        centres: Floats = np.add.reduceat(moved * self.law, self.starts)
        base, squares = self._added(start), self._added((most - least) ** 2)
        mean = base + self._added(centres)
        means = mean + np.array([score.low - self.error, score.likely, score.high + self.error])
        random = squares > 0.0
        circle = Circle(circumference(np.where(random, squares, 1.0), finest / 20.0))
        heard = _Heard(self, circle, moved, centres)
        spectra = Spectra(circle, heard.phi, _NO_MORE, means, squares, self.words)
        widths = np.full(len(base), width)
        if threshold is not None:
            above, below = spectra.estimates[0] - score.spare_low, spectra.estimates[2] + score.spare_high
            room = _ROOM * np.maximum(above - threshold, threshold - below)
            # Where there is none, no interval can tell.
            widths = np.where(room > 0.0, np.minimum(widths, np.maximum(room, finest)), widths)
        needed = np.ceil(0.5 * np.maximum.reduce(spectra.spread) / widths)
        counts = np.maximum(needed, FIRST).astype(np.int64)
        nothing = _NOTHING * widths
        loud = heard.loud(counts, nothing)
        tails = spectra.tails(counts, nothing) if len(loud) < len(base) else [UNKNOWN] * len(base)
        for s, (alone, phi, more) in loud.items():
            row = slice(s, s + 1)
            own = Spectra(alone, phi, more, means[:, row], squares[row], int(self.words[s]))
            tails[s] = own.tails(int(counts[s]), float(nothing[s]))[0]
        ends = np.array([base + self._added(least) + score.low, base + self._added(most) + score.high])
        return self._settled(score, tails, ends, base + score.likely, random)

    def _settled(
        self, score: Between, tails: list[Interval], ends: Floats, middle: Floats, random: Bools
    ) -> list[Interval]:
        """What is known, given the ends of each sum: its sign may be certain, or nothing left to chance."""
        # Our own sums are rounded once per word; the score's error allows for that.
        above, below = (ends[0] > self.error).tolist(), (ends[1] < -self.error).tolist()
        spares = zip(score.spare_low.tolist(), score.spare_high.tolist(), strict=True)
        found = []
        for s, (spare_low, spare_high) in enumerate(spares):
            low, mean, high = tails[s]
            if not random[s]:  # nothing is left to chance but on which side of the score the sums lie
                low, mean, high = float(above[s]), float(middle[s] > 0.0), float(not below[s])
            elif above[s] and not spare_low:
                low = mean = high = 1.0
            elif below[s] and not spare_high:
                low = mean = high = 0.0
            found.append(Interval(low - spare_low, mean, high + spare_high).within(0.0, 1.0))
        return found


class _Heard:
    """The characteristic functions of several sums, each on its own circle: see `Circle`."""

    def __init__(self, sums: WordSums, circle: Circle, moved: Floats, centres: Floats) -> None:
        self._sums, self._periods = sums, np.asarray(circle.period)
        often, cells = sums.often, sums.starts
        self._moved = moved
        # A word with one free occurrence is a coin; any other one that never moves, and maybe a law.
        self._coins = np.where(often == 2, moved[cells + np.minimum(often, 2) - 1], 0.0)
        self._turns = np.repeat(self._periods, sums.words)
        each = Circle(self._turns).factors(Coins(self._coins, sums.keep), _NO_MORE).T
        firsts = sums.firsts
        # In one order of memory, so that sums over harmonics do not depend on how many sums there are.
        phi = np.multiply.reduceat(each, firsts, axis=1).T
        self.phi: Waves = np.ascontiguousarray(phi, dtype=np.complex128)
        several = often > 2
        if several.any():
            inside = np.repeat(several, often)
            away = (moved - np.repeat(centres, often))[inside]
            there = often[several]
            angles = 2.0 * np.pi / np.repeat(self._turns[several], there) * away
            waves: Complexes = sums.law[inside][:, None] * powers(angles, 1, FIRST)
            laws = np.add.reduceat(waves, np.cumsum(there) - there)
            number = np.add.reduceat(several.astype(np.int64), firsts)
            starts = np.cumsum(number) - number
            self.phi[number > 0] *= np.multiply.reduceat(laws, starts[number > 0])

    def loud(self, counts: Counts, nothing: Floats) -> dict[int, tuple[Circle, Waves, Floats]]:
        """Of those sums that are heard at more harmonics: circle, characteristic function, at which."""
        sums, asked, tried = self._sums, [0], len(counts) > 1
        if tried:
            few = counts <= _TOGETHER
            shares = np.abs(self._coins) / self._turns
            later = np.where(few, counts, FIRST)
            quiet = few & is_quiet(shares, sums.firsts, later, nothing, sums.keep)
            asked = np.flatnonzero(~quiet).tolist()
        found = {}
        for s in asked:
            circle, coins, laws = self._alone(s)
            more = loud_harmonics(circle, coins, int(counts[s]), float(nothing[s]), tried=tried)
            if len(more):
                found[s] = circle, circle.characteristic(coins, laws, more)[None], more
        return found

    def _alone(self, s: int) -> tuple[Circle, Coins, Laws]:
        """One of the sums: its circle, its coins, and its other words."""
        sums = self._sums
        first = int(sums.firsts[s])
        words = slice(first, first + int(sums.words[s]))
        often, cell = sums.often[words], int(sums.starts[first])
        cells = slice(cell, cell + int(often.sum()))
        inside = np.repeat(often > 2, often)
        there = often[often > 2]
        coins = Coins(self._coins[words], sums.keep)
        laws = Laws(self._moved[cells][inside], sums.law[cells][inside], np.cumsum(there) - there)
        return Circle(float(self._periods[s])), coins, laws
