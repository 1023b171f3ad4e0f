"""Learning from a corpus: samples of its texts are queried, and one linear model over words is fitted.

Log-odds are informative on any samples. A label says most where it is about to change, so labels are
queried in rounds: each round takes the samples that the fit to the rounds before is least sure of.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kedge.errors import OutOfQueries
from kedge.perturb.masking import coins
from kedge.reading.oracle import RECHECKED
from kedge.reading.reading import Reading
from kedge.typing import Bools, Counts, Floats, Label

__all__ = ["Learned", "SampledText", "learn_weights"]

# Samples keep words with these probabilities: fewer words where the label of a whole document hardly changes.
_KEEPS = (0.5, 0.25, 0.1)
# Rounds of queries for labels, and samples of each kind among which those of a round are picked.
_ROUNDS, _CHOICES = 8, 120
# Ridges tried, in rows; every so many texts are held back to choose between them. Rounds take the second.
_RIDGES, _HELD_BACK = (0.3, 3.0, 30.0, 300.0), 5


@dataclass
class SampledText:
    """One text, and what the model says about samples of it.

    ``chances`` are class probabilities, None for a model that gives labels only.
    """

    reading: Reading
    words: tuple[str, ...]
    rng: np.random.Generator
    counts: Counts
    holds: Bools
    chances: Floats | None

    @classmethod
    def of(cls, reading: Reading, rng: np.random.Generator) -> "SampledText":
        """Nothing was queried yet but the text itself."""
        classes = len(reading.probabilities or ())
        return cls(
            reading,
            tuple(word.casefold() for word in reading.units.words(reading.document)),
            rng,
            np.zeros((0, len(reading.units)), dtype=np.int64),
            np.zeros(0, dtype=bool),
            None if reading.chances is None else np.zeros((0, classes)),
        )

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels that it has answers about."""
        return tuple(self.reading.probabilities or ()) or (self.reading.label,)

    @property
    def left(self) -> int:
        """Queries that are left, but for those that check that the model repeats itself."""
        return int(self.reading.oracle.remaining) - RECHECKED

    def draw(self, n: int, keeps: Sequence[float]) -> Counts:
        """Samples of the text, ``n`` of each kind."""
        sizes = self.reading.units.sizes
        return np.concatenate([coins(sizes, 0 * sizes, n, keep, self.rng) for keep in keeps])

    def ask(self, counts: Counts) -> None:
        """Ask about some samples."""
        if self.reading.chances is not None and self.chances is not None:
            self.chances = np.concatenate([self.chances, self.reading.chances(counts)])
            self.holds = np.zeros(len(self.chances), dtype=bool)
        else:
            self.holds = np.concatenate([self.holds, self.reading.holds(counts)])
        self.counts = np.concatenate([self.counts, counts])

    def about(self, label: Label, *, two: bool) -> tuple[Bools, Floats]:
        """Which rows say something about a label, and what: its log-odds, or 1 and -1 of a mere answer."""
        if self.chances is not None:
            if label not in self.classes:
                return np.zeros(len(self.counts), dtype=bool), np.zeros(len(self.counts))
            p = np.clip(self.chances[:, self.classes.index(label)], 1e-12, 1 - 1e-12)
            return np.ones(len(p), dtype=bool), np.log(p) - np.log1p(-p)
        sign = np.where(self.holds, 1.0, -1.0)
        if label == self.reading.label:
            return np.ones(len(sign), dtype=bool), sign
        # Of two labels, what is not the one is the other.
        return (np.ones(len(sign), dtype=bool) if two else self.holds), -sign


@dataclass(frozen=True)
class Learned:
    """(labels, words) weights, and (labels,) levels: what there is of a label without any word."""

    labels: tuple[Label, ...]
    words: tuple[str, ...]
    weights: Floats
    levels: Floats


