"""Intervals for the success probability of coin flips.

``kl_bounds`` is what the official search explores with; the other two are what claims rest on:
``clopper_pearson`` for one look at the data, ``mixture_interval`` for any number of looks.
"""

import numpy as np
from scipy.special import betaincinv, betaln, xlog1py, xlogy

from kedge.typing import Floats

__all__ = ["clopper_pearson", "kl_bounds", "mixture_interval"]

# Bisection steps: 2^-40 is far below what any search or reader resolves.
_STEPS = 40


def _divergence(p: Floats, q: Floats) -> Floats:
    """KL divergence of Bernoulli(p) from Bernoulli(q)."""
    entropy = xlogy(p, p) + xlog1py(1 - p, -p)
    return np.asarray(entropy - xlogy(p, q) - xlog1py(1 - p, -q), dtype=np.float64)


def kl_bounds(mean: Floats, trials: Floats, beta: float) -> tuple[Floats, Floats]:
    """{q : trials * KL(mean, q) <= beta}, as (low, high) (Kaufmann & Kalyanakrishnan 2013).

    An anchor without trials gets (0, 1).
    """
    mean = np.asarray(mean, dtype=np.float64)
    level = beta / np.maximum(np.asarray(trials, dtype=np.float64), 1e-12)
    below, above = np.zeros_like(mean), mean.copy()
    under, over = mean.copy(), np.ones_like(mean)
    with np.errstate(divide="ignore"):  # log 0 at the ends is -inf, as it should be
        for _ in range(_STEPS):
            middle = (below + above) / 2
            inside = _divergence(mean, middle) <= level
            above, below = np.where(inside, middle, above), np.where(inside, below, middle)
            middle = (under + over) / 2
            inside = _divergence(mean, middle) <= level
            under, over = np.where(inside, middle, under), np.where(inside, over, middle)
    return below, over


def clopper_pearson(successes: int, trials: int, delta: float) -> tuple[float, float]:
    """Two-sided 1 - delta interval for one look at the data.

    One-sided at level delta / 2 each, by the beta quantiles.

    >>> [round(x, 3) for x in clopper_pearson(59, 59, 0.1)]
    [0.95, 1.0]
    """
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
