"""How a number here is judged against the authors': means with standard errors, and a z of their difference.

The +- that the paper prints is no standard deviation over documents and runs, so it judges nothing. Runs on
one document are not independent: a sample is a mean over documents of means over runs, and its standard
error is that of the documents' means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from scipy.stats import norm

__all__ = ["CORRECTED", "LIMIT", "LOOKS", "Sample", "z_of", "z_of_draws", "z_of_print", "z_paired"]

LOOKS = 44
"""How many numbers the paper's tables have."""
LIMIT = 2.0
CORRECTED = float(norm.isf(norm.sf(LIMIT) / LOOKS))
"""What |z| may be so that all 44 stay below it as often as one number stays below 2 (Bonferroni)."""
# A number printed with two digits is known to half of the last.
_PRINTED = 0.005


@dataclass(frozen=True)
class Sample:
    """A mean over documents, its standard error, the sd over documents and runs, and how many of each."""

    mean: float
    error: float
    sd: float
    documents: int
    runs: int

    @classmethod
    def of(cls, each: Sequence[Sequence[float]]) -> "Sample | None":
        """From the values of each document's runs; None of nothing.

        >>> Sample.of([[1.0, 0.0], [1.0, 1.0]])
        Sample(mean=0.75, error=0.25, sd=0.4330127018922193, documents=2, runs=2)
        """
        each = [runs for runs in each if len(runs)]
        if not each:
            return None
        means = np.array([np.mean(runs) for runs in each])
        # One document says nothing of the spread: that of all values that a similarity can have.
        spread = float(means.std(ddof=1)) if len(means) > 1 else 0.5
        values = np.concatenate([np.asarray(runs, dtype=float) for runs in each])
        return cls(
            float(means.mean()),
            spread / sqrt(len(means)),
            float(values.std()),
            len(each),
            max(len(runs) for runs in each),
        )


def z_of(here: Sample, theirs: Sample) -> float:
    """The difference of two independent means, in standard errors of it."""
    return _over(here.mean - theirs.mean, sqrt(here.error**2 + theirs.error**2))


def z_of_print(here: Sample, printed: float) -> float:
    """The same against a printed mean whose runs are not known: they are taken to spread as those here."""
    off = here.mean - printed
    return _over(np.sign(off) * max(0.0, abs(off) - _PRINTED), sqrt(2) * here.error)


def z_of_draws(draws: Sequence[Sample], theirs: float) -> float:
    """One draw of the authors against several here: by how much one more draw could differ from their mean.

    What a draw changes, its documents included, is in the spread of the draws' means.
    """
    means = np.array([draw.mean for draw in draws])
    spread = float(means.std(ddof=1)) if len(means) > 1 else 0.5
    return _over(float(means.mean()) - theirs, spread * sqrt(1 + 1 / len(means)))


def z_paired(here: dict[str, Sequence[float]], theirs: dict[str, Sequence[float]]) -> float | None:
    """The mean difference on the same documents, in its standard errors; None with fewer than three."""
    off = [float(np.mean(here[t]) - np.mean(theirs[t])) for t in here if t in theirs]
    if len(off) <= 2:
        return None
    return _over(float(np.mean(off)), float(np.std(off, ddof=1)) / sqrt(len(off)))


def _over(off: float, error: float) -> float:
    if error > 0:
        return float(off / error)
    return 0.0 if abs(off) < 1e-9 else float(np.copysign(inf, off))
