"""Whether an anchor can do without one of its words: seen, estimated, too close to prove, or open.

Without a word the precision is keep times that of the anchor, plus 1 - keep times the share of samples that
hold though the word is gone. The first is known from the proof; so only samples without the word are asked
about, and a sample says twice as much (keep = 1/2) as one that leaves it to a coin.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kedge.evaluators.enumeration import anchor_precision, table_size
from kedge.evaluators.intervals import mixture_interval
from kedge.results.interval import Interval
from kedge.search.guided.learner import Learner
from kedge.search.guided.proof import Proof
from kedge.typing import Bools, Counts, Kept

__all__ = ["Need", "Needs", "Verdict", "estimate", "without"]

Verdict = Literal["seen", "estimated", "narrow", "open"]

# Fewer samples than this say little of an anchor, so that the surrogate is heard, or more are asked for.
_FEW = 16
# A word without which the label is predicted to be lost this many times too often is needed, unasked.
_CLEARLY = 2.0
# It is, if the surrogate is wrong no more often than this.
_TRUSTED = 0.05
# Samples without a word: in a round, and at most.
_ROUND, _MOST = 24, 120
# Standard errors from the threshold at which an estimate has settled.
_SETTLED = 2.0
# Texts with the rest of an anchor that are all asked about, where samples do not show that it misses.
_TEXTS = 512


@dataclass(frozen=True)
class Need:
    """What is known of an anchor without one of its units.

    ``"seen"``: it misses the threshold, at the confidence asked for. ``"estimated"``: it seems to.
    ``"narrow"``: it seems to reach it, but so narrowly that the proof is not worth it. ``"open"``: it may
    well reach it. ``exact`` says that all of its texts were asked about.
    """

    unit: int
    rest: Kept
    known: Interval
    verdict: Verdict
    exact: bool = False


def without(kept: Kept, unit: int) -> Kept:
    """An anchor with one occurrence of a unit less."""
    at = kept.index(unit)
    return kept[:at] + kept[at + 1 :]


def estimate(learner: Learner, kept: Kept) -> Interval:
    """What the samples asked about so far say of an anchor, or else the surrogate; it proves nothing."""
    _, holds = learner.pool.given(kept)
    n, hits = len(holds), int(holds.sum())
    low, high = mixture_interval(hits, n, learner.goal.delta)
    if n >= _FEW and not learner.vouched:
        return Interval(low, hits / n, high)
    predicted = learner.predicted_loss(kept)
    mean = 1 - predicted if predicted is not None else hits / n if n else 0.5
    return Interval(low, mean, high).within(low, high)


class Needs:
    """Leaves each word of a proved anchor out, the least weighty first.

    ``worth`` is how many questions the proof of an anchor that is shorter by a word may be expected to take;
    ``failed`` are anchors whose own proof was tried and did not come.
    """

    def __init__(self, learner: Learner, worth: int, failed: Iterable[Kept] = ()) -> None:
        self._learner, self._worth = learner, worth
        self._out: dict[tuple[Kept, int], tuple[Counts, Bools]] = {}
        self.failed: set[Kept] = set(failed)

    def __call__(self, proved: Proof) -> tuple[Need, ...]:
        """What is known of every word, up to the first without which a proof is worth trying: it is open."""
        weights = self._learner.surrogate.weights
        found: list[Need] = []
        for unit in sorted(dict.fromkeys(proved.kept), key=lambda j: (weights[j], -j)):
            found.append(self._need(proved, unit))
            if found[-1].verdict == "open":
                break
        return tuple(found)

    def _need(self, proved: Proof, unit: int) -> Need:
        """Ask about samples without a word until the estimate settles, or about all if they are few."""
        kept, rest = proved.kept, without(proved.kept, unit)
        pool, threshold = self._learner.pool, self._learner.goal.threshold
        coins = getattr(pool.reading.perturbation, "independent", False)
        if not coins and pool.left > 0 and len(pool.given(rest)[1]) < _MOST:
            self._learner.draw(rest, _MOST)
        texts = table_size(pool.reading, rest) if pool.reading.repeatable else np.inf
        few = texts <= min(_TEXTS, pool.left)
        if not coins or self._foreseen(rest):
            need = self._judged(unit, rest, estimate(self._learner, rest))
            return self._enumerated(need) if few and need.verdict == "narrow" else need
        while True:
            known, error = self._known(proved, unit)
            settled = abs(known.mean - threshold) > _SETTLED * error
            asked = len(self._without(kept, unit)[1])
            if settled or asked >= _MOST or pool.left <= 0 or texts <= 2 * asked:
                break
            self._ask(kept, unit)
        need = self._judged(unit, rest, known)
        if (not settled or known.mean >= threshold) and texts <= min(_TEXTS, pool.left):
            return self._enumerated(need)
        return need

    def _enumerated(self, need: Need) -> Need:
        """The same with all of its texts asked about."""
        known = anchor_precision(self._learner.pool.reading, need.rest)
        return self._judged(need.unit, need.rest, known, exact=True)

    def _foreseen(self, rest: Kept) -> bool:
        """Whether the surrogate is believed: it explains all, or is seldom wrong and leaves no doubt."""
        predicted = self._learner.predicted_loss(rest)
        if self._learner.vouched or predicted is None:
            return self._learner.vouched
        clear = predicted > _CLEARLY * (1 - self._learner.goal.threshold)
        return clear and self._learner.error <= _TRUSTED

    def _ask(self, kept: Kept, unit: int) -> None:
        pool = self._learner.pool
        rows = pool.reading.sample(kept, min(_ROUND, pool.left), pool.rng)
        rows[:, unit] -= 1
        asked, held = pool.ask(rows)
        counts, holds = self._without(kept, unit)
        self._out[kept, unit] = np.concatenate([counts, asked]), np.concatenate([holds, held])

    def _without(self, kept: Kept, unit: int) -> tuple[Counts, Bools]:
        """The samples without a word that were asked about here, after the anchor was chosen."""
        none = np.zeros((0, len(self._learner.pool.reading.units)), dtype=np.int64), np.zeros(0, dtype=bool)
        return self._out.get((kept, unit), none)

    def _known(self, proved: Proof, unit: int) -> tuple[Interval, float]:
        """The precision without a word, and the standard error of its estimate."""
        kept, rest, pool = proved.kept, without(proved.kept, unit), self._learner.pool
        keep, delta = pool.reading.keep, self._learner.goal.delta
        counts, holds = self._without(kept, unit)
        gone = mixture_interval(int(holds.sum()), len(holds), delta / 2)
        own = pool.seen(kept)
        there = mixture_interval(int(own.sum()), len(own), delta / 2)
        if proved.trials == np.inf:
            there = proved.interval.low, proved.interval.high
        low, high = (keep * a + (1 - keep) * b for a, b in zip(there, gone, strict=True))
        if pool.reading.units.sizes[unit] == 1:  # of samples that leave the word to a coin, those without
            more, held = pool.given(rest)
            out = more[:, unit] == 0
            counts, holds = np.concatenate([counts, more[out]]), np.concatenate([holds, held[out]])
        mean, error = self._estimated(proved, rest, counts, holds)
        return Interval(low, mean, high).within(low, high), error

    def _estimated(self, proved: Proof, rest: Kept, counts: Counts, holds: Bools) -> tuple[float, float]:
        """The better of two estimates: plain, or corrected by the surrogate's known prediction."""
        keep, surrogate = self._learner.pool.reading.keep, self._learner.surrogate
        rows, held = self._learner.pool.given(proved.kept)
        found = []
        for predicted in (False, True) if surrogate.exact else (False,):
            there, gone = (
                _mean((~h).astype(np.int64) - (predicted & ~surrogate.holds(c)))
                for c, h in ((rows, held), (counts, holds))
            )
            if proved.trials == np.inf:
                there = 1 - proved.interval.mean - (surrogate.loss(proved.kept) if predicted else 0.0), 0.0
            lost = keep * there[0] + (1 - keep) * gone[0] + (surrogate.loss(rest) if predicted else 0.0)
            found.append(
                (float(np.clip(1 - lost, 0, 1)), float(np.hypot(keep * there[1], (1 - keep) * gone[1])))
            )
        return min(found, key=lambda one: one[1])

    def _judged(self, unit: int, rest: Kept, known: Interval, *, exact: bool = False) -> Need:
        threshold = self._learner.goal.threshold
        verdict: Verdict = "open"
        if known.high < threshold:
            verdict = "seen"
        elif known.mean < threshold:
            verdict = "estimated"
        elif not exact and (rest in self.failed or self._learner.cost(1 - known.mean) > self._worth):
            verdict = "narrow"
        return Need(unit, rest, known, verdict, exact)


def _mean(excess: Counts) -> tuple[float, float]:
    """The mean of numbers in {-1, 0, 1}, and its standard error; half a one more is counted in it."""
    n = len(excess)
    mean = float(excess.mean()) if n else 0.5
    spread = (float(np.abs(excess).sum()) + 0.5) / (n + 1) - mean**2
    return mean, float(np.sqrt(max(spread, 0.25 / (n + 1)) / max(n, 1)))
