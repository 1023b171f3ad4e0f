r"""The norm of a perturbed document, and the lemmas of the paper's appendix about it.

:math:`D = \sum_j v_j^2 M_j^2` is the squared l2 norm of TF-IDF. The lemmas behind Props. 9 and 10 say
that :math:`D` stays near its mean ("concentration of D"), is not small ("D small"), that hence
:math:`\sqrt D` stays near :math:`\sqrt{E D}` (the "key quantity"), and that a probability changes
little with a small change of the variable ("probability splitting"). All four are true in the form
given here. As printed the third has an exponent of order :math:`d^2`, which no such bound can have.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from kedge.errors import OptionError
from kedge.theory._arrays import as_counts, as_floats, as_kept
from kedge.theory.moments import central_moments, count_moments, norm_moments
from kedge.typing import Floats

__all__ = ["deviation_bound", "norm_small", "norm_tail", "root_tail", "split_probability"]


def norm_tail(
    idf: ArrayLike, multiplicity: ArrayLike, kept: ArrayLike, share: float, *, keep: float = 0.5
) -> Floats:
    r"""Bound on :math:`P(|D - E D| \ge t \, E D)` (concentration of D).

    The smaller of Hoeffding's and Bernstein's inequality for the independent
    :math:`v_j^2 M_j^2 \in [v_j^2 a_j^2, v_j^2 m_j^2]`:

    .. math:: 2 \exp\Bigl(-\frac{2 t^2 (E D)^2}{\sum_j v_j^4 (m_j^2 - a_j^2)^2}\Bigr), \qquad
        2 \exp\Bigl(-\frac{t^2 (E D)^2}{2 \mathrm{Var}(D) + \frac23 c \, t \, E D}\Bigr),

    :math:`c` the widest of the ranges. Both exponents are of order :math:`t^2 d`.

    Parameters
    ----------
    idf
        (d,) the IDF :math:`v_j` of each word.
    multiplicity
        (d,) how often each word occurs in the document.
    kept
        (d,) counts of one anchor, or (k, d) of several.
    share
        The deviation :math:`t`, as a share of the mean.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    >>> norm_tail(np.ones(1000), np.ones(1000), np.zeros(1000), 0.2).round(11).item()
    4.12e-09
    """
    mean, _ = norm_moments(idf, multiplicity, kept, keep=keep)
    return deviation_bound(idf, multiplicity, kept, _positive(share) * mean[..., None], keep=keep)[..., 0]


def norm_small(
    idf: ArrayLike, multiplicity: ArrayLike, kept: ArrayLike, share: float = 0.5, *, keep: float = 0.5
) -> Floats:
    r"""Bound on :math:`P(D \le (1 - t) E D)` (D small), for the summands are not negative.

    .. math:: \exp\Bigl(-\frac{t^2 (E D)^2}{2 \sum_j v_j^4 E[M_j^4]}\Bigr),

    which needs no upper end of the ranges.

    Parameters
    ----------
    idf
        (d,) the IDF :math:`v_j` of each word.
    multiplicity
        (d,) how often each word occurs in the document.
    kept
        (d,) counts of one anchor, or (k, d) of several.
    share
        The share :math:`t` by which the norm falls short, from 0 to 1.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    >>> norm_small(np.ones(100), np.ones(100), np.zeros(100)).round(5).item()
    0.00193
    """
    counts = as_counts("multiplicity", multiplicity)
    weight = as_floats("idf", idf, counts.size)
    mean, variance = count_moments(counts, kept, keep=keep)
    third, fourth = central_moments(counts, kept, keep=keep)
    raw = mean**4 + 6 * mean**2 * variance + 4 * mean * third + fourth
    total, _ = norm_moments(weight, counts, kept, keep=keep)
    squares = raw @ weight**4
    safe = np.where(squares > 0, squares, 1.0)
    return np.asarray(np.where(squares > 0, np.exp(-((_positive(share) * total) ** 2) / (2 * safe)), 1.0))


def root_tail(
    idf: ArrayLike, multiplicity: ArrayLike, kept: ArrayLike, share: float, *, keep: float = 0.5
) -> Floats:
    r"""Bound on :math:`P(|\sqrt{D / E D} - 1| \ge t)` (the key quantity).

    Where it happens :math:`D` is off by at least :math:`(2 t - t^2) E D`, so this is
    :func:`norm_tail` there: of order :math:`\exp(-c \, t^2 d)`. The paper prints an exponent with
    :math:`d^2`.

    Parameters
    ----------
    idf
        (d,) the IDF :math:`v_j` of each word.
    multiplicity
        (d,) how often each word occurs in the document.
    kept
        (d,) counts of one anchor, or (k, d) of several.
    share
        The deviation :math:`t` of the norm, from 0 to 1.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    >>> root_tail(np.ones(10_000), np.ones(10_000), np.zeros(10_000), 0.02).round(6).item()
    0.000787
    """
    if share > 1:
        raise OptionError(f"share is {share!r}; the norm can fall short by at most itself, give 1 or less.")
    return norm_tail(idf, multiplicity, kept, 2 * _positive(share) - share**2, keep=keep)


def split_probability(below: float, above: float, far: float) -> tuple[float, float]:
    r"""Interval for :math:`P(Z \le x)` from a variable :math:`Z'` that is seldom far (probability splitting).

    .. math:: P(Z' \le x - t) - P(|Z - Z'| > t) \le P(Z \le x) \le P(Z' \le x + t) + P(|Z - Z'| > t).

    Parameters
    ----------
    below, above
        :math:`P(Z' \le x - t)` and :math:`P(Z' \le x + t)`.
    far
        :math:`P(|Z - Z'| > t)`, or a bound on it.

    Examples
    --------
    >>> split_probability(0.40, 0.44, 0.01)
    (0.39, 0.45)
    """
    if not (0 <= below <= above <= 1 and far >= 0):
        raise OptionError(
            f"below, above and far are {below!r}, {above!r}, {far!r}; give two ordered probabilities and one."
        )
    return max(0.0, below - far), min(1.0, above + far)


def deviation_bound(
    idf: ArrayLike, multiplicity: ArrayLike, kept: ArrayLike, reach: Floats, *, keep: float = 0.5
) -> Floats:
    """(..., s) bounds on P(|D - E D| >= reach): Hoeffding's or Bernstein's, the smaller, at most 1."""
    counts = as_counts("multiplicity", multiplicity)
    anchor = as_kept(counts, kept)
    weight = as_floats("idf", idf, counts.size)
    _, variance = norm_moments(weight, counts, anchor, keep=keep)
    ranges = weight**2 * (counts**2 - anchor**2)
    squares = (ranges**2).sum(axis=-1)[..., None]
    widest = ranges.max(axis=-1)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        hoeffding = 2 * np.exp(-2 * reach**2 / squares)
        bernstein = 2 * np.exp(-(reach**2) / (2 * variance[..., None] + 2 / 3 * widest * reach))
    return np.asarray(np.where(squares > 0, np.minimum(np.minimum(hoeffding, bernstein), 1.0), 0.0))


def _positive(share: float) -> float:
    if not (math.isfinite(share) and share > 0):
        raise OptionError(f"share is {share!r}; give a positive share of the mean.")
    return share
