"""The paper's approximation: the score as a normal variable (Propositions 6 and 9).

Prec(A) is about Phi_bar(L(A)). It can select a word that speaks against the label, so it is an
option and never the default; what it may be off by is its slack.
"""

from collections.abc import Sequence

import numpy as np

from kedge.errors import OptionError
from kedge.precision.estimates import Estimates
from kedge.reading import Reading
from kedge.typing import Floats, Kept

__all__ = ["Gaussian", "has_gaussian"]


def has_gaussian(reading: Reading) -> bool:
    """Whether the model is linear on counts, plain or divided by the l2 norm."""
    plain = reading.additive is not None and reading.additive.linear
    return plain or reading.normalised is not None


class Gaussian:
    """Phi_bar(L(A)) with the Berry-Esseen bound of each anchor as its slack.

    For l2-normalised TF-IDF with an intercept only the rate of the error is known, O(d^-(3/4 - e)),
    so there the slack is 1: the approximation then proves nothing.
    """

    def __init__(self, reading: Reading) -> None:
        if not has_gaussian(reading):
            raise OptionError(
                "precision='gaussian' needs a linear model of two classes on word counts or TF-IDF; use "
                "precision='auto'."
            )
        self._reading = reading

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Evaluate the formula."""
        from kedge import theory

        del samples
        reading = self._reading
        sizes, keep = reading.units.sizes, reading.keep
        kept = np.array([reading.units.counts(a) for a in anchors]).reshape(len(anchors), len(sizes))
        score = reading.additive
        level: Floats
        if score is not None and score.slopes is not None:
            level = theory.linear_level(score.slopes, sizes, kept, score.bias, keep=keep)
            slack = theory.berry_esseen(score.slopes, sizes, kept, keep=keep)
        else:
            normal = reading.normalised
            assert normal is not None  # noqa: S101  (looked at on construction)
            level = theory.normalised_level(normal.slopes, normal.scale, sizes, kept, normal.bias, keep=keep)
            slack = np.ones(len(anchors))
        return Estimates.closed(theory.gaussian_precision(level), slack)

    @property
    def notes(self) -> tuple[str, ...]:
        """How good the approximation is on this document, by the paper's bound for all anchors."""
        from kedge import theory

        score = self._reading.additive
        if score is None or score.slopes is None:
            why = "of its error only the rate is known, so nothing is proven"
            return (f"Gaussian approximation of a normalised model: {why}.",)
        used = score.slopes != 0
        bound = np.inf
        if used.any():
            bound = theory.berry_esseen_uniform(score.slopes[used], self._reading.units.sizes[used])
        what = "the interval is its Berry-Esseen bound for this anchor"
        return (f"Gaussian approximation: {what}; the paper's bound for all anchors at once is {bound:.3g}.",)
