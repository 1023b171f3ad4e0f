r"""The anchor of a linear model: the occurrences with the largest coefficients (Prop. 7).

Prop. 7 says, for the Gaussian approximation, that the anchor takes whole words in decreasing order
of :math:`\alpha_j = \lambda_j v_j`. For the exact precision more is true, without conditions: at
every length :math:`l` the :math:`l` occurrences with the largest :math:`\alpha` maximise it.
(Swap a kept occurrence of coefficient :math:`u` for a free one of coefficient :math:`t \ge u` and
let both free coins fall the same way, :math:`X`: the score changes by
:math:`(t - u)(1 - X) \ge 0`.) So its precision never falls in :math:`l` while coefficients are
positive, and is 1 once every positive occurrence is kept.
"""

from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kedge.errors import LabelError, OptionError
from kedge.theory._arrays import as_counts, as_floats, check_share
from kedge.theory.gaussian import gaussian_precision, linear_level
from kedge.typing import Counts, Floats

__all__ = ["linear_anchor", "top_occurrences"]


def top_occurrences(alpha: ArrayLike, multiplicity: ArrayLike, length: int) -> tuple[int, ...]:
    """Best anchor of a linear model among those of one length, for the exact precision.

    All occurrences of the word with the largest coefficient, then of the next, until ``length`` are
    kept; of the last word perhaps only some. The earlier word where coefficients are equal.

    Parameters
    ----------
    alpha
        (d,) coefficient times IDF of each word.
    multiplicity
        (d,) how often each word occurs in the document.
    length
        Number of occurrences to keep, from 0 to the length of the document.

    Examples
    --------
    >>> top_occurrences([0.3, 1.2, -0.5], [2, 2, 1], 3)
    (1, 2, 0)
    """
    counts = as_counts("multiplicity", multiplicity)
    slope = as_floats("alpha", alpha, counts.size)
    if not 0 <= length <= counts.sum():
        raise OptionError(f"length is {length}; the document has {counts.sum()} occurrences.")
    order = np.argsort(-slope, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    anchor = np.zeros_like(counts)
    anchor[order] = np.clip(length - before, 0, counts[order])
    return tuple(anchor.tolist())


def linear_anchor(
    alpha: ArrayLike,
    multiplicity: ArrayLike,
    bias: float = 0.0,
    *,
    eps: float = 0.05,
    keep: float = 0.5,
    precision: Callable[[Counts], Floats | float] | None = None,
) -> tuple[int, ...]:
    r"""Anchor predicted for a linear model: the shortest sufficient run of top occurrences.

    With the exact precision this *is* what exhaustive Anchors selects, up to the draw among
    equals. With the Gaussian one (the default) it is what approximate Anchors selects if
    no :math:`\alpha_j` is negative and :math:`\varepsilon < 1/2`; negative words can lead the
    approximation astray, and are never in the anchor predicted here if a positive one exists.

    Parameters
    ----------
    alpha
        (d,) coefficient times IDF of each word.
    multiplicity
        (d,) how often each word occurs in the document.
    bias
        The intercept :math:`\lambda_0`. The score of the document must be positive; for the other
        label change the sign of ``alpha`` and ``bias``.
    eps
        The threshold is ``1 - eps``.
    keep
        Probability that an occurrence outside the anchor is kept, for the default ``precision``.
    precision
        From (d,) kept counts to their precision; by default :math:`\bar\Phi(L(A))`. It is asked
        about as many anchors as the logarithm of the number of positive occurrences, and must not
        fall as more of these are kept, as both the exact and the Gaussian one do not above 1/2.

    Examples
    --------
    >>> linear_anchor([0.3, 1.2, -0.5], [2, 2, 1], bias=-1.0)
    (0, 2, 0)
    """
    check_share("eps", eps)
    counts = as_counts("multiplicity", multiplicity)
    slope = as_floats("alpha", alpha, counts.size)
    score = bias + float(slope @ counts)
    if score <= 0:
        raise LabelError(
            f"The score of the document is {score:g}, not positive; to explain the other label "
            "change the sign of alpha and bias."
        )

    def approximate(kept: Counts) -> Floats:
        return gaussian_precision(linear_level(slope, counts, kept, bias, keep=keep))

    judge = precision or approximate

    def sufficient(length: int) -> bool:
        kept = np.array(top_occurrences(slope, counts, length), dtype=np.int64)
        return bool(judge(kept) >= 1 - eps)

    # Keeping every positive occurrence is enough, whatever an approximation says; an anchor is
    # not empty, so without a positive occurrence (the label never changes) one word is taken.
    enough = max(int(counts[slope > 0].sum()), 1)
    length = 1 + bisect_left(range(1, enough), True, key=sufficient)
    return top_occurrences(slope, counts, length)
