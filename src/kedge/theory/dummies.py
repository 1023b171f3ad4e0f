r"""Words that a model ignores (the dummies of Prop. 4).

No selected anchor contains one, provided that the precision with nothing kept is below the
threshold. If it is not, a dummy alone has exactly that precision and is selected when no other
single word does better. Sampled precisions break the property.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kedge.theory._arrays import as_floats

__all__ = ["linear_dummies", "rule_dummies"]


def linear_dummies(alpha: ArrayLike, *, bias: float = 0.0, idf: ArrayLike | None = None) -> tuple[int, ...]:
    r"""Words that a linear model ignores, as indices (Prop. 4).

    Those with :math:`\alpha_j = 0`. On l2-normalised TF-IDF with an intercept such a word still
    moves the norm, hence :math:`\lambda_0 \sqrt D`, and may even be the anchor; there only words
    with an IDF of zero too (in practice: words outside the vocabulary) are ignored.

    Parameters
    ----------
    alpha
        (d,) coefficient times IDF of each word.
    bias
        The intercept; used only together with ``idf``.
    idf
        (d,) the IDF of each word if TF-IDF is l2-normalised, else None.

    Examples
    --------
    >>> linear_dummies([1.5, 0.0, -0.2]), linear_dummies([1.5, 0.0, -0.2], bias=1, idf=[3, 4, 2])
    ((1,), ())
    """
    slope = as_floats("alpha", alpha, np.size(alpha))
    ignored = slope == 0
    if idf is not None and bias != 0:
        ignored &= as_floats("idf", idf, slope.size) == 0
    return tuple(np.flatnonzero(ignored).tolist())


def rule_dummies(words: int, rules: Iterable[Sequence[int]]) -> tuple[int, ...]:
    r"""Words that the rule "(all of these) or (all of those) or ..." ignores, as indices (Prop. 4).

    Those in no rule, and those only in rules that contain another, shorter one: "good or (good and
    very)" is "good".

    Parameters
    ----------
    words
        The number of distinct words, ``d``.
    rules
        Each rule is the words, as indices, that must all be present for it to hold.

    Examples
    --------
    >>> rule_dummies(4, [(0, 1), (2,), (2, 3)])
    (3,)
    """
    listed = [frozenset(rule) for rule in rules]
    minimal = [rule for rule in listed if not any(other < rule for other in listed)]
    return tuple(sorted(set(range(words)).difference(*minimal)))
