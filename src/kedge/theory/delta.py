r"""The Gaussian approximation for l2-normalised TF-IDF, with the norm's own variance (Prop. 9 corrected).

The model says 1 when :math:`S = N + \lambda_0 \sqrt D > 0`, with :math:`N = \sum_j \alpha_j M_j` and
:math:`D = \sum_j v_j^2 M_j^2` (when nothing is kept: when :math:`\lambda_0 > 0`). Prop. 9 replaces
:math:`D` by its mean and lets only :math:`N` vary; but :math:`\lambda_0 \sqrt D` varies as much as
:math:`N` does, and the error does not go to zero. Here :math:`\sqrt D` is linearised around the mean
(the delta method). The identity

.. math:: \sqrt D = \sqrt{E D} + \frac{D - E D}{2 \sqrt{E D}}
    - \frac{(\sqrt D - \sqrt{E D})^2}{2 \sqrt{E D}}

splits :math:`S = T + R` into a sum :math:`T` of independent terms, one per word, and a rest of known
sign with :math:`|R| \le |\lambda_0| (D - E D)^2 / (2 (E D)^{3/2})`. So the error has a bound: that of
Berry-Esseen for :math:`T`, and what :math:`R` can add.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kedge.theory._arrays import as_counts, as_floats, as_kept
from kedge.theory.bounds import SHEVTSOVA, berry_esseen
from kedge.theory.gaussian import gaussian_precision, linear_level
from kedge.theory.moments import central_moments, count_moments, norm_moments
from kedge.theory.norms import deviation_bound
from kedge.typing import Counts, Floats

__all__ = ["delta_bound", "delta_level", "norm_share"]

_REACH = np.geomspace(0.3, 40.0, 64)
"""Deviations of D, in standard deviations, among which the best split of the bound is looked for."""


class _Linear(NamedTuple):
    """T as a sum over words: beta_j x_j + gamma_j (x_j^2 - E x_j^2), x_j the centred count."""

    centre: Floats
    beta: Floats
    gamma: Floats
    variance: Floats
    """(..., d) of each word's term."""


def delta_level(
    alpha: ArrayLike,
    idf: ArrayLike,
    multiplicity: ArrayLike,
    kept: ArrayLike,
    bias: float = 0.0,
    *,
    keep: float = 0.5,
) -> Floats:
    r"""Level :math:`L(A)` of a linear model on l2-normalised TF-IDF, by the delta method.

    .. math:: L(A) = -\frac{E N + \lambda_0 \sqrt{E D}}{\sqrt{V}}, \qquad
        V = \mathrm{Var}(N) + \frac{\lambda_0 \, \mathrm{Cov}(N, D)}{\sqrt{E D}}
        + \frac{\lambda_0^2 \, \mathrm{Var}(D)}{4 \, E D}.

    Prop. 9 has :math:`V = \mathrm{Var}(N)` (:func:`~kedge.theory.normalised_level`), which is right
    only for :math:`\lambda_0 = 0`. Where :math:`V = 0` it is :math:`\mp\infty` by the sign of the
    numerator.

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
    1,024 words of coefficient 1/32. The exact precision is 0.0488; the level of Prop. 9 gives 0.2086.

    >>> d = 1024
    >>> alpha, ones, twice, once = np.full(d, 1 / 32), np.ones(d), np.ones(d), np.zeros(d)
    >>> twice[0], once[0] = 2, 1
    >>> gaussian_precision(delta_level(alpha, ones, twice, once, bias=-0.725)).round(4).item()
    0.0483
    """
    if bias == 0:
        return linear_level(alpha, multiplicity, kept, 0.0, keep=keep)
    part = _linearised(alpha, idf, multiplicity, kept, bias, keep)
    spread = np.sqrt(part.variance.sum(axis=-1))
    random = spread > 0
    certain = np.where(part.centre > 0, -np.inf, np.inf)
    return np.asarray(np.where(random, -part.centre / np.where(random, spread, 1.0), certain))


