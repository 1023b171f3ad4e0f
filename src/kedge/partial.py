"""How an anchor's precision builds up, word by word."""

from kedge.choose import enumerable
from kedge.explanation import Step
from kedge.precision import Precision
from kedge.precision.enumeration import anchor_precision
from kedge.precision.tails import Tail
from kedge.reading import Reading
from kedge.typing import Kept

__all__ = ["built_up"]

# Samples for each step where the precision is sampled: a standard error below 0.016.
SAMPLES = 1000
# Exploration rate of a two-sided 95% interval around a sampled precision: ln(1 / 0.05).
BETA = 3.0


def built_up(reading: Reading, precision: Precision, kept: Kept) -> tuple[Step, ...]:
    """The precision with nothing kept, then after each word of an anchor.

    At each step the word that raises the precision most is added; of equal ones the first.
    """
    now: Kept = ()
    steps = [_step(reading, precision, now)]
    left = list(kept)
    while left:
        grown = {unit: tuple(sorted((*now, unit))) for unit in left}
        judged = {unit: _step(reading, precision, anchor) for unit, anchor in grown.items()}
        unit = max(judged, key=lambda u: (judged[u].precision, -u))
        left.remove(unit)
        now = grown[unit]
        steps.append(judged[unit])
    return tuple(steps)


def _step(reading: Reading, precision: Precision, kept: Kept) -> Step:
    estimates = precision([kept])
    if not estimates.settled[0] and estimates.trials[0] < SAMPLES:
        estimates = precision([kept], SAMPLES)
    low, high = (float(x[0]) for x in estimates.bounds(BETA))
    tail = Tail(low, float(estimates.mean[0]), high)
    if estimates.settled[0] and tail.in_doubt and enumerable(reading, kept):
        tail = anchor_precision(reading, kept)
    return Step(reading.units.anchor(kept).positions, tail.mean, tail.low, tail.high)
