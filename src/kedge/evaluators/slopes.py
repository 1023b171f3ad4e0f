"""What each unit does to an answer, from samples or from all there are: the Banzhaf value as a slope.

Units are kept independently, so that the mean answer with an occurrence of unit j less that without it is the
slope of the answer on the count c_j, cov(y, c_j) / var(c_j): of the answer on c_j alone, and of the
best linear fit on all counts as well (Hammer and Holzman 1992). The fit is the better estimate where it
explains most of the answer, the slope alone where samples are few.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kedge.evaluators.binomials import binomial
from kedge.typing import Bools, Counts, Floats
from kedge.utils.numerics import pieces

__all__ = [
    "Tally",
    "imputed",
    "is_fitted",
    "sample_slopes",
    "sample_weights",
    "table_slopes",
    "word_effect",
]

# A fit of more units than this is dear; with fewer further samples than this its error is not known.
_UNITS, _MORE = 600, 5


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums over samples, of which slopes are made, for documents too long to keep their samples.

    Parameters
    ----------
    sizes, keep
        Occurrences of each unit, (d,), and how likely each is to stay.
    totals, firsts, seconds
        Over samples, the sums of 1, of the answers and of their squares: alone, (1 + 2t,), times counts and
        times squared counts, (d, 1 + 2t).
    """

    sizes: Counts
    keep: float
    totals: Floats
    firsts: Floats
    seconds: Floats

    @classmethod
    def of(cls, sizes: Counts, keep: float, answers: int) -> "Tally":
        """No samples yet."""
        width = 1 + 2 * answers
        return cls(sizes, keep, np.zeros(width), *np.zeros((2, len(sizes), width)))

    @property
    def samples(self) -> int:
        """How many there are."""
        return int(self.totals[0])

    def plus(self, counts: Counts, y: Floats) -> "Tally":
        """With the counts (n, d) and answers (n, t) of further samples."""
        columns = np.column_stack([np.ones(len(y)), y, y**2])
        real = counts.astype(np.float64)
        totals, firsts = self.totals + columns.sum(axis=0), self.firsts + real.T @ columns
        seconds = firsts if (self.sizes == 1).all() else self.seconds + (real**2).T @ columns
        return replace(self, totals=totals, firsts=firsts, seconds=seconds)

    def slopes(self) -> tuple[Floats, Floats]:
        """(d, t) slopes of the answers on the counts, and standard errors."""
        t, n = len(self.totals) // 2, self.totals[0]
        expected = (self.sizes * self.keep)[:, None]
        variance = expected * (1 - self.keep)
        mean = self.totals[1 : t + 1] / n
        # Of x = count - expected and its square, with 1, y and y^2.
        x = self.firsts - expected * self.totals
        squared = self.seconds - 2 * expected * self.firsts + expected**2 * self.totals
        slope = (x[:, 1 : t + 1] - mean * x[:, :1]) / n / variance
        spread = squared[:, t + 1 :] - 2 * mean * squared[:, 1 : t + 1] + mean**2 * squared[:, :1]
        return slope, np.sqrt(np.maximum(spread / n - (slope * variance) ** 2, 0) / n) / variance


def sample_slopes(counts: Counts, y: Floats, sizes: Counts, keep: float) -> tuple[Floats, Floats]:
    """(d, t) slopes of t answers (n, t) on the counts (n, d) of uniform samples, and standard errors."""
    n, d = counts.shape
    tally = Tally.of(sizes, keep, y.shape[1])
    for piece in pieces(n, d):
        tally = tally.plus(counts[piece], y[piece])
    slope, error = tally.slopes()
    if is_fitted(d) and n >= d + _MORE:
        fitted, doubt = _fit(counts - sizes * keep, y - y.mean(axis=0))
        better = np.median(doubt, axis=0) < np.median(error, axis=0)
        slope, error = np.where(better, fitted, slope), np.where(better, doubt, error)
    return slope, error


def is_fitted(units: int) -> bool:
    """Whether the answers of so many units are fitted: if so, samples are looked at as a whole."""
    return units <= _UNITS


def _fit(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Least squares with an intercept: slopes and their standard errors."""
    n, d = x.shape
    design = np.column_stack([np.ones(n), x])
    gram = design.T @ design
    inverse = np.linalg.inv(gram + 1e-9 * n * np.eye(d + 1))
    found = inverse @ (design.T @ y)
    noise = ((y - design @ found) ** 2).sum(axis=0) / (n - d - 1)
    # Few degrees of freedom make a doubtful error: it is that of Student's distribution.
    wider = (n - d - 1) / (n - d - 3)
    return found[1:], np.sqrt(np.maximum(np.diag(inverse)[1:, None] * noise * wider, 0))


def sample_weights(counts: Counts, sizes: Counts, keep: float) -> Floats:
    """(n,) the probability of each row of counts."""
    weights = np.ones(len(counts))
    for j, size in enumerate(sizes.tolist()):
        weights *= binomial(size, keep)[counts[:, j]]
    return weights


def table_slopes(counts: Counts, weights: Floats, y: Floats, sizes: Counts, keep: float) -> Floats:
    """(d, t) slopes of t answers, from every row of counts there is and its probability."""
    x = (counts - sizes * keep) / (sizes * keep * (1 - keep))
    slopes: Floats = x.T @ (weights[:, None] * y)
    return slopes


def word_effect(every: Bools, none: Bools, weights: Floats, y: Floats) -> float:
    """The mean answer of all rows there are where a word is whole, less where it is gone."""
    whole, gone = (float(np.average(y[rows], weights=weights[rows])) for rows in (every, none))
    return whole - gone


def imputed(asked: Counts, y: Floats, everything: Counts, *, within: Sequence[float]) -> tuple[Floats, float]:
    """(N, t) answers of all rows there are, those not asked about by a linear fit; and the fit's error.

    The error is that of one open row, seen on the rows that were asked about.
    """
    known = {row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(asked))}
    place = np.array([known.get(row.tobytes(), -1) for row in np.ascontiguousarray(everything)])
    design = np.column_stack([np.ones(len(asked)), asked])
    inverse = np.linalg.inv(design.T @ design + 0.5 * np.eye(design.shape[1]))
    found = inverse @ (design.T @ y)
    guess = np.column_stack([np.ones(len(everything)), everything]) @ found
    guess = np.minimum(np.maximum(guess, within[0]), within[1])
    own = np.einsum("ij,jk,ik->i", design, inverse, design)  # how much a row's fit rests on that row
    left = (y - design @ found) / np.maximum(1 - own, 0.1)[:, None]
    full = np.where((place >= 0)[:, None], y[place], guess)
    return full, float(np.sqrt(np.mean(left**2))) if (place < 0).any() else 0.0
