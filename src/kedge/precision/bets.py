"""A one-sided test of "the precision is at least t" that may be looked at after every sample.

Each fresh sample is a bet against the opposite claim. Let x be 1 where the label is lost, g a
prediction of x made beforehand whose mean q is known exactly (g = 0 and q = 0 without one), and
y = x - g in {-1, 0, 1}. If the precision were below t then E[y] >= m with m = (1 - t) - q, so
multiplying a wealth that starts at 1 by 1 + lambda (m - y), 0 <= lambda <= 1/(1 - m), gives a
non-negative supermartingale: it ever reaches 1/delta with probability delta at most (Ville). So does
the average of the wealth over several lambda, which is what is used here (Waudby-Smith & Ramdas 2023,
"Estimating means of bounded random variables by betting"; with g = 0 it is Robbins' mixture of
likelihood ratios).

The known prediction is a control variate. Where it is always right, y is always 0 and the claim is
proved after ln(1/delta) / m samples instead of the order of 1/m^2 that plain counting needs.
"""

from dataclasses import dataclass

import numpy as np

from kedge.precision.intervals import mixture_interval
from kedge.typing import Floats

__all__ = ["Bets"]

# Stakes as shares of the largest one allowed, and the wealth put on each. Half of the wealth goes on
# "no sample will fail", so that 67 clean samples prove 0.95 at delta = 0.05 (59 would, if one looked
# once only); the smaller stakes take over as soon as samples fail: by the mean 140, 300 and 700
# samples at a precision of 0.99, 0.98 and 0.97.
_STAKES = np.array([1.0, 0.9, 0.75, 0.5, 0.25, 0.1, 0.03])
_WEIGHTS = np.array([0.5, 0.1, 0.12, 0.1, 0.08, 0.06, 0.04])
# Bisection steps for an end of the interval: far below what a reader resolves.
_STEPS = 40
# More clean samples than this are not worth counting one by one.
_FAR = 1 << 20


@dataclass(frozen=True)
class Round:
    """Fresh samples judged by one prediction.

    Parameters
    ----------
    as_foreseen, worse, better
        Samples with y = 0, y = 1 (lost unforeseen) and y = -1 (foreseen as lost, yet kept).
    foreseen
        q: the probability, known exactly, with which the prediction says the label is lost.
    """

    as_foreseen: int
    worse: int = 0
    better: int = 0
    foreseen: float = 0.0

    @property
    def trials(self) -> int:
        """How many samples."""
        return self.as_foreseen + self.worse + self.better


@dataclass(frozen=True)
class Bets:
    """Rounds of bets on one anchor.

    The prediction may change from round to round, as long as it is fixed before the samples of its
    round are drawn.
    """

    rounds: tuple[Round, ...] = ()

    @property
    def trials(self) -> int:
        """How many samples were seen."""
        return sum(r.trials for r in self.rounds)

    @property
    def mean(self) -> float:
        """The estimated precision, 1 - q - mean(y), over all rounds; one half before the first."""
        if not self.trials:
            return 0.5
        lost = sum(r.foreseen * r.trials + r.worse - r.better for r in self.rounds)
        return float(np.clip(1 - lost / self.trials, 0, 1))

    def plus(self, more: Round) -> "Bets":
        """These bets and one more round; one with the same prediction as the last joins it."""
        if not self.rounds or self.rounds[-1].foreseen != more.foreseen:
            return Bets((*self.rounds, more))
        last = self.rounds[-1]
        joined = Round(
            last.as_foreseen + more.as_foreseen,
            last.worse + more.worse,
            last.better + more.better,
            more.foreseen,
        )
        return Bets((*self.rounds[:-1], joined))

    def log_wealth(self, threshold: float) -> float:
        """Ln of the wealth won by betting that the precision is at least ``threshold``."""
        wealths = sum((_log_wealths(r, threshold) for r in self.rounds), start=np.zeros(len(_STAKES)))
        return float(np.logaddexp.reduce(np.log(_WEIGHTS) + wealths))

    def proves(self, threshold: float, delta: float) -> bool:
        """Whether "the precision is at least ``threshold``" is proved at level ``delta``."""
        return bool(self.log_wealth(threshold) >= -np.log(delta))

    def still_needed(self, threshold: float, delta: float, foreseen: float) -> int:
        """How many more samples, all as foreseen, would prove the claim; so many are asked at a time."""
        if foreseen >= 1 - threshold:
            return _FAR
        few, many = 0, 1
        while not self.plus(Round(many, foreseen=foreseen)).proves(threshold, delta):
            few, many = many, 2 * many
            if many >= _FAR:
                return _FAR
        while many - few > 1:
            middle = (few + many) // 2
            proved = self.plus(Round(middle, foreseen=foreseen)).proves(threshold, delta)
            few, many = (few, middle) if proved else (middle, many)
        return many

    def low(self, delta: float) -> float:
        """The largest precision proved at level ``delta``: a lower bound at any time of looking."""
        proved, open_ = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (proved + open_) / 2
            proved, open_ = (middle, open_) if self.proves(middle, delta) else (proved, middle)
        return proved

    def high(self, delta: float) -> float:
        """An upper bound at any time of looking."""
        if not any(r.foreseen for r in self.rounds):  # plain counting: the uniform mixture is sharper
            return mixture_interval(sum(r.as_foreseen for r in self.rounds), self.trials, delta)[1]
        # The same bets with the roles of keeping and losing the label exchanged.
        other = Bets(tuple(Round(r.as_foreseen, r.better, r.worse, 1 - r.foreseen) for r in self.rounds))
        return 1 - other.low(delta)


def _log_wealths(r: Round, threshold: float) -> Floats:
    """(stakes,) ln wealth of each stake after one round."""
    m = 1 - threshold - r.foreseen
    stakes = _STAKES / (1 - m)
    wealths = r.as_foreseen * np.log1p(stakes * m) + r.better * np.log1p(stakes * (1 + m))
    if r.worse:
        with np.errstate(divide="ignore"):  # the full stake is lost at once: ln 0
            wealths = wealths + r.worse * np.log(np.maximum(1 - _STAKES, 0))
    return np.asarray(wealths, dtype=np.float64)
