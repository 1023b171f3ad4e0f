"""Learning a surrogate of the model from the pool, and planning proofs with it."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kedge.evaluators.bets import expected_samples
from kedge.reading.expected import Expected
from kedge.search.guided.fitting import fit_labels, fit_log_odds
from kedge.search.guided.mistakes import Mistakes
from kedge.search.guided.pool import Pool
from kedge.search.guided.surrogate import Surrogate
from kedge.search.strategy import Goal
from kedge.typing import Bools, Counts, Floats, Kept

__all__ = ["Learner", "Plan"]

# Samples of more units than this are almost never drawn twice.
_REPEATS = 30
# A proposal is this much longer at most than the shortest that is predicted to reach; a proof of more
# questions than this is not to be had.
_MORE, _FAR = 4, 1e5
# Most anchors are no longer than this; longer ones are looked for only when needed.
_SHORT = 12
# Steps of a weight, relative to the largest, below which words are tied: what a regression of
# log-odds and what labels resolve.
_ODDS_RESOLUTION, _LABEL_RESOLUTION = 1e-3, 0.02
# An additive model is one whose log-odds other rows explain to this share of their variance.
_ADDITIVE = 1 - 1e-4
# A surrogate that is wrong more often than this is no help near the threshold, and a word less is worth
# this part of what it would be.
_FORESEEN, _UNFORESEEN = 0.02, 0.25
# In a long text of a model whose log-odds are known and are no sum, it is worth even less.
_NO_SUM = 0.07
# With a prior, or from labels alone, it may be wrong more often: it keeps learning.
_FORESEEN_LEARNING = 0.06
# Log-odds of which this share is explained may be a sum.
_NEARLY = 0.9
# Rows beyond one per unit that show log-odds to be a sum, where they are; how often it is wrong then.
_CHECKED, _SUM_ERROR = 5, 6e-4
# Rows of log-odds, each predicted by the others, of which the latest count; a prior counts as so many.
_LOOKED_AT, _BELIEVED, _FEWEST = 96, 24, 8
# By how much more often the label may be lost than predicted, as a share of the wrong predictions. An anchor
# that was chosen by a surrogate is one of which it hopes too much: most by labels alone, less with a prior.
_DOUBT, _HOPES, _HOPES_WITH_PRIOR = 0.25, 1.0, 0.5


class Plan(NamedTuple):
    """Rows to learn from before a proof, and the samples that the proof then takes."""

    rows: float
    samples: float

    @property
    def cost(self) -> float:
        """Queries in all."""
        return self.rows + self.samples


@dataclass
class Learner:
    """The current surrogate of one pool, and how well it has predicted lately.

    ``by_odds`` says whether it learns from log-odds, or from labels only; ``vouched`` that it
    predicted log-odds it had not seen; ``most_per_word`` how many questions an anchor shorter by a word is
    worth at most.
    """

    pool: Pool
    goal: Goal
    most_per_word: float = np.inf
    surrogate: Surrogate = field(init=False)
    explained: float = 0.0
    vouched: bool = False
    _start: Floats | None = None
    _wrong: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))
    _word: float | None = None

    def __post_init__(self) -> None:
        document, units = self.pool.reading.document, self.pool.reading.units
        words = [word.casefold() for word in units.words(document)]
        number = {word: i for i, word in enumerate(dict.fromkeys(words))}
        self._groups: Counts = np.array([number[w] for w in words], dtype=np.int64)
        gradient = self.pool.reading.gradient
        self._prior = self.pool.reading.prior if gradient is None else Expected(gradient())
        self.by_odds = self.pool.reading.log_odds is not None
        self.mistakes = Mistakes(len(number), self.foresees)

    def turn_to_labels(self) -> None:
        """Learn from labels from now on: the log-odds are no sum over units, so they only guide the fit."""
        self.by_odds = self.vouched = False
        self._prior = Expected(self.surrogate.weights.astype(np.float64))
        self.mistakes.stalled = True

    @property
    def fitted(self) -> bool:
        """Whether anything was learned yet."""
        return hasattr(self, "surrogate")

    @property
    def learns(self) -> bool:
        """Whether more labels leave fewer mistakes, as far as is known."""
        return self.pool.reading.log_odds is None and not self.mistakes.stalled

    @property
    def has_prior(self) -> bool:
        """Whether a direction of the weights is known, so that few samples may do."""
        return self._prior is not None and bool(np.any(self._prior.weights))

    @property
    def foresees(self) -> bool:
        """Whether answers can be predicted before the first question."""
        return self.has_prior and self._prior is not None and self._prior.level is not None

    def expected_best(self, units: Iterable[int]) -> int:
        """The unit that is expected to speak most for the label, the first of several."""
        return max(sorted(units), key=lambda j: 0.0 if self._prior is None else self._prior.weights[j])

    def fit(self, *, rough: bool = False) -> Surrogate:
        """Fit the surrogate to the pool; roughly, where labels allow it."""
        sizes, keep = self.pool.reading.units.sizes, self.pool.reading.keep
        if not len(self.pool) and self._prior is not None:
            self.surrogate = Surrogate.of(self._prior.weights, self._prior.level or 0.0, sizes, keep)
            return self.surrogate
        counts, holds, odds = self.pool.rows()
        if self.by_odds:
            found = fit_log_odds(counts, odds, holds, sizes, keep, self._groups, self._prior)
            self.surrogate, self.explained = found.surrogate, found.explained
            self.vouched = found.explained >= _ADDITIVE and not found.wrong.any()
            self._wrong = found.wrong[-_LOOKED_AT:]
        else:
            self.surrogate, self._start = fit_labels(
                counts, holds, sizes, keep, self._groups, self._prior, self._start, rough=rough
            )
        return self.surrogate

    def fit_vouched(self) -> bool:
        """Fit the log-odds; whether rows that were left out are predicted."""
        self.fit()
        return self.vouched

    def draw(self, kept: Kept, n: int) -> tuple[Counts, Bools]:
        """Samples given an anchor, whose answers were predicted before they were asked."""
        counts, holds = self.pool.draw(kept, n)
        self.predicted(self.surrogate.holds(counts) != holds)
        return counts, holds

    def predicted(self, wrong: Bools) -> None:
        """Remember how predictions made beforehand came out; a fit to log-odds knows it of every row."""
        if not self.by_odds:
            self.mistakes.remember(wrong, len(self.pool))

    @property
    def error(self) -> float:
        """The share of wrong predictions by now; 1 before there are some."""
        if not self.by_odds:
            return self.mistakes.share(len(self.pool))
        wrong, seen = int(self._wrong.sum()), len(self._wrong)
        if self.vouched:
            return max(wrong / max(seen, 1), _SUM_ERROR)
        seen += _BELIEVED if self.foresees else 0
        return (wrong + 0.5) / (seen + 1) if seen >= _FEWEST else 1.0

    @property
    def lately(self) -> float:
        """The share of wrong predictions lately, as they were made."""
        return self.error if self.by_odds else self.mistakes.lately

    def order(self) -> list[int]:
        """Occurrences by decreasing weight, or as the prior has it while nothing was learned."""
        if self._prior is not None and not self.surrogate.weights.any():
            units = self.surrogate
            return Surrogate.of(self._prior.weights, 0.0, units.sizes, units.keep).order(_LABEL_RESOLUTION)
        return self.surrogate.order(_ODDS_RESOLUTION if self.vouched else _LABEL_RESOLUTION)

    def proposal(self, *, learning: bool = False) -> tuple[Kept, float]:
        """The prefix of the ranking that is best to prove, and its predicted loss.

        The shortest that is predicted to reach, or a longer one whose proof is so much cheaper that it
        makes up for the words.
        """
        order, surrogate = self.order(), self.surrogate
        if learning and surrogate.exact:
            surrogate = surrogate.coarse()
        least = self.goal.shortest
        if not surrogate.exact:
            return tuple(sorted(order[:least])), 0.5
        length, losses = len(order), np.zeros(len(order) + 1)
        # By much noise no prefix is predicted to reach: then by the score alone, and samples will tell.
        noises = (True, False) if surrogate.noise and not self.vouched else (False,)
        for noisy, longest in itertools.product(noises, (min(_SHORT, len(order)), len(order))):
            losses = surrogate.losses(order, longest, noisy=noisy)
            reached = np.flatnonzero(losses[least:] <= 1 - self.goal.threshold)
            if len(reached) and (first := least + int(reached[0])) < len(order):
                last = min(longest, first + _MORE)
                costs = [self.word * k + min(self.cost(losses[k]), _FAR) for k in range(first, last + 1)]
                length = first + int(np.argmin(costs))
                break
        return tuple(sorted(order[:length])), float(losses[length])

    @property
    def word(self) -> float:
        """How many questions an anchor shorter by a word is worth: fewer where little is foreseen.

        Close to the threshold a proof is cheap only with a surrogate that is seldom wrong.
        """
        if self._word is not None:
            return self._word
        if self.seldom_wrong:
            return self.most_per_word
        # Labels foresee more with every answer; log-odds that are no sum do not become one.
        no_sum = self.pool.reading.log_odds is not None and len(self.pool.reading.units) > _REPEATS
        return self.most_per_word * (_NO_SUM if no_sum else _UNFORESEEN)

    def fix_word(self) -> None:
        """A word is worth from now on what it is worth now, whatever the samples of a proof teach."""
        self._word = self.word

    def begin(self) -> None:
        """Forget what was learned from samples that the seed drew: exploring is the same under every seed."""
        self._start, self._wrong = None, self._wrong[:0]
        self.mistakes.forget()

    @property
    def seldom_wrong(self) -> bool:
        """Whether it predicts so well that the proof of an anchor close to the threshold is cheap."""
        if self.by_odds and self.explained < _NEARLY:  # right by luck, far from the threshold
            return False
        learns = self.foresees or self.pool.reading.log_odds is None
        most = _FORESEEN_LEARNING if learns else _FORESEEN
        return self.vouched or self.error <= most

    def predicted_loss(self, kept: Kept) -> float | None:
        """How often an anchor is predicted to lose the label, noise included; None where that is open."""
        if not self.fitted or not self.surrogate.exact:
            return None
        return self.surrogate.loss(kept, noisy=not self.vouched)

    def cost(self, loss: float, delta: float | None = None) -> float:
        """About how many queries prove an anchor that loses the label so often, at a level of its own."""
        return self.plan(loss, delta, seen=True).cost

    def plan(self, loss: float, delta: float | None = None, *, seen: bool = False) -> Plan:
        """The cheapest way to a proof of an anchor that loses the label so often, seen or predicted.

        A larger pool leaves fewer mistakes, with which a proof close to the threshold is cheaper.
        """
        if self.goal.threshold >= 1:  # no samples prove certainty: all there are must be asked about
            return Plan(0.0, 0.0 if loss <= 0 else np.inf)
        doubt = _DOUBT if seen or self.by_odds else _HOPES_WITH_PRIOR if self.foresees else _HOPES
        threshold, delta = self.goal.threshold, delta or self.goal.delta
        plans = []
        for rows, wrong in self._pools():
            doubtful = loss + doubt * wrong
            lost = loss if seen or wrong >= 1 else doubtful
            plans.append(Plan(rows, expected_samples(threshold, delta, lost, doubtful, wrong)))
        return min(plans, key=lambda plan: plan.cost)

    def _pools(self) -> list[tuple[float, float]]:
        """Rows that may be added to the pool, and how often the surrogate is wrong with them."""
        # Log-odds that are no sum are foreseen far from the threshold, not close to it.
        if not self.surrogate.exact or (self.by_odds and self.explained < _NEARLY):
            return [(0.0, 1.0)]
        if self.pool.reading.log_odds is None:
            return self.mistakes.ahead(len(self.pool))
        missing = len(self.surrogate.weights) + _CHECKED - len(self.pool)
        if self.by_odds and not self.vouched and missing > 0:
            return [(0.0, self.error), (float(missing), _SUM_ERROR)]
        return [(0.0, self.error)]

    def words_of(self, kept: Kept) -> list[int]:
        """The words of an anchor, wherever they stand, as numbers."""
        return sorted(self._groups[list(kept)].tolist())

    def shorter(self, kept: Kept) -> Kept:
        """An anchor without its least weighty word."""
        last = min(kept, key=lambda j: (self.surrogate.weights[j], -j), default=None)
        at = kept.index(last) if last is not None else 0
        return kept[:at] + kept[at + 1 :]
