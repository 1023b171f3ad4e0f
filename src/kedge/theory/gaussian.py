r"""The Gaussian approximation of the precision of a linear model, as the paper has it (Props. 6 and 9).

The model says 1 when :math:`\lambda_0 + \sum_j \alpha_j M_j > 0`, with
:math:`\alpha_j = \lambda_j v_j` (coefficient times IDF). Replacing the score by a normal variable
of the same mean and variance gives :math:`\mathrm{Prec}(A) \approx \bar\Phi(L(A))`: the functions
here give the level :math:`L(A)`, and :func:`gaussian_precision` turns it into a probability.
How far off this can be: :mod:`kedge.theory.bounds`. Prop. 9 is false as printed;
:mod:`kedge.theory.delta` has what is right.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from kedge.theory._arrays import as_counts, as_floats, as_kept, free_scale
from kedge.theory.moments import count_moments
from kedge.typing import Floats

__all__ = ["gaussian_precision", "linear_level", "normalised_level"]


def linear_level(
    alpha: ArrayLike,
    multiplicity: ArrayLike,
    kept: ArrayLike,
    bias: float = 0.0,
    *,
    keep: float = 0.5,
) -> Floats:
    r"""Level :math:`L(A)` of a linear model on counts or plain TF-IDF (Prop. 6).

    .. math:: L(A) = \frac{-\lambda_0 - \frac12 \sum_j \alpha_j (m_j + a_j)}
        {\sqrt{\frac14 \sum_j \alpha_j^2 (m_j - a_j)}},

    minus the mean score over its standard deviation. When no random word matters any more it is
    :math:`-\infty` if the score is positive and :math:`+\infty` if not.

    Parameters
    ----------
    alpha
        (d,) coefficient times IDF of each word.
    multiplicity
        (d,) how often each word occurs in the document.
    kept
        (d,) counts of one anchor, or (k, d) of several.
    bias
        The intercept :math:`\lambda_0`.
    keep
        Probability :math:`p` that an occurrence outside the anchor is kept; in general the mean
        count is :math:`a_j + p (m_j - a_j)` and its variance :math:`p (1-p) (m_j - a_j)`.

    Examples
    --------
    >>> linear_level([2.0, -1.0], [1, 2], [[0, 0], [1, 0], [1, 2]], bias=0.5).tolist()
    [-0.4082482904638631, -2.1213203435596424, -inf]
    """
    counts = as_counts("multiplicity", multiplicity)
    slope = as_floats("alpha", alpha, counts.size)
    mean, variance = count_moments(counts, kept, keep=keep)
    centre = bias + mean @ slope
    return _level(centre, slope, variance, free_scale(slope, counts - as_kept(counts, kept)))


def normalised_level(
    alpha: ArrayLike,
    idf: ArrayLike,
    multiplicity: ArrayLike,
    kept: ArrayLike,
    bias: float = 0.0,
    *,
    keep: float = 0.5,
) -> Floats:
    r"""The paper's level :math:`L(A)` of a linear model on l2-normalised TF-IDF (Prop. 9, false).

    .. math:: L(A) = \frac{-\lambda_0 \sqrt{\sum_j v_j^2 ((m_j + a_j)^2 + m_j - a_j)}
        - \sum_j \alpha_j (m_j + a_j)} {\sqrt{\sum_j \alpha_j^2 (m_j - a_j)}}:

    the squared norm is replaced by its mean, and only the numerator of the score is random. The norm
    varies as much as the numerator, so with an intercept the error need not go to zero, and kedge
    uses :func:`~kedge.theory.delta_level` instead. Without one the norm never matters and this is
    :func:`linear_level`. Where no free word has a coefficient it is :math:`\mp\infty`, by the sign
    of the score at the mean norm; the true precision is then 0 or 1 only if the norm cannot change
    the sign either.

    Parameters
    ----------
    alpha
        (d,) coefficient times IDF of each word.
    idf
        (d,) the IDF :math:`v_j` of each word.
    multiplicity
        (d,) how often each word occurs in the document.
    kept
        (d,) counts of one anchor, or (k, d) of several.
    bias
        The intercept :math:`\lambda_0`.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    >>> normalised_level([2.0, -1.0], [1.0, 1.0], [1, 2], [1, 0], bias=0.5).round(6).item()
    -2.532248
    """
    counts = as_counts("multiplicity", multiplicity)
    slope = as_floats("alpha", alpha, counts.size)
    weight = as_floats("idf", idf, counts.size)
    mean, variance = count_moments(counts, kept, keep=keep)
    norm = np.sqrt((mean**2 + variance) @ weight**2)
    centre = bias * norm + mean @ slope
    return _level(centre, slope, variance, free_scale(slope, counts - as_kept(counts, kept)))


def gaussian_precision(level: ArrayLike) -> Floats:
    r"""Approximate precision :math:`\bar\Phi(L) = P(\mathcal N(0,1) > L)` (Props. 6 and 9).

    Parameters
    ----------
    level
        Levels :math:`L(A)` of any shape, infinite ones included.

    Examples
    --------
    >>> gaussian_precision([-np.inf, -1.6448536269514722, 0.0, np.inf]).round(6).tolist()
    [1.0, 0.95, 0.5, 0.0]
    """
    return np.asarray(ndtr(-np.asarray(level, dtype=np.float64)))


def _level(centre: Floats, slope: Floats, variance: Floats, scale: Floats) -> Floats:
    """Minus the mean over the standard deviation, exact where nothing is random."""
    random = scale > 0
    unit = np.where(random, scale, 1.0)
    ratio = np.clip(slope / unit[..., None], -1, 1)
    spread = np.where(random, unit * np.sqrt((variance * ratio**2).sum(axis=-1)), 1.0)
    return np.asarray(np.where(random, -centre / spread, np.where(centre > 0, -np.inf, np.inf)))
