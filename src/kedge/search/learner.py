"""Learning a surrogate of the model from the pool, and asking where it would learn most."""

from dataclasses import dataclass, field

import numpy as np

from kedge.perturb.masking import coins
from kedge.search.fitting import fit_labels, fit_log_odds
from kedge.search.pool import Pool
from kedge.search.search import Goal
from kedge.search.surrogate import Surrogate
from kedge.typing import Bools, Counts, Floats, Kept

__all__ = ["Learner"]

# Samples among which the next questions about labels are picked, and cells they may take.
_CHOICES, _CHOICE_CELLS = 900, 1 << 18
# Samples of more units than this are hardly ever drawn twice.
_REPEATS = 30
# Most anchors are no longer than this; longer ones are looked for only when needed.
_SHORT = 12
# Steps of a weight, relative to the largest, below which words are tied: what a regression of
# log-odds and what labels resolve.
_ODDS_RESOLUTION, _LABEL_RESOLUTION = 1e-3, 0.02
# Answers that were predicted before they were asked, of which the latest are remembered.
_REMEMBERED = 96


@dataclass
class Learner:
    """The current surrogate of one pool, and how well it has predicted lately.

    ``by_odds`` says whether it learns from log-odds, or from labels only; ``vouched`` that it
    foresaw log-odds it had not seen.
    """

    pool: Pool
    goal: Goal
    surrogate: Surrogate = field(init=False)
    vouched: bool = False
    _start: Floats | None = None
    _wrong: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        document, units = self.pool.reading.document, self.pool.reading.units
        words = [document.tokens[group[0]].word.casefold() for group in units.members]
        number = {word: i for i, word in enumerate(dict.fromkeys(words))}
        self._groups: Counts = np.array([number[w] for w in words], dtype=np.int64)
        gradient = self.pool.reading.gradient
        self._prior = None if gradient is None else gradient()
        self.by_odds = self.pool.reading.log_odds is not None

    def turn_to_labels(self) -> None:
        """Learn from labels from now on: the log-odds are no sum over units, so they only lead the way."""
        if self.by_odds:
            self.by_odds = self.vouched = False
            self._prior = self.surrogate.weights.astype(np.float64)

    @property
    def has_gradient(self) -> bool:
        """Whether the model gives its gradient, so that few samples may do."""
        return self._prior is not None and bool(np.any(self._prior))

    def fit(self, rows: slice = slice(None), *, rough: bool = False) -> Surrogate:
        """Fit the surrogate to the pool, or to some of its rows; roughly, where labels allow it."""
        sizes, keep = self.pool.reading.units.sizes, self.pool.reading.keep
        counts, holds, odds = self.pool.rows(rows)
        if self.by_odds:
            self.surrogate = fit_log_odds(counts, odds, holds, sizes, keep, self._prior)
        else:
            self.surrogate, self._start = fit_labels(
                counts, holds, sizes, keep, self._groups, self._prior, self._start, rough=rough
            )
        return self.surrogate

    def draw(self, kept: Kept, n: int) -> tuple[Counts, Bools]:
        """Samples given an anchor, whose answers were predicted before they were asked."""
        counts, holds = self.pool.draw(kept, n)
        self.predicted(self.surrogate.holds(counts) != holds)
        return counts, holds

    def predicted(self, wrong: Bools) -> None:
        """Remember how predictions made beforehand came out."""
        self._wrong = [*self._wrong, *wrong.tolist()][-_REMEMBERED:]

    @property
    def error(self) -> float:
        """The share of wrong predictions lately, half a mistake added; 1 before there are some.

        Log-odds that were foreseen, not only their sign, vouch for some predictions more.
        """
        seen = len(self._wrong) + (_REMEMBERED if self.vouched else 0)
        return (sum(self._wrong) + 0.5) / (seen + 1) if seen >= 8 else 1.0

    def order(self) -> list[int]:
        """Occurrences by decreasing weight."""
        return self.surrogate.order(_ODDS_RESOLUTION if self.by_odds else _LABEL_RESOLUTION)

    def proposal(self, *, learning: bool = False) -> tuple[Kept, float]:
        """The shortest prefix predicted to reach the threshold, and its predicted loss."""
        order, surrogate = self.order(), self.surrogate
        if learning and surrogate.exact:
            surrogate = surrogate.coarse()
        least = 0 if self.goal.allow_empty else 1
        if not surrogate.exact:
            return tuple(sorted(order[:least])), 0.5
        for longest in (min(_SHORT, len(order)), len(order)):
            losses = surrogate.losses(order, longest)
            reached = np.flatnonzero(losses[least:] <= 1 - self.goal.threshold)
            if len(reached):
                break
        length = least + int(reached[0]) if len(reached) else len(order)
        return tuple(sorted(order[:length])), float(losses[length])

    def shorter(self, kept: Kept) -> Kept:
        """An anchor without its least weighty word."""
        last = min(kept, key=lambda j: (self.surrogate.weights[j], -j), default=None)
        at = kept.index(last) if last is not None else 0
        return kept[:at] + kept[at + 1 :]

    def ask_telling(self, kept: Kept, n: int) -> None:
        """Ask about samples whose answers the surrogate is least sure of: the smallest scores.

        They follow the law of the perturbation with nothing kept, with the anchor kept, or with all
        of it but one word; where the label is hardly ever lost (or held) some keep fewer (or more)
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
