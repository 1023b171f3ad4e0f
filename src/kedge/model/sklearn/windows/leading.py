"""A label's leads over its rivals, where they are sums over words: linear, or divided by the l2 norm."""

import math
from typing import NamedTuple

import numpy as np

from kedge.model.scores.leads import Leads
from kedge.model.sklearn.windows.sums import Sums, sound
from kedge.typing import Bools, Floats, Label

__all__ = ["leads_of"]

# A table of features by word and count may have this many entries.
_TABLE = 1 << 22
# Where labels are read off probabilities, scores closer than this give the same probability.
_SAME = 4e-15


class _Rivals(NamedTuple):
    """Against each rival: weights of the core (r, k), the lead at no word, who wins ties, what is rounded."""

    weights: Floats
    bias: Floats
    strict: Bools
    scale: float
    slack: float


def leads_of(sums: Sums, label: Label) -> Leads | None:
    """The leads of a label; None where units are tied, or the rule is not a comparison of sums."""
    part, sizes = sums.part, sums.units.sizes
    rivals = None if sums.windows.longer else _rivals(sums, label)
    steps = np.arange(int(sizes.max(initial=0)) + 1, dtype=np.float64)
    if rivals is None or len(sizes) * len(steps) > _TABLE:
        return None
    if part.core is None:
        own = np.ones(len(sums.windows))
        terms = float(sums.size @ sizes[sums.windows.single])
    elif part.roots is not None and len(part.roots) == len(sizes):
        own = part.roots
        # Divided by their norm the features have length one: Cauchy and Schwarz bound the sum.
        terms = float(np.linalg.norm(sums.size[:-1] / own))
    else:
        return None
    weights = np.zeros((len(sizes), len(rivals.bias)))
    weights[sums.windows.single] = rivals.weights[: len(own)] / own[:, None]
    features = np.ones(len(sizes))
    features[sums.windows.single] = own
    if not sound(weights) or not sound(features) or not math.isfinite(terms):
        return None
    return Leads(
        rivals.bias,
        weights,
        features[:, None] * steps,
        sizes,
        normed=part.core is not None,
        strict=rivals.strict,
        error=rivals.scale * sums.rounded(terms + sums.constant) + rivals.slack,
    )


def _rivals(sums: Sums, label: Label) -> _Rivals | None:
    decision = sums.decision
    if label not in decision.classes:
        return None
    place, line = decision.classes.index(label), decision.line
    if decision.largest:
        others = np.delete(np.arange(len(sums.bias)), place)
        weights = sums.weights[:, [place]] - sums.weights[:, others]
        return _Rivals(weights, sums.bias[place] - sums.bias[others], others < place, 2.0, _SAME)
    if line is None:
        return None
    sign = 1.0 if place == 1 else -1.0
    return _Rivals(
        sign * (sums.weights @ line.direction)[:, None],
        np.array([sign * (float(sums.bias @ line.direction) + line.shift)]),
        np.array([sign > 0]),
        float(np.abs(line.direction).sum()),
        line.slack + _SAME,
    )
