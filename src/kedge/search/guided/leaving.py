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
from kedge.search.guided.looking import Look, look_at
from kedge.search.guided.pool import Rows
from kedge.search.guided.proof import Proof
from kedge.typing import Kept

__all__ = ["ROUND", "Need", "Needs", "Verdict", "estimate", "without"]

Verdict = Literal["seen", "estimated", "narrow", "open"]

# Fewer samples than this say little of an anchor, so that the surrogate is heard, or more are asked for.
_FEW = 16
# A word without which the label is predicted to be lost this many times too often is needed, unasked.
_CLEARLY = 2.0
# It is, if the surrogate is wrong no more often than this.
_TRUSTED = 0.05
# Samples without a word: in a round, and at most.
ROUND, _MOST = 24, 120
# At most, where log-odds say more than labels.
_MOST_ODDS = 48
# Standard errors from the threshold at which an estimate has settled.
_SETTLED = 2.0
# What is left out before the proof is estimated so many standard errors on the bad side.
_PRUDENT = 0.5
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
    holds = learner.pool.given(kept).holds
    n, hits = len(holds), int(holds.sum())
    low, high = mixture_interval(hits, n, learner.goal.delta)
    if n >= _FEW and not learner.vouched:
        return Interval(low, hits / n, high)
    predicted = learner.predicted_loss(kept)
    mean = 1 - predicted if predicted is not None else hits / n if n else 0.5
    return Interval(low, mean, high).within(low, high)


