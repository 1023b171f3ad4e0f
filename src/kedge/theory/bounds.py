r"""How far the Gaussian approximation of a linear model's precision can be off (Berry-Esseen).

For independent :math:`X_i` with sum :math:`S`,

.. math:: \sup_x |P(S \le x) - P(\mathcal N(E S, \mathrm{Var} S) \le x)|
    \le C_0 \, \frac{\sum_i E|X_i - E X_i|^3}{(\mathrm{Var} S)^{3/2}},
    \qquad C_0 = 0.56 \text{ (Shevtsova, 2010)}.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kedge.errors import OptionError
from kedge.theory._arrays import as_counts, as_floats, as_kept, check_share, free_scale
from kedge.theory.moments import third_absolute_moment
from kedge.typing import Floats

__all__ = ["berry_esseen", "berry_esseen_uniform"]

SHEVTSOVA = 0.56
"""A valid constant of the Berry-Esseen inequality for summands of different laws."""

PAPER = 7.15
"""The paper's C. Its own argument gives 0.56 * 8 * 2^(3/2) / sqrt(8 pi) = 2.53; 7.15 is 2^(3/2)
times that, and so valid too."""


def berry_esseen(
    alpha: ArrayLike,
    multiplicity: ArrayLike,
    kept: ArrayLike,
    *,
    per: Literal["occurrence", "word"] = "occurrence",
    keep: float = 0.5,
) -> Floats:
    r"""Bound on :math:`|\mathrm{Prec}(A) - \bar\Phi(L(A))|` for given anchors of a linear model.

    Every free occurrence is a coin of its own, :math:`\alpha_j X` with
    :math:`E|X - p|^3 = p(1-p)(p^2 + (1-p)^2)`. With :math:`r_j = m_j - a_j` and
    :math:`p = 1/2` the bound is

    .. math:: 0.56 \, \frac{\sum_j r_j |\alpha_j|^3}{(\sum_j r_j \alpha_j^2)^{3/2}}.

    Taking each *word* as one summand, as the paper does, is valid too but never better:

    .. math:: 0.56 \, \frac{\sum_j |\alpha_j|^3 E|\mathrm{Bin}(r_j, \frac12) - \frac{r_j}2|^3}
        {(\frac14 \sum_j r_j \alpha_j^2)^{3/2}}.

    At most 1, and 0 where nothing is random.

    Parameters
    ----------
    alpha
        (d,) coefficient times IDF of each word.
    multiplicity
        (d,) how often each word occurs in the document.
    kept
        (d,) counts of one anchor, or (k, d) of several.
    per
        What counts as one summand.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    A word that occurs a hundred times is one summand, or a hundred:

    >>> berry_esseen([1.0], [100], [0]).round(3).item()
    0.056
    >>> berry_esseen([1.0], [100], [0], per="word").round(3).item()
    0.891
    """
    check_share("keep", keep)
    counts = as_counts("multiplicity", multiplicity)
    slope = as_floats("alpha", alpha, counts.size)
    free = counts - as_kept(counts, kept)
    if per == "occurrence":
        third = free * (keep * (1 - keep) * (keep**2 + (1 - keep) ** 2))
    elif per == "word":
        third = third_absolute_moment(free, keep=keep)
    else:
        raise OptionError(f"per is {per!r}; give 'occurrence' or 'word'.")
    scale = free_scale(slope, free)
    random = scale > 0
    # The ratio does not change with the unit of alpha. A fully kept word may exceed the scale, but
    # its count is 0: clip it so that its power cannot overflow.
    ratio = np.clip(np.abs(slope) / np.where(random, scale, 1.0)[..., None], 0, 1)
    variance = keep * (1 - keep) * (free * ratio**2).sum(axis=-1)
    total = (third * ratio**3).sum(axis=-1)
    bound = SHEVTSOVA * total / np.where(random, variance, 1.0) ** 1.5
    return np.asarray(np.where(random, np.minimum(bound, 1.0), 0.0))


def berry_esseen_uniform(alpha: ArrayLike, multiplicity: ArrayLike) -> float:
    r"""Bound the error of the Gaussian approximation for all anchors at once (Prop. 6).

    .. math:: \frac{C}{\sqrt d}
        \left(\frac{\max_j \alpha_j^2}{\min_j \alpha_j^2}\right)^{3/2}
        \left(\frac{\max_j m_j}{\min_j m_j}\right)^{3/2}, \qquad C \approx 7.15,

    for every anchor with :math:`|A| \le b/2`; not cut at 1, so that its rate can be seen.
    Summing over occurrences instead of words gives :math:`0.80 / \sqrt b` times the cube of
    :math:`\max|\alpha| / \min|\alpha|`, without the multiplicities: see :func:`berry_esseen`.

    Parameters
    ----------
    alpha
        (d,) coefficient times IDF of each word; none may be zero.
    multiplicity
        (d,) how often each word occurs in the document; none may be zero.

    Examples
    --------
    Sixty-four words of equal weight: the bound says little, the anchor-specific one more.

    >>> round(berry_esseen_uniform(np.ones(64), np.ones(64)), 3)
    0.894
    >>> berry_esseen(np.ones(64), np.ones(64), np.arange(64) < 32).round(3).item()
    0.099
    """
    counts = as_counts("multiplicity", multiplicity)
    slope = np.abs(as_floats("alpha", alpha, counts.size))
    if (slope == 0).any() or (counts == 0).any():
        raise OptionError(
            "alpha or multiplicity holds 0, where this bound is infinite; leave these words out."
        )
    spread = slope.max() / slope.min()
    return float(PAPER * spread**3 * (counts.max() / counts.min()) ** 1.5 / np.sqrt(counts.size))
