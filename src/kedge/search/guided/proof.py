"""Proving that one anchor reaches the threshold, with samples that nobody has seen yet.

The anchor is chosen first; every sample after that is fresh. Where few distinct samples exist they
are all asked about and the precision is exact. Otherwise the bets of ``evaluators.bets`` are placed,
with the surrogate as control variate while it is worth it. Between rounds the surrogate learns from
the samples of the rounds before, which the bets allow: a prediction only has to come first.
"""

from dataclasses import dataclass

import numpy as np

from kedge.evaluators.bets import Bets, Round, caution
from kedge.evaluators.enumeration import anchor_precision, table_size
from kedge.results.interval import Interval
from kedge.search.guided.learner import Learner
from kedge.search.guided.sharpening import sharpen
from kedge.search.guided.surrogate import Surrogate
from kedge.typing import Kept

__all__ = ["Proof", "certify"]

# Samples are asked about in rounds that could finish the proof, but in no more than this at once.
_ROUND = 256
# After so many samples the plan for the proof is made again; a prediction counts as so many of them.
_SEEN, _PREDICTED = 40, 50
# A proof is given up when the samples so far say it would need more than this many times what is
# still allowed for it.
_HOPE = 1.5


@dataclass(frozen=True)
class Proof:
    """What the fresh samples of one anchor said; ``trials`` is infinite where all samples were asked.

    ``level`` is the part of delta that it was given, ``log_wealth`` what became of each unit that was bet on
    it.
    """

    kept: Kept
    interval: Interval
    proved: bool = False
    trials: float = 0
    level: float | None = None
    log_wealth: float = 0.0


def certify(learner: Learner, kept: Kept, delta: float, most: int, begun: Bets | None = None) -> Proof:
    """Try to prove at level ``delta``, with at most ``most`` fresh samples, that an anchor reaches.

    ``begun`` are the bets of a proof that goes on, on all of the anchor's samples so far.
    """
    pool, threshold = learner.pool, learner.goal.threshold
    reading = pool.reading
    distinct = table_size(reading, kept) if reading.repeatable else np.inf
    bets = begun or Bets()
    seen = len(pool.seen(kept))  # before the surrogate made its predictions: they are none
    elsewhere = 0 if begun is None else begun.trials - seen  # samples that are in no stream of its own
    seen += elsewhere
    while not (proved := bets.proves(threshold, delta)) and bets.trials < most:
        if bets.trials >= max(seen, _SEEN) and learner.surrogate.exact:
            sharpen(learner, kept, _lost(learner, kept, bets))
            dear = bool(kept) and learner.cost(_lost(learner, kept, bets, lucky=True)) > most - bets.trials
            if dear:
                break
        predictor, loss = _predictor(learner, kept, bets) if bets.trials >= seen else (learner.surrogate, 0.0)
        needed = bets.still_needed(threshold, delta, loss)
        if distinct <= max(1, min(bets.trials + needed, most, pool.left)):  # the document itself is known
            known = anchor_precision(reading, kept)
            return Proof(kept, known, known.low >= threshold, np.inf, delta)
        hopeless = needed > most - bets.trials or _hopeless(bets, threshold, delta, most)
        if (pool.left <= 0 and bets.trials >= seen) or (hopeless and bets.trials):
            break
        size = seen - bets.trials if bets.trials < seen else min(needed, most - bets.trials, _ROUND)
        counts, holds = pool.fresh(kept, bets.trials - elsewhere, size)
        learner.predicted(learner.surrogate.holds(counts) != holds)
        expected = predictor.holds(counts)
        if not loss:
            expected = np.ones(len(holds), dtype=bool)
        worse, better = int((expected & ~holds).sum()), int((~expected & holds).sum())
        bets = bets.plus(Round(len(holds) - worse - better, worse, better, loss))
        learns = bets.trials > _ROUND / 2 and worse + better > 0 and pool.room > len(holds)
        if learns:
            learner.fit()
    low, high = bets.low(delta), bets.high(delta)
    known = Interval(low, bets.mean, max(low, high)).within(low, max(low, high))
    return Proof(kept, known, bool(proved), bets.trials, delta, bets.log_wealth(threshold))


def _lost(learner: Learner, kept: Kept, bets: Bets, *, lucky: bool = False) -> float:
    """How often the label is lost, as predicted and as seen; if lucky, a standard error less often."""
    predicted, n = learner.surrogate.loss(kept), bets.trials
    lost = (_PREDICTED * predicted + n * (1 - bets.mean)) / (_PREDICTED + n)
    return max(lost - lucky * float(np.sqrt(lost / n)), 0.0)


def _predictor(learner: Learner, kept: Kept, bets: Bets) -> tuple[Surrogate, float]:
    """What predicts the answers of the next round, and how often it says that the label is lost.

    It pays where it is wrong less often than the label is lost; else nothing is predicted to be lost. A
    prediction that says the anchor does not reach cannot help to prove that it does.
    """
    surrogate, allowed = learner.surrogate, 1 - learner.goal.threshold
    if not surrogate.exact:
        return surrogate, 0.0
    loss = surrogate.loss(kept)
    lost = 1 - bets.mean if bets.trials >= 50 else loss
    if loss >= allowed or learner.error >= 0.7 * lost:
        return surrogate, 0.0
    cautious = surrogate.cautious(kept, caution(allowed - loss, learner.error))
    loss = cautious.loss(kept)
    return cautious, loss if loss < allowed else 0.0


def _hopeless(bets: Bets, threshold: float, delta: float, most: int) -> bool:
    """Whether the samples so far say that the proof will not come in the number still allowed.

    The wealth grows by about gap^2 / (2 variance) per sample at the best small stake, and by gap
    at the most; the estimate is taken two standard errors on the good side, so that bad luck alone
    does not end it.
    """
    n = bets.trials
    if n < 30:
        return False
    changed = sum(r.worse + r.better for r in bets.rounds) / n
    error = np.sqrt(max(changed, 1 / n) / n)
    gap = bets.mean + 2 * error - threshold
    if gap <= 0:
        return True
    rate = max(min(gap, gap**2 / (2 * max(changed, 1e-9))), 1e-9)
    missing = -np.log(delta) - bets.log_wealth(threshold)
    return bool(missing / rate > _HOPE * (most - n))