def learn_weights(sources: Sequence[SampledText]) -> Learned:
    """Query the model about each text as often as its reading allows, and fit weights to all answers."""
    fits = _Fits(sources)
    if sources[0].chances is not None:
        for source in sources:
            _ask(source, source.draw(max(1, source.left), _KEEPS[:1]))
        return fits.all()
    each = [max(1, source.left // _ROUNDS) for source in sources]
    for source, n in zip(sources, each, strict=True):
        _ask(source, source.draw(-(-n // len(_KEEPS)), _KEEPS)[:n])
    for _ in range(_ROUNDS - 1):
        rough = {
            label: fits.one(label, _RIDGES[1])
            for label in dict.fromkeys(source.reading.label for source in sources)
        }
        for source, n in zip(sources, each, strict=True):
            rows = source.draw(_CHOICES, _KEEPS)
            weights, level = rough[source.reading.label]
            unsure = np.abs(rows @ weights[fits.columns_of(source)] + level)
            _ask(source, rows[np.argsort(unsure, kind="stable")[:n]])
    return fits.all()


def _ask(source: SampledText, counts: Counts) -> None:
    """Ask about samples, fewer where there is no room; a text whose queries are spent keeps its samples."""
    room = max(source.left, 0 if len(source.counts) else 1)
    try:
        if room and len(counts):
            source.ask(counts[:room])
    except OutOfQueries:
        return


@dataclass
class _Fits:
    """Linear models over the words of all sources."""

    sources: Sequence[SampledText]
    words: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.words = tuple(sorted({word for one in self.sources for word in one.words}))
        self._column = {word: i for i, word in enumerate(self.words)}
        self.labels = tuple(dict.fromkeys(label for one in self.sources for label in one.classes))

    def columns_of(self, source: SampledText) -> Counts:
        """The columns of the words of a text."""
        return np.array([self._column[word] for word in source.words])

    def all(self) -> Learned:
        """The weights of every label, with the ridge that predicts texts best that are held back."""
        found = [self.one(label) for label in self.labels]
        return Learned(
            self.labels, self.words, np.stack([w for w, _ in found]), np.array([level for _, level in found])
        )

    def one(self, label: Label, ridge: float | None = None) -> tuple[Floats, float]:
        """(words,) weights for a label, and its level."""
        from scipy.sparse import csr_array, vstack

        blocks, targets, texts, levels = [], [], [], []
        by_odds = self.sources[0].chances is not None
        for number, one in enumerate(self.sources):
            rows, y = one.about(label, two=len(self.labels) == 2)
            if not rows.any():
                continue
            at, counts, y = self.columns_of(one), one.counts[rows], y[rows]
            # Within a text only: what is not a matter of its words is the same in all of its samples.
            middle, mean = (counts.mean(axis=0), float(y.mean())) if by_odds else (0.0 * at, 0.0)
            place = (np.repeat(np.arange(len(counts)), len(at)), np.tile(at, len(counts)))
            values = np.asarray(counts - middle, dtype=np.float64).ravel()
            blocks.append(csr_array((values, place), shape=(len(counts), len(self.words))))
            targets.append(y - mean)
            texts.append(np.full(len(y), number))
            levels.append((at, middle, mean))
        if not blocks:
            return np.zeros(len(self.words)), 0.0
        x, y, text = vstack(blocks).tocsr(), np.concatenate(targets), np.concatenate(texts)
        solve = _ridge if by_odds else _logistic
        test = text % _HELD_BACK == _HELD_BACK - 1
        if ridge is None:
            ridge = _RIDGES[1]
            if test.any() and not test.all():
                scores = [_score(x[test], y[test], solve(x[~test], y[~test], r)[0]) for r in _RIDGES]
                ridge = _RIDGES[int(np.argmax(scores))]
        weights, level = solve(x, y, ridge)
        if by_odds:
            level = float(np.mean([mean - middle @ weights[at] for at, middle, mean in levels]))
        return weights, level


def _score(x: Any, y: Floats, weights: Floats) -> float:
    """How well scores go along with what was seen."""
    z = x @ weights
    spread = float(np.std(z) * np.std(y))
    return float(np.mean((z - z.mean()) * (y - y.mean())) / spread) if spread > 0 else 0.0


def _ridge(x: Any, y: Floats, ridge: float) -> tuple[Floats, float]:
    from scipy.sparse.linalg import lsqr

    return np.asarray(lsqr(x, y, damp=np.sqrt(ridge), atol=1e-7, btol=1e-7, iter_lim=400)[0]), 0.0


def _logistic(x: Any, y: Floats, ridge: float) -> tuple[Floats, float]:
    """Logistic regression on 1 and -1, with a free level."""
    from scipy.optimize import minimize
    from scipy.special import expit

    if (y > 0).all() or (y < 0).all():
        return np.zeros(x.shape[1]), float(y[0])

    def loss(w: Floats) -> tuple[float, Floats]:
        z = y * (x @ w[:-1] + w[-1])
        slope = -y * expit(-z)
        grad = np.append(x.T @ slope + 0.01 * ridge * w[:-1], slope.sum())
        return float(np.logaddexp(0, -z).sum() + 0.005 * ridge * w[:-1] @ w[:-1]), grad

    start = np.zeros(x.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(found.x[:-1]), float(found.x[-1])
