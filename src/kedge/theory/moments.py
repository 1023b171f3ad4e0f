r"""Moments of the counts that a perturbed document keeps.

Given an anchor with counts :math:`a`, word :math:`j` is kept
:math:`M_j = a_j + \mathrm{Bin}(m_j - a_j, p)` times, independently over :math:`j` (Prop. 1).
The paper has :math:`p = 1/2`.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import beta, gammaln

from kedge.theory._arrays import as_counts, as_kept, check_share
from kedge.typing import Counts, Floats

__all__ = ["count_moments", "third_absolute_moment"]


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
