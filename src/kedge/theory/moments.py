r"""Moments of the counts that a perturbed document keeps.

Given an anchor with counts :math:`a`, word :math:`j` is kept
:math:`M_j = a_j + \mathrm{Bin}(m_j - a_j, p)` times, independently over :math:`j` (Prop. 1).
The paper has :math:`p = 1/2`.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import beta, gammaln

from kedge.theory._arrays import as_counts, as_floats, as_kept, check_share
from kedge.typing import Counts, Floats

__all__ = ["central_moments", "count_moments", "norm_moments", "third_absolute_moment"]


def count_moments(multiplicity: ArrayLike, kept: ArrayLike, *, keep: float = 0.5) -> tuple[Floats, Floats]:
    r"""Mean and variance of every word's count, given what the anchor keeps.

    .. math:: E[M_j] = a_j + p (m_j - a_j), \qquad \mathrm{Var}(M_j) = p (1 - p) (m_j - a_j).

    Parameters
    ----------
    multiplicity
        (d,) how often each word occurs in the document.
    kept
        (d,) or (k, d) how many occurrences of each word an anchor keeps; rows are anchors.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    "very very good" with one "very" kept: one coin is left for "very" and one for "good".

    >>> mean, variance = count_moments([2, 1], [1, 0])
    >>> mean.tolist(), variance.tolist()
    ([1.5, 0.5], [0.25, 0.25])
    """
    check_share("keep", keep)
    counts = as_counts("multiplicity", multiplicity)
    anchor = as_kept(counts, kept)
    free = (counts - anchor).astype(np.float64)
    return anchor + keep * free, keep * (1 - keep) * free


def central_moments(multiplicity: ArrayLike, kept: ArrayLike, *, keep: float = 0.5) -> tuple[Floats, Floats]:
    r"""Third and fourth central moment of every word's count.

    With :math:`r = m_j - a_j` free occurrences and :math:`q = 1 - p`,

    .. math:: E(M_j - E M_j)^3 = r p q (q - p), \qquad
        E(M_j - E M_j)^4 = r p q \, (1 + 3 (r - 2) p q).

    Parameters
    ----------
    multiplicity
        (d,) how often each word occurs in the document.
    kept
        (d,) or (k, d) how many occurrences of each word an anchor keeps; rows are anchors.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    At 1/2 the count is symmetric; one coin is always 1/2 away from its mean.

    >>> third, fourth = central_moments([1, 2, 4], [0, 0, 1])
    >>> third.tolist(), fourth.tolist()
    ([0.0, 0.0, 0.0], [0.0625, 0.5, 1.3125])
    """
    _, variance = count_moments(multiplicity, kept, keep=keep)
    both = keep * (1 - keep)
    free = variance / both
    return variance * (1 - 2 * keep), variance * (1 + 3 * (free - 2) * both)


def norm_moments(
    idf: ArrayLike, multiplicity: ArrayLike, kept: ArrayLike, *, keep: float = 0.5
) -> tuple[Floats, Floats]:
    r"""Mean and variance of the squared norm :math:`D = \sum_j v_j^2 M_j^2` of TF-IDF.

    .. math:: E[D] = \sum_j v_j^2 (\mu_j^2 + \sigma_j^2), \qquad
        \mathrm{Var}(D) = \sum_j v_j^4 \nu_j, \qquad
        \nu_j = \mathrm{Var}(M_j^2)
        = 4 \mu_j^2 \sigma_j^2 + 4 \mu_j \kappa_j + \tau_j - \sigma_j^4,

    where :math:`\mu_j, \sigma_j^2, \kappa_j, \tau_j` are mean, variance, third and fourth central
    moment of :math:`M_j`. At :math:`p = 1/2` the mean is
    :math:`\frac14 \sum_j v_j^2 ((m_j + a_j)^2 + m_j - a_j)`; two displays of the paper lack
    :math:`v_j^2`.

    Parameters
    ----------
    idf
        (d,) the IDF :math:`v_j` of each word.
    multiplicity
        (d,) how often each word occurs in the document.
    kept
        (d,) counts of one anchor, or (k, d) of several.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    A hundred words that occur once: the squared norm is the number of words kept.

    >>> mean, variance = norm_moments(np.ones(100), np.ones(100), np.zeros(100))
    >>> mean.item(), variance.item()
    (50.0, 25.0)
    """
    counts = as_counts("multiplicity", multiplicity)
    weight = as_floats("idf", idf, counts.size)
    mean, variance = count_moments(counts, kept, keep=keep)
    third, fourth = central_moments(counts, kept, keep=keep)
    square = 4 * mean * (mean * variance + third) + fourth - variance**2
    return np.asarray((mean**2 + variance) @ weight**2), np.asarray(square @ weight**4)


def third_absolute_moment(trials: ArrayLike, *, keep: float = 0.5) -> Floats:
    r"""Third absolute central moment of a binomial, :math:`E|\mathrm{Bin}(r, p) - r p|^3`.

    For :math:`p = 1/2` in closed form. Let :math:`h = \lfloor r/2 \rfloor` and
    :math:`q = \binom{2h}{h} / 4^h`; then

    .. math:: E|\mathrm{Bin}(r, 1/2) - r/2|^3 =
        \tfrac14 r^2 q \;\text{(even } r), \qquad \tfrac18 r (2r - 1) q \;\text{(odd } r),

    and always at most :math:`r^{3/2} / \sqrt{8 \pi}`. The odd case follows from the even one by
    one more coin: with :math:`S_r = 2\,\mathrm{Bin}(r, 1/2) - r` and :math:`r` even,
    :math:`E|S_{r+1}|^3 = E|S_r|^3 + 3 E|S_r| + P(S_r = 0)`. Any other :math:`p`: the sum itself.

    Parameters
    ----------
    trials
        Numbers of free occurrences :math:`r`, of any shape.
    keep
        Probability :math:`p` that one of them is kept.

    Examples
    --------
    One coin is always 1/2 away from its mean; two coins are 1 away half of the time.

    >>> third_absolute_moment([1, 2, 3]).round(12).tolist()
    [0.125, 0.5, 0.9375]
    """
    check_share("keep", keep)
    r: Counts = np.asarray(trials, dtype=np.int64)
    if keep != 0.5:
        distinct, where = np.unique(r, return_inverse=True)
        sums = np.array([_third_by_sum(int(n), keep) for n in distinct])
        return np.asarray(sums[where].reshape(r.shape))
    half = r // 2
    # The beta function gives C(2h, h) / 4^h without overflow: B(h + 1/2, 1/2) = pi q.
    centre = beta(half + 0.5, 0.5) / np.pi
    return np.asarray(np.where(r % 2 == 0, r**2 / 4, r * (2 * r - 1) / 8) * centre)


def _third_by_sum(trials: int, keep: float) -> float:
    count = np.arange(trials + 1)
    log_choose = gammaln(trials + 1) - gammaln(count + 1) - gammaln(trials - count + 1)
    weight = np.exp(log_choose + count * np.log(keep) + (trials - count) * np.log1p(-keep))
    return float(weight @ np.abs(count - trials * keep) ** 3)
