"""Learning a surrogate of the model from the pool, and asking where it would learn most."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from kedge.evaluators.bets import expected_samples
from kedge.perturb.masking import coins
from kedge.reading.expected import Expected
from kedge.search.guided.fitting import fit_labels, fit_log_odds
from kedge.search.guided.pool import Pool
from kedge.search.guided.surrogate import Surrogate
from kedge.search.strategy import Goal
from kedge.typing import Bools, Counts, Floats, Kept

__all__ = ["Learner"]

# Samples among which the next questions about labels are picked, and cells they may take.
_CHOICES, _CHOICE_CELLS = 3600, 1 << 20
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
_NO_SUM = 0.1
# With a prior, or from labels alone, it may be wrong more often: it keeps learning.
_FORESEEN_LEARNING = 0.06
# Log-odds of which this share is explained may be a sum.
_NEARLY = 0.9
# What mistakes are left by a pool twice as large, and how often it may be doubled.
_PER_DOUBLING, _DOUBLINGS = 0.6, 6
# A prior counts as so many right predictions.
_BELIEVED = 24
# Answers that were predicted before they were asked, of which the latest are remembered.
_REMEMBERED = 96


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
    _wrong: list[bool] = field(default_factory=list)
    _word: float | None = None

    def __post_init__(self) -> None:
        document, units = self.pool.reading.document, self.pool.reading.units
        words = [word.casefold() for word in units.words(document)]
        number = {word: i for i, word in enumerate(dict.fromkeys(words))}
        self._groups: Counts = np.array([number[w] for w in words], dtype=np.int64)
        gradient = self.pool.reading.gradient
        self._prior = self.pool.reading.prior if gradient is None else Expected(gradient())
        self.by_odds = self.pool.reading.log_odds is not None

    def turn_to_labels(self) -> None:
        """Learn from labels from now on: the log-odds are no sum over units, so they only guide the fit."""
        self.by_odds = self.vouched = False
        self._prior = Expected(self.surrogate.weights.astype(np.float64))

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
            self._wrong = found.wrong[-_REMEMBERED:].tolist()
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
            self._wrong = [*self._wrong, *wrong.tolist()][-_REMEMBERED:]

    @property
    def error(self) -> float:
        """The share of wrong predictions lately, half a mistake added; 1 before there are some.

        Correctly predicted log-odds, not only their sign, count as a few more right predictions.
        """
        seen = len(self._wrong) + (_REMEMBERED if self.vouched else _BELIEVED if self.foresees else 0)
        return (sum(self._wrong) + 0.5) / (seen + 1) if seen >= 8 else 1.0

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
        self._start, self._wrong = None, []

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
        if not hasattr(self, "surrogate") or not self.surrogate.exact:
            return None
        return self.surrogate.loss(kept, noisy=not self.vouched)

    def cost(self, loss: float, delta: float | None = None) -> float:
        """About how many questions prove an anchor of a predicted loss, at a level of its own."""
        if self.goal.threshold >= 1:  # no samples prove certainty: all there are must be asked about
            return 0.0 if loss <= 0 else np.inf
        threshold, delta = self.goal.threshold, delta or self.goal.delta
        if not self.surrogate.exact:
            return expected_samples(threshold, delta, loss, loss, 1.0)
        # Log-odds that are no sum are foreseen far from the threshold, not close to it.
        wrong = 1.0 if self.by_odds and self.explained < _NEARLY else self.error
        # With a prior, a larger pool first, where fewer mistakes save more than it costs.
        learns = self.foresees and not self.vouched and self.seldom_wrong
        more = [len(self.pool) * (2.0**k - 1) for k in range(_DOUBLINGS)] if learns else [0.0]
        return min(
            extra + expected_samples(threshold, delta, loss, loss, wrong * _PER_DOUBLING**k)
            for k, extra in enumerate(more)
        )

    def words_of(self, kept: Kept) -> list[int]:
        """The words of an anchor, wherever they stand, as numbers."""
        return sorted(self._groups[list(kept)].tolist())

    def shorter(self, kept: Kept) -> Kept:
        """An anchor without its least weighty word."""
        last = min(kept, key=lambda j: (self.surrogate.weights[j], -j), default=None)
        at = kept.index(last) if last is not None else 0
        return kept[:at] + kept[at + 1 :]

    def ask_telling(self, kept: Kept, n: int) -> None:
        """Ask about samples whose answers the surrogate is least sure of: the smallest scores.

        They follow the law of the perturbation with nothing kept, with the anchor kept, or with all
        of it but one word; where the label is almost never lost (or held) some keep fewer (or more)
        words, to reach the place where it changes.
        """
        reading, rng = self.pool.reading, self.pool.rng
        sizes = reading.units.sizes
        each = max(n, min(_CHOICES, _CHOICE_CELLS // len(sizes)) // 3)
        draws = [reading.sample(part, each, rng) for part in ((), self.shorter(kept), kept)]
        _, holds, _ = self.pool.rows()
        held = float(holds.mean())
        if held > 0.9:
            draws += [coins(sizes, 0 * sizes, each // 2, keep, rng) for keep in (0.25, 0.1)]
        elif held < 0.1:
            draws.append(coins(sizes, 0 * sizes, each // 2, 0.75, rng))
        rows = np.concatenate(draws)
        if len(sizes) <= _REPEATS:
            rows = self.pool.unseen(rows)
        unsure = np.abs(self.surrogate.scores(rows))
        if not self.surrogate.weights.any():  # one label so far: look far from the document
            unsure = rows.sum(axis=1)
        nearest = np.argsort(unsure, kind="stable")[:n]
        if len(nearest):
            self.pool.ask(rows[nearest])
