"""Intervals for the success probability of coin flips.

``kl_lower`` and ``kl_upper`` are what the official search explores with; the other two are what
claims rest on: ``clopper_pearson`` for one look at the data, ``mixture_interval`` for any number.
"""

from math import exp, log, log1p, sqrt

import numpy as np

from kedge.typing import Floats

__all__ = ["ONE", "clopper_pearson", "kl_lower", "kl_upper", "kl_upper_one", "mixture_interval"]

# Bisection steps: 2^-40 is far below what any search or reader resolves.
_STEPS = 40
# Newton's steps: convergence is quadratic once close, and the start is close; 30 is never reached.
_NEWTON = 30
# A last step shorter than this ends them.
_CLOSE = 1e-10
# Keeps divisions and logarithms finite.
_LEAST = 1e-15
# An upper bound from here on is 1.
ONE = 1 - 2 * _LEAST


def kl_upper(mean: Floats, trials: Floats, beta: float) -> Floats:
    """The largest q with trials * KL(mean, q) <= beta (Kaufmann & Kalyanakrishnan 2013).

    An anchor without trials gets 1. KL(p, q) is convex and increasing in q > p, so Newton's steps
    from a point above the bound come down to it and never pass it: the bound is never too narrow.
    The start is the smaller of two such points, from KL >= 2 (q - p)^2 (Pinsker), and from
    KL >= p ln p + (1 - p) ln((1 - p) / (1 - q)), which is sharp where q is close to 1.
    """
    from scipy.special import xlogy

    mean = np.asarray(mean, dtype=np.float64)
    p = np.minimum(mean, 1 - _LEAST)
    level = beta / np.maximum(np.asarray(trials, dtype=np.float64), 1e-12)
    miss = 1 - p
    entropy = xlogy(p, p) + xlogy(miss, miss)
    near_one = 1 - miss * np.exp(np.maximum((xlogy(p, p) - level) / miss, -700))
    q = np.clip(np.minimum(p + np.sqrt(level / 2), near_one), p, 1 - _LEAST)
    for _ in range(_NEWTON):  # pragma: no branch  (the last step is never reached)
        excess = entropy - xlogy(p, q) - miss * np.log1p(-q) - level
        # At q = p the derivative (q - p) / (q (1 - q)) is 0, and so is what is left to gain.
        step = np.maximum(excess, 0) * q * (1 - q) / np.maximum(q - p, _LEAST)
        q = np.clip(q - step, p, 1 - _LEAST)
        if step.max(initial=0.0) < _CLOSE:
            break
    # A mean of 1 has nothing above it, and beyond what floats resolve the bound is 1 as well.
    bound: Floats = np.where((mean > 1 - _LEAST) | (q >= ONE), 1.0, q)
    return bound


def kl_upper_one(mean: float, trials: float, beta: float) -> float:
    """``kl_upper`` of one arm, without arrays: a search that asks at every step asks thousands of times.

    >>> bool(abs(kl_upper_one(0.9, 50, 3.0) - kl_upper(np.array([0.9]), np.array([50.0]), 3.0)[0]) < 1e-9)
    True
    """
    if mean > 1 - _LEAST:
        return 1.0
    level, miss = beta / max(trials, 1e-12), 1 - mean
    gain = mean * log(mean) if mean > 0 else 0.0
    near_one = 1 - miss * exp(max((gain - level) / miss, -700))
    q = min(max(min(mean + sqrt(level / 2), near_one), mean), 1 - _LEAST)
    fixed = gain + miss * log(miss) - level
    for _ in range(_NEWTON):  # pragma: no branch  (the last step is never reached)
        excess = fixed - (mean * log(q) if mean > 0 else 0.0) - miss * log1p(-q)
        step = max(excess, 0.0) * q * (1 - q) / max(q - mean, _LEAST)
        q = max(q - step, mean)
        if step < _CLOSE:
            break
    return 1.0 if q >= ONE else q


def kl_lower(mean: Floats, trials: Floats, beta: float) -> Floats:
    """The smallest q with trials * KL(mean, q) <= beta: the mirror image of ``kl_upper``."""
    return 1 - kl_upper(1 - np.asarray(mean, dtype=np.float64), trials, beta)


def clopper_pearson(successes: int, trials: int, delta: float) -> tuple[float, float]:
    """Two-sided 1 - delta interval for one look at the data.

    One-sided at level delta / 2 each, by the beta quantiles.

    >>> [round(x, 3) for x in clopper_pearson(59, 59, 0.1)]
    [0.95, 1.0]
    """
    from scipy.special import betaincinv

    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, delta / 2))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - delta / 2))
    return low, high


def mixture_interval(successes: int, trials: int, delta: float) -> tuple[float, float]:
    """1 - delta interval that stays valid however often it is looked at.

    The beta-binomial mixture martingale with a uniform prior (Robbins 1970; Howard et al. 2021):
    p stays in the set while B(s+1, n-s+1) / (p^s (1-p)^(n-s)) < 1/delta.

    >>> mixture_interval(0, 0, 0.05)
    (0.0, 1.0)
    """
    from scipy.special import betaln, xlog1py, xlogy

    s, f = successes, trials - successes
    level = betaln(s + 1, f + 1) + np.log(delta)

    def inside(p: float) -> bool:
        return bool(xlogy(s, p) + xlog1py(f, -p) > level)

    mean = s / trials if trials else 0.5
    ends = []
    for end in (0.0, 1.0):
        if inside(end):
            ends.append(end)
            continue
        outer, inner = end, mean
        for _ in range(_STEPS):
            middle = (outer + inner) / 2
            outer, inner = (outer, middle) if inside(middle) else (middle, inner)
        ends.append(outer)  # the outer end: the interval is never too narrow
    return ends[0], ends[1]
