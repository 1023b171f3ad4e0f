"""Proving that one anchor reaches the threshold, with samples nobody has looked at.

The anchor is chosen first; every sample after that is fresh. Where few distinct samples exist they
are all asked about and the precision is exact. Otherwise the bets of ``precision.bets`` are placed,
with the surrogate as control variate where it has earned it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np
from scipy.special import comb

from kedge.precision.bets import Bets
from kedge.reading import CELLS, Reading
from kedge.search.pool import Pool, support
from kedge.search.surrogate import Surrogate
from kedge.typing import Kept

__all__ = ["Verdict", "certify", "exact_precision"]

# Samples are asked about in rounds that could finish the proof, but in no more than this at once.
_ROUND = 256
# A proof is given up when the samples so far say it would need more than this many times what is
# still allowed for it.
_HOPE = 1.5


@dataclass(frozen=True)
class Verdict:
    """What the fresh samples of one anchor said."""

    proved: bool
    mean: float
    low: float
    high: float
    trials: float


def certify(
    pool: Pool, kept: Kept, threshold: float, delta: float, *, control: Surrogate | None, most: int
) -> Verdict:
    """Try to prove that an anchor's precision is at least ``threshold``, at level ``delta``.

    Parameters
    ----------
    control
        The surrogate whose exact predictions serve as control variate; None for plain counting.
    most
        How many fresh samples to spend at most.
    """
    reading = pool.reading
    distinct = support(reading, kept) if reading.repeatable else np.inf
    foreseen = 0.0 if control is None else control.loss(kept)
    if foreseen >= 1 - threshold:  # a prediction that says no cannot help to say yes
        control, foreseen = None, 0.0
    bets = Bets(foreseen=foreseen)
    predict: Callable[..., np.ndarray] | None = None if control is None else control.holds
    while not (proved := bets.proves(threshold, delta)) and bets.trials < most:
        needed = bets.still_needed(threshold, delta)
        if distinct <= min(bets.trials + needed, pool.left):
            mean = exact_precision(reading, kept)
            return Verdict(mean >= threshold, mean, mean, mean, np.inf)
        if _hopeless(bets, threshold, delta, most) or pool.left <= 0:
            break
        counts, holds = pool.draw(kept, min(needed, most - bets.trials, _ROUND))
        expected = np.ones(len(holds), dtype=bool) if predict is None else predict(counts)
        worse, better = int((expected & ~holds).sum()), int((~expected & holds).sum())
        bets = bets.plus(len(holds) - worse - better, worse, better)
    return Verdict(proved, bets.mean, bets.low(delta), bets.high(delta), bets.trials)


def _hopeless(bets: Bets, threshold: float, delta: float, most: int) -> bool:
    """Whether the samples so far say that the proof will not come in the number still allowed.

    The wealth grows by about gap^2 / (2 variance) per sample at the best small stake, and by gap
    at the most; the estimate is taken a standard error on the good side, so that bad luck alone
    does not end it.
    """
    n = bets.trials
    if n < 30:
        return False
    changed = (bets.worse + bets.better) / n
    error = np.sqrt(max(changed, 1 / n) / n)
    gap = bets.mean + 2 * error - threshold
    if gap <= 0:
        return True
    rate = max(min(gap, gap**2 / (2 * max(changed, 1e-9))), 1e-9)
    missing = -np.log(delta) - bets.log_wealth(threshold)
    return bool(missing / rate > _HOPE * (most - n))


def exact_precision(reading: Reading, kept: Kept) -> float:
    """The precision of one anchor by asking about every sample there is."""
    sure = reading.units.counts(kept)
    free = reading.units.sizes - sure
    shape = tuple(int(f) + 1 for f in free)
    total = prod(shape)
    rows = max(1, CELLS // len(shape))
    precision = 0.0
    for start in range(0, total, rows):
        flat = np.arange(start, min(start + rows, total))
        more = np.stack(np.unravel_index(flat, shape), axis=1)
        law = comb(free, more) * reading.keep**more * (1 - reading.keep) ** (free - more)
        precision += float(np.prod(law, axis=1) @ reading.holds(sure + more))
    return min(precision, 1.0)
