"""The paper's approximation: the score as a normal variable (Prop. 6, and Prop. 9 corrected).

Prec(A) is about Phi_bar(L(A)). It can select a word that speaks against the label, so it is an
option and never the default; what it may be off by is its slack.
"""

from collections.abc import Sequence

import numpy as np

from kedge.evaluators.estimates import Estimates
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.typing import Floats, Kept

__all__ = ["Gaussian", "has_gaussian"]


def has_gaussian(reading: Reading) -> bool:
    """Whether the model is linear on counts, plain or divided by the l2 norm."""
    plain = reading.additive is not None and reading.additive.linear
    return plain or reading.normalised is not None


class Gaussian:
    """Phi_bar(L(A)) with the Berry-Esseen bound of each anchor as its slack.

    For l2-normalised TF-IDF with an intercept the paper's level is wrong, however long the document;
    the delta method is used, with a bound of its own that says little below some hundred words.
    """

    name = "gaussian"
    sampled = False
    every = None

    def __init__(self, reading: Reading) -> None:
        if not has_gaussian(reading):
            raise TypeError("The model is not known to be a linear model of two classes on word counts.")
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
            mean = theory.gaussian_precision(level)
            # Nothing is random: the score itself says it, ties as the model breaks them.
            sure = np.isinf(level)
            mean[sure] = score.holds(kept[sure])
            slack[sure] = (np.abs(score.score(kept[sure])) <= 2 * score.error) & (score.error > 0)
            return Estimates.closed(mean, slack)
        normal = reading.normalised
        assert normal is not None  # noqa: S101  (looked at on construction)
        case = (normal.slopes, normal.scale, sizes, kept, normal.bias)
        level, slack = theory.delta_level(*case, keep=keep), theory.delta_bound(*case, keep=keep)
        # Nothing is random, and the score is within rounding of zero: only the model knows the label.
        norm = np.sqrt((kept * normal.scale) ** 2 @ np.ones(len(sizes)))
        terms = np.abs(kept * normal.slopes).sum(axis=1) + np.abs(normal.bias) * norm
        near = np.abs(kept @ normal.slopes + normal.bias * norm) <= 1e-12 * terms
        slack[(slack == 0) & near & (norm > 0)] = 1.0
        return Estimates.closed(theory.gaussian_precision(level), slack)

    @property
    def notes(self) -> tuple[str, ...]:
        """How good the approximation is on this document, by the paper's bound for all anchors."""
        from kedge import theory

        score = self._reading.additive
        if score is None or score.slopes is None:
            what = "the interval is the bound of the delta method for this anchor"
            return (f"Gaussian approximation of a normalised model: {what}.",)
        used = score.slopes != 0
        bound = np.inf
        if used.any():
            bound = theory.berry_esseen_uniform(score.slopes[used], self._reading.units.sizes[used])
        what = "the interval is its Berry-Esseen bound for this anchor"
        return (f"Gaussian approximation: {what}; the paper's bound for all anchors at once is {bound:.3g}.",)

    def refine(self, kept: Kept, threshold: float | None = None) -> Interval:
        """The closed form leaves nothing to refine."""
        del threshold
        return self([kept]).intervals(0.0)[0]

    def seen(self, kept: Kept) -> None:
        """Nothing is drawn."""
