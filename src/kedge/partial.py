"""How an anchor's precision builds up, word by word."""

from kedge.ask import enumerable, in_doubt
from kedge.explanation import Step
from kedge.precision import Precision
from kedge.precision.enumeration import anchor_precision
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
    mean, (low, high) = float(estimates.mean[0]), (float(x[0]) for x in estimates.bounds(BETA))
    if estimates.settled[0] and in_doubt(low, high) and enumerable(reading, kept):
        low, mean, high = anchor_precision(reading, kept)
    return Step(reading.units.anchor(kept).positions, mean, low, high)
