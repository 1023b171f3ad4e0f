"""One anchor that was chosen before, checked with samples of its own: the test that an audit rests on."""

from dataclasses import dataclass
from hashlib import sha256

from kedge.evaluators.bets import Bets, Round
from kedge.evaluators.enumeration import anchor_precision, table_size
from kedge.reading.fresh import FreshSamples
from kedge.reading.reading import Reading
from kedge.typing import Kept
from kedge.utils.seeds import generator

__all__ = ["Checked", "check_anchor"]

# Samples are queried in rounds that could finish the proof, but in no more than this at once.
_ROUND = 256


@dataclass(frozen=True)
class Checked:
    """What became of an anchor's check.

    Parameters
    ----------
    proved
        Whether it was proved to reach the threshold. One that does not reach it is proved with probability
        ``level`` at most.
    held, lost
        Samples that kept the label, and that lost it; none where all texts there are were queried.
    queries
        Texts sent to the model.
    """

    proved: bool
    held: int
    lost: int
    queries: int


def check_anchor(
    reading: Reading, kept: Kept, threshold: float, *, level: float, samples: int, seed: int
) -> Checked:
    """Try to prove, with so many fresh samples at most, that an anchor reaches the threshold.

    The samples follow from a hash of the text, the anchor and a seed that no search draws from, so
    that they know nothing of how the anchor was chosen.
    """
    own = int.from_bytes(sha256(f"kedge audit {seed}".encode()).digest()[:8], "big")
    stream = FreshSamples.of(reading, kept, own)
    rng = generator(own, reading.document.text)
    bets = Bets()
    needed = bets.still_needed(threshold, level, 0.0)
    if reading.repeatable and table_size(reading, kept) <= min(needed, samples):
        known = anchor_precision(reading, kept)
        return Checked(known.low >= threshold, 0, 0, reading.oracle.queries)
    while not (proved := bets.proves(threshold, level)) and needed <= samples - bets.trials:
        size = min(needed, _ROUND)
        rows = reading.sample(kept, size, rng) if stream is None else stream.rows(bets.trials, size)
        holds = reading.holds(rows)
        bets = bets.plus(Round(int(holds.sum()), int((~holds).sum())))
        needed = bets.still_needed(threshold, level, 0.0)
    held = sum(one.as_predicted for one in bets.rounds)
    return Checked(proved, held, bets.trials - held, reading.oracle.queries)