def delta_bound(
    alpha: ArrayLike,
    idf: ArrayLike,
    multiplicity: ArrayLike,
    kept: ArrayLike,
    bias: float = 0.0,
    *,
    keep: float = 0.5,
) -> Floats:
    r"""Bound on :math:`|\mathrm{Prec}(A) - \bar\Phi(L(A))|` for :func:`delta_level`.

    For every :math:`s > 0`, with :math:`r = |\lambda_0| s^2 / (2 (E D)^{3/2})`,

    .. math:: 0.56 \, \frac{\sum_j E|W_j|^3}{V^{3/2}}
        + \sup_{|x| \le r} \Bigl|\bar\Phi(L) - \bar\Phi\Bigl(L + \frac{x}{\sqrt V}\Bigr)\Bigr|
        + P(|D - E D| > s) + P(D = 0),

    :math:`W_j` being the words' terms of :math:`T`; the third by :func:`~kedge.theory.norm_tail`'s
    inequalities, and the best of some :math:`s`. It goes to zero like :math:`\log(d) / \sqrt d` when
    coefficients and multiplicities are bounded; on a document of a dozen words it is seldom below 1.

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
    >>> [delta_bound(np.full(d, d**-0.5), np.ones(d), np.ones(d), np.zeros(d), -0.7).round(3).item()
    ...     for d in (16, 256, 4096)]
    [0.608, 0.237, 0.043]
    """
    if bias == 0:
        return berry_esseen(alpha, multiplicity, kept, keep=keep)
    counts = as_counts("multiplicity", multiplicity)
    anchor = as_kept(counts, kept)
    part = _linearised(alpha, idf, counts, anchor, bias, keep)
    mean, spread = norm_moments(idf, counts, anchor, keep=keep)
    variance = part.variance.sum(axis=-1)
    random = variance > 0
    root = np.sqrt(np.where(random, variance, 1.0))
    third = _third(part, counts - anchor, keep).sum(axis=-1)
    level = -part.centre / root
    reach = np.sqrt(spread)[..., None] * _REACH
    size = np.where(mean > 0, mean, 1.0)[..., None]
    shift = np.sign(bias) * abs(bias) * reach**2 / (2 * size**1.5) / root[..., None]
    moved = np.abs(gaussian_precision(level)[..., None] - gaussian_precision(level[..., None] + shift))
    far = deviation_bound(idf, counts, anchor, reach, keep=keep)
    total = SHEVTSOVA * third / root**3 + (moved + far).min(axis=-1) + _all_gone(idf, counts, anchor, keep)
    # Without any variance the rest alone is random, or nothing is.
    still = (spread == 0) & (variance == 0)
    return np.asarray(np.where(random, np.minimum(total, 1.0), np.where(still, 0.0, 1.0)))


def norm_share(
    alpha: ArrayLike,
    idf: ArrayLike,
    multiplicity: ArrayLike,
    kept: ArrayLike,
    bias: float = 0.0,
    *,
    keep: float = 0.5,
) -> Floats:
    r"""How much the norm varies beside the numerator, to first order (Prop. 10).

    .. math:: \frac{\mathrm{sd}(\lambda_0 \sqrt D)}{\mathrm{sd}(N)} \approx
        \frac{|\lambda_0| \sqrt{\mathrm{Var}(D)}}{2 \sqrt{E D \, \mathrm{Var}(N)}}.

    Prop. 10 needs it to vanish as the document grows: it says that the score and the score with the
    norm at its mean come close in probability. Where coefficients are bounded it tends to a constant.

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
    >>> [norm_share(np.full(d, d**-0.5), np.ones(d), np.ones(d), np.zeros(d), 1.0).round(3).item()
    ...     for d in (100, 10_000)]
    [0.707, 0.707]
    """
    counts = as_counts("multiplicity", multiplicity)
    slope = as_floats("alpha", alpha, counts.size)
    _, variance = count_moments(counts, kept, keep=keep)
    mean, spread = norm_moments(idf, counts, kept, keep=keep)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = abs(bias) * np.sqrt(spread) / (2 * np.sqrt(mean * (variance @ slope**2)))
    return np.asarray(np.where((spread == 0) | (bias == 0), 0.0, share))


def _linearised(
    alpha: ArrayLike, idf: ArrayLike, multiplicity: ArrayLike, kept: ArrayLike, bias: float, keep: float
) -> _Linear:
    counts = as_counts("multiplicity", multiplicity)
    slope = as_floats("alpha", alpha, counts.size)
    weight = as_floats("idf", idf, counts.size)
    mean, variance = count_moments(counts, kept, keep=keep)
    third, fourth = central_moments(counts, kept, keep=keep)
    norm = np.sqrt((mean**2 + variance) @ weight**2)
    # Without a norm nothing that is read is kept or free, and the intercept decides.
    half = np.where(norm > 0, bias / (2 * np.where(norm > 0, norm, 1.0)), 0.0)
    gamma = half[..., None] * weight**2
    beta = slope + 2 * gamma * mean
    own = beta**2 * variance + 2 * beta * gamma * third + gamma**2 * (fourth - variance**2)
    centre = np.where(norm > 0, bias * norm + mean @ slope, bias)
    return _Linear(centre, beta, gamma, np.maximum(own, 0.0))


def _third(part: _Linear, free: Counts, keep: float) -> Floats:
    """(..., d) third absolute moment of each word's term, by all its outcomes."""
    from scipy.stats import binom

    found = np.zeros(free.shape)
    for trials in np.unique(free[free > 0]).tolist():
        here = free == trials
        centred = np.arange(trials + 1) - trials * keep
        square = centred**2 - trials * keep * (1 - keep)
        value = part.beta[here][:, None] * centred + part.gamma[here][:, None] * square
        found[here] = np.abs(value) ** 3 @ binom.pmf(np.arange(trials + 1), trials, keep)
    return found


def _all_gone(idf: ArrayLike, counts: Counts, anchor: Counts, keep: float) -> Floats:
    """P(D = 0): every occurrence of a word with a norm is removed."""
    seen = np.asarray(idf, dtype=np.float64) != 0
    free = (counts - anchor)[..., seen].sum(axis=-1)
    return np.asarray(
        np.where(anchor[..., seen].sum(axis=-1) > 0, 0.0, (1 - keep) ** free.astype(np.float64))
    )