class Needs:
    """Leaves each word of a proved anchor out, the least weighty first.

    ``worth`` is how many questions the proof of an anchor that is shorter by a word may be expected to take,
    at ``level``; ``failed`` are anchors whose own proof was tried and did not come.
    """

    def __init__(self, learner: Learner, worth: int, failed: Iterable[Kept] = ()) -> None:
        self._learner, self.worth = learner, worth
        self._out: dict[tuple[Kept, int], Rows] = {}
        self.failed: set[Kept] = set(failed)
        self.level = learner.goal.delta
        self._needed: set[int] = set()

    def __call__(self, proved: Proof) -> tuple[Need, ...]:
        """What is known of every word, up to the first without which a proof is worth trying: it is open."""
        weights = self._learner.surrogate.weights
        found: list[Need] = []
        for unit in sorted(dict.fromkeys(proved.kept), key=lambda j: (weights[j], -j)):
            found.append(self._need(proved, unit))
            if found[-1].verdict == "open":
                break
        return tuple(found)

    def spare(self, kept: Kept, last: float = np.inf) -> Kept | None:
        """An anchor without a word that it seems to do without, before anything is proved.

        Nothing more is asked once ``last`` questions were.
        """
        learner, weights = self._learner, self._learner.surrogate.weights
        if not getattr(learner.pool.reading.perturbation, "independent", False):
            return None
        own = look_at(learner, kept, learner.pool.given(kept))
        worth = max(learner.cost(1 - own.mean) + learner.word, self.worth)
        for unit in sorted(dict.fromkeys(kept), key=lambda j: (weights[j], -j)):
            rest = without(kept, unit)
            (word,) = learner.words_of((unit,))
            if learner.pool.reading.oracle.queries >= last:
                return None
            below = any(set(rest) <= set(one) for one in self.failed)  # what seems to reach there is luck
            if below or word in self._needed or self._foreseen(rest):
                continue
            look = self._settled(kept, unit, own, worth)
            if learner.cost(1 - look.mean + _PRUDENT * look.error) <= worth:
                return rest
            self._needed.add(word)
        return None

    def _settled(self, kept: Kept, unit: int, own: Look, worth: float, most: float = np.inf) -> Look:
        """Ask about samples without a word until it is clear what the proof of the rest would cost."""
        learner, pool = self._learner, self._learner.pool
        most = min(most, _MOST if pool.reading.log_odds is None else _MOST_ODDS)
        while True:
            look = self._rest(kept, unit, own)
            misses = learner.goal.threshold - look.mean > _SETTLED * look.error
            dear = learner.cost(1 - look.mean - look.error) > worth
            cheap = learner.cost(1 - look.mean + look.error) <= worth
            clear = (misses or dear or cheap) and (look.trials >= _FEW or learner.seldom_wrong)
            if clear or len(self._without(kept, unit).holds) >= most or pool.left <= 0:
                return look
            self._ask(kept, unit)

    def _need(self, proved: Proof, unit: int) -> Need:
        """Ask about samples without a word until the estimate settles, or about all if they are few."""
        kept, rest = proved.kept, without(proved.kept, unit)
        pool, threshold = self._learner.pool, self._learner.goal.threshold
        coins = getattr(pool.reading.perturbation, "independent", False)
        if not coins and pool.left > 0 and len(pool.given(rest).holds) < _MOST:
            self._learner.draw(rest, _MOST)
        texts = table_size(pool.reading, rest) if pool.reading.repeatable else np.inf
        few = texts <= min(_TEXTS, pool.left)
        if not coins or self._foreseen(rest):
            need = self._judged(unit, rest, estimate(self._learner, rest))
            return self._enumerated(need) if few and need.verdict == "narrow" else need
        own = look_at(self._learner, kept, pool.given(kept))
        if proved.trials == np.inf:
            own = Look(proved.interval.mean, 0.0, np.inf)
        look = self._settled(kept, unit, own, self.worth, texts / 2)
        need = self._judged(unit, rest, self._bounded(proved, unit, look.mean), look.error)
        unclear = look.mean >= threshold - _SETTLED * look.error
        return self._enumerated(need) if unclear and texts <= min(_TEXTS, pool.left) else need

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
        rows = pool.reading.sample(kept, min(ROUND, pool.left), pool.rng)
        rows[:, unit] -= 1
        asked, held = pool.ask(rows)
        more = Rows(asked, held, pool.reading.answers(asked)[1])
        self._out[kept, unit] = self._without(kept, unit).plus(more)

    def _without(self, kept: Kept, unit: int) -> Rows:
        """The samples without a word that were asked about here, after the anchor was chosen."""
        none = np.zeros((0, len(self._learner.pool.reading.units)), dtype=np.int64)
        return self._out.get((kept, unit), Rows(none, np.zeros(0, dtype=bool), np.zeros(0)))

    def _rest(self, kept: Kept, unit: int, own: Look) -> Look:
        """The precision without a word, from that of the anchor and that of samples without the word."""
        pool, rest = self._learner.pool, without(kept, unit)
        keep, rows = pool.reading.keep, self._without(kept, unit)
        if pool.reading.units.sizes[unit] == 1:  # of samples that leave the word to a coin, those without
            more = pool.given(rest)
            rows = rows.plus(more.where(more.counts[:, unit] == 0))
        gone = look_at(self._learner, kept, rows, unit)
        error = float(np.hypot(keep * own.error, (1 - keep) * gone.error))
        return Look(keep * own.mean + (1 - keep) * gone.mean, error, gone.trials)

    def _bounded(self, proved: Proof, unit: int, mean: float) -> Interval:
        """The precision without a word, between what its samples and those of the proof leave open."""
        kept, pool = proved.kept, self._learner.pool
        keep, delta = pool.reading.keep, self._learner.goal.delta
        holds, own = self._without(kept, unit).holds, pool.seen(kept)
        gone = mixture_interval(int(holds.sum()), len(holds), delta / 2)
        there = mixture_interval(int(own.sum()), len(own), delta / 2)
        if proved.trials == np.inf:
            there = proved.interval.low, proved.interval.high
        low, high = (keep * a + (1 - keep) * b for a, b in zip(there, gone, strict=True))
        return Interval(low, mean, high).within(low, high)

    def _judged(
        self, unit: int, rest: Kept, known: Interval, error: float = 0.0, *, exact: bool = False
    ) -> Need:
        threshold = self._learner.goal.threshold
        verdict: Verdict = "open"
        if known.high < threshold:
            verdict = "seen"
        elif known.mean < threshold:
            verdict = "estimated"
        elif not exact and (
            rest in self.failed or self._learner.cost(1 - known.mean + error, self.level) > self.worth
        ):
            verdict = "narrow"
        return Need(unit, rest, known, verdict, exact)
