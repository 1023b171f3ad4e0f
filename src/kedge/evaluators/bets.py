"""A one-sided test of "the precision is at least t" that stays valid however often one looks.

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

from kedge.evaluators.intervals import mixture_interval
from kedge.typing import Floats

__all__ = ["Bets", "caution", "expected_samples"]

# Stakes as shares of the largest one allowed, and the wealth put on each. Half of the wealth goes on
# "no sample will fail", so that 67 clean samples prove 0.95 at delta = 0.05 (59 would, if one looked
# once only); the smaller stakes take over as soon as samples fail: by the mean 140, 300 and 700
# samples at a precision of 0.99, 0.98 and 0.97.
_STAKES = np.array([1.0, 0.9, 0.75, 0.5, 0.25, 0.1, 0.03])
_WEIGHTS = np.array([0.5, 0.1, 0.12, 0.1, 0.08, 0.06, 0.04])
# At most this part of the margin is given for caution.
_CAUTIOUS = 0.6
# Bisection steps for an end of the interval: far below what a reader resolves.
_STEPS = 40
# More clean samples than this are not worth counting one by one.
_FAR = 1 << 20


@dataclass(frozen=True)
class Round:
    """Fresh samples judged by one prediction.

    Parameters
    ----------
    as_predicted, worse, better
        Samples with y = 0, y = 1 (lost, though predicted to hold) and y = -1 (predicted lost, yet kept).
    predicted
        q: the probability, known exactly, with which the prediction says the label is lost.
    """

    as_predicted: int
    worse: int = 0
    better: int = 0
    predicted: float = 0.0

    @property
    def trials(self) -> int:
        """How many samples."""
        return self.as_predicted + self.worse + self.better


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
        lost = sum(r.predicted * r.trials + r.worse - r.better for r in self.rounds)
        return float(np.clip(1 - lost / self.trials, 0, 1))

    def plus(self, more: Round) -> "Bets":
        """These bets and one more round; one with the same prediction as the last joins it."""
        if not self.rounds or self.rounds[-1].predicted != more.predicted:
            return Bets((*self.rounds, more))
        last = self.rounds[-1]
        joined = Round(
            last.as_predicted + more.as_predicted,
            last.worse + more.worse,
            last.better + more.better,
            more.predicted,
        )
        return Bets((*self.rounds[:-1], joined))

    def log_wealth(self, threshold: float) -> float:
        """Ln of the wealth won by betting that the precision is at least ``threshold``."""
        wealths = sum((_log_wealths(r, threshold) for r in self.rounds), start=np.zeros(len(_STAKES)))
        return float(np.logaddexp.reduce(np.log(_WEIGHTS) + wealths))

    def proves(self, threshold: float, delta: float) -> bool:
        """Whether "the precision is at least ``threshold``" is proved at level ``delta``."""
        return bool(self.log_wealth(threshold) >= -np.log(delta))

    def still_needed(self, threshold: float, delta: float, predicted: float) -> int:
        """How many more samples, all as predicted, would prove the claim: the size of the next round."""
        few, many = 0, 1
        while not self.plus(Round(many, predicted=predicted)).proves(threshold, delta):
            few, many = many, 2 * many
            if many >= _FAR:
                return _FAR
        while many - few > 1:
            middle = (few + many) // 2
            proved = self.plus(Round(middle, predicted=predicted)).proves(threshold, delta)
            few, many = (few, middle) if proved else (middle, many)
        return many

    def low(self, delta: float) -> float:
        """The largest precision proved at level ``delta``: a lower bound whenever one looks."""
        proved, open_ = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (proved + open_) / 2
            proved, open_ = (middle, open_) if self.proves(middle, delta) else (proved, middle)
        return proved

    def high(self, delta: float) -> float:
        """An upper bound whenever one looks."""
        if not any(r.predicted for r in self.rounds):  # plain counting: the uniform mixture is sharper
            return mixture_interval(sum(r.as_predicted for r in self.rounds), self.trials, delta)[1]
        # The same bets with the roles of keeping and losing the label exchanged.
        other = Bets(tuple(Round(r.as_predicted, r.better, r.worse, 1 - r.predicted) for r in self.rounds))
        return 1 - other.low(delta)


def expected_samples(threshold: float, delta: float, lost: float, predicted: float, wrong: float) -> float:
    """About how many samples a proof will take: a figure to plan with.

    Parameters
    ----------
    threshold, delta
        What is to be proved.
    lost
        How often the label is lost, as far as is known; at or above 1 - threshold no number will do.
    predicted, wrong
        How often a prediction says so, and how often it is wrong either way.
    """
    rate = max(_plain_rate(threshold, lost), _controlled_rate(1 - threshold - predicted, wrong))
    # The mixture of stakes pays about one more unit for not knowing the best of them.
    return float((1 - np.log(delta)) / rate) if rate > 0 else float("inf")


def _plain_rate(threshold: float, lost: float) -> float:
    """Growth of ln wealth per sample at the best stake: the divergence of two coins."""
    most = 1 - threshold
    if lost >= most:
        return 0.0
    gain = (1 - lost) * np.log((1 - lost) / threshold)
    return float(gain + (lost * np.log(lost / most) if lost > 0 else 0.0))


def _controlled_rate(margin: float, wrong: float) -> float:
    """The same with a control variate that leaves ``margin``, and is made cautious as ``caution`` says."""
    shift = caution(margin, wrong)
    margin -= shift
    if margin <= 0:
        return 0.0
    worse = 0.5 * wrong * np.exp(-2 * shift / wrong) if wrong > 0 else 0.0
    grown = _log_wealths_at(1 - worse - (worse + shift), worse, worse + shift, margin)
    return float(max(grown.max(), 0.0))


def caution(margin: float, wrong: float) -> float:
    """By how much more often a prediction that is ``wrong`` so often should say that the label is lost.

    Mistakes are not alike: to lose a label that was predicted to hold may cost the whole stake, the other way
    round it only costs margin. So some margin is given for fewer of the former.
    """
    return min(wrong, _CAUTIOUS * max(margin, 0.0))


def _log_wealths(r: Round, threshold: float) -> Floats:
    """(stakes,) ln wealth of each stake after one round."""
    return _log_wealths_at(r.as_predicted, r.worse, r.better, 1 - threshold - r.predicted)


def _log_wealths_at(as_predicted: float, worse: float, better: float, margin: float) -> Floats:
    stakes = _STAKES / (1 - margin)
    wealths = as_predicted * np.log1p(stakes * margin) + better * np.log1p(stakes * (1 + margin))
    if worse:
        with np.errstate(divide="ignore"):  # the full stake is lost at once: ln 0
            wealths = wealths + worse * np.log(np.maximum(1 - _STAKES, 0))
    return np.asarray(wealths, dtype=np.float64)
