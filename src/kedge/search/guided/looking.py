"""What samples say of an anchor's precision, as well as they can: estimates that guide, and prove nothing.

Samples can be counted. They can be compared with what the surrogate predicted of them, whose share of lost
labels is known. And where the model gives log-odds and the label holds where they are positive, their mean
and spread say more than their signs: log-odds of many words are close to normal. The surrogate's own
score, whose two moments are known exactly, takes most of the noise out of both (a control variate). The
estimate with the smallest error is taken.
"""

from dataclasses import dataclass

import numpy as np

from kedge.search.guided.learner import Learner
from kedge.search.guided.pool import Rows
from kedge.typing import Kept

__all__ = ["Look", "look_at"]

# Fewer log-odds than this say nothing of their spread.
_FEWEST = 8
# How far the precision is off if log-odds are taken to be normal, as a rule.
_NORMAL, _NO_SUM = 4e-3, 0.02
# The least part of the score's variance that log-odds are believed to have.
_LEAST = 0.1
# A surrogate that is wrong more often than this has no say.
_HEARD = 0.2
# How far the precision that it predicts is off, where log-odds are not explained at all.
_SPREAD = 0.06


@dataclass(frozen=True)
class Look:
    """An estimate of a precision, its standard error, and the number of samples it rests on."""

    mean: float
    error: float
    trials: float

    def with_prior(self, mean: float, error: float) -> "Look":
        """Together with another estimate, each with the weight that its error allows."""
        if not self.trials:
            return Look(mean, error, 0)
        mine, other = self.error**-2, error**-2
        return Look((mine * self.mean + other * mean) / (mine + other), (mine + other) ** -0.5, self.trials)


def look_at(learner: Learner, kept: Kept, rows: Rows, gone: int | None = None) -> Look:
    """The best estimate of an anchor's precision from samples that follow its law.

    With ``gone``, one occurrence of that unit of the anchor is missing in all of them.
    """
    n = len(rows.holds)
    predicted = _predicted(learner, kept, gone)
    looks = [_counted(rows)] if n else []
    if n and predicted is not None:
        looks.append(_corrected(learner, rows, predicted))
    if n >= _FEWEST and learner.pool.reading.log_odds is not None and ((rows.odds > 0) == rows.holds).all():
        looks.append(_by_log_odds(learner, kept, rows, gone))
    best = min(looks, key=lambda one: one.error, default=Look(0.5, 0.5, 0))
    doubt = _SPREAD * float(np.sqrt(max(1 - learner.explained, 0.0))) if learner.by_odds else learner.error
    expected = _predicted(learner, kept, gone, noisy=not learner.vouched)
    if expected is None or doubt > _HEARD:
        return best
    return best.with_prior(1 - expected, max(doubt, 1e-4))


def _predicted(learner: Learner, kept: Kept, gone: int | None, *, noisy: bool = False) -> float | None:
    """How often the surrogate predicts that the label is lost."""
    surrogate = learner.surrogate
    if not surrogate.exact:
        return None
    loss = surrogate.loss(kept, noisy=noisy)
    if gone is None:
        return loss
    at = kept.index(gone)
    rest = surrogate.loss(kept[:at] + kept[at + 1 :], noisy=noisy)
    return float(np.clip((rest - surrogate.keep * loss) / (1 - surrogate.keep), 0, 1))


def _counted(rows: Rows) -> Look:
    """Half a failure more is counted in the error, so that few samples give no certainty."""
    n, lost = len(rows.holds), int((~rows.holds).sum())
    rate = (lost + 0.5) / (n + 1)
    return Look(1 - lost / n, float(np.sqrt(rate * (1 - rate) / n)), n)


def _corrected(learner: Learner, rows: Rows, predicted: float) -> Look:
    """By how much more often the label was lost than the same samples were predicted to lose it."""
    n, expected = len(rows.holds), learner.surrogate.holds(rows.counts)
    excess = (expected & ~rows.holds).astype(np.int64) - (~expected & rows.holds)
    error = float(np.sqrt((np.abs(excess).sum() + 0.5) / (n + 1) / n))
    return Look(float(np.clip(1 - predicted - excess.mean(), 0, 1)), error, n)


def _by_log_odds(learner: Learner, kept: Kept, rows: Rows, gone: int | None) -> Look:
    """By the mean and the variance of the log-odds, as if they were normal.

    o = s + r, where s is the score and r what it leaves. E[o] = E[s] + E[r] and Var(o) = Var(s) + Var(r) +
    2 Cov(s, r), of which the first of each is known. With n samples the variance of z = E[o] / sd(o) is
    about Var(r) / (n Var(o)) + z^2 (2 Var(r)^2 + 4 Var(s) Var(r)) / (4 n Var(o)^2).
    """
    from scipy.special import ndtr

    n, surrogate = len(rows.odds), learner.surrogate
    score, mean, spread = np.zeros(n), 0.0, 0.0
    if learner.by_odds:
        score = surrogate.scores(rows.counts) / surrogate.scale
        mean, spread = surrogate.moments(kept, gone)
    rest = rows.odds - score
    left = float(rest.var(ddof=1))
    mean += float(rest.mean())
    together = 2 * float(((score - score.mean()) * (rest - rest.mean())).sum()) / (n - 1)
    variance = max(spread + left + together, _LEAST * spread, 1e-12)
    z = mean / np.sqrt(variance)
    doubt = left / variance + z**2 * (2 * left**2 + 4 * spread * left) / (4 * variance**2)
    slope = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    misfit = _NORMAL + _NO_SUM * (1 - learner.explained)
    return Look(float(ndtr(z)), float(np.hypot(slope * np.sqrt(doubt / n), misfit)), n)
