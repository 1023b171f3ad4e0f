"""The chance of leading all rivals, from the chances of leading each: the evaluator of leads."""

from collections.abc import Sequence

import numpy as np

from kedge.evaluators.enumeration import anchor_precision, table_size
from kedge.evaluators.estimates import Estimates
from kedge.evaluators.leads import Lead, lead_tails
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.typing import Counts, Kept

__all__ = ["Leading", "look_together"]

# Half the width of the narrowest interval that is worth its time.
_FINEST = 1e-3
# Where that leaves the side of the threshold open, up to this many samples are all added up.
_FEW = 1 << 14
# How often the norm may leave its range, at most.
_OUTSIDE = 1e-3


class Leading:
    """Certified precision of any anchor of a reading whose label leads by sums over words.

    The label holds iff it leads every rival: at most as often as it leads any one of them, and at least as
    often as 1 - sum_k P(it does not lead rival k).
    """

    name = "convolution"
    sampled = False
    notes = ()
    every = None

    def __init__(self, reading: Reading, threshold: float = 0.95) -> None:
        if reading.leads is None:
            raise TypeError("The model's leads are not known to be sums over words.")
        self._reading, self.units = reading, reading.units
        # How often the norm may leave its range: little against what the threshold leaves.
        outside = min(_OUTSIDE, (1.0 - threshold) / 20.0)
        self.leads = [Lead(reading.leads, k, reading.keep, outside) for k in range(reading.leads.rivals)]
        self._known: dict[Kept, Interval] = {}
        self.looked: dict[tuple[Kept, float | None], list[Interval]] = {}

    def refine(self, kept: Kept, threshold: float | None = None) -> Interval:
        """The certified interval of one anchor, refined until it lies on one side of a threshold."""
        known = self._known.get(kept)
        if known is None or known.splits(threshold):
            counts = self.units.counts(kept)
            look_together([(self, kept)], threshold)
            tails = self.looked.pop((kept, threshold))
            known = _all(tails)
            if threshold is not None and known.splits(threshold):
                target = max(abs(known.mean - threshold) / 3.0, _FINEST)
                # Only what can tip the balance is worth a closer look.
                share = 0.25 * target / len(tails)
                pairs = zip(self.leads, tails, strict=True)
                known = _all([lead.finer(counts, target, t) if t.width > share else t for lead, t in pairs])
            if known.splits(threshold) and table_size(self._reading, kept) <= _FEW:
                known = anchor_precision(self._reading, kept)
            self._known[kept] = known
        return known

    def over(self, lead: Lead, counts: Counts, threshold: float) -> float:
        """The label leads one rival at most this often, as closely as the side of a threshold needs it."""
        tail = lead.tail(counts, threshold)
        if tail.splits(threshold):
            tail = lead.finer(counts, max((threshold - tail.mean) / 3.0, _FINEST), tail)
        return tail.high

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Middle and half width of each anchor's interval."""
        del samples
        tails = [self.refine(kept) for kept in anchors]
        low, high = np.array([t.low for t in tails]), np.array([t.high for t in tails])
        return Estimates.closed((low + high) / 2, (high - low) / 2)

    def seen(self, kept: Kept) -> None:
        """Nothing is drawn."""


def look_together(asked: Sequence[tuple[Leading, Kept]], threshold: float | None) -> None:
    """Take the first look at anchors of several readings; each will be remembered when it is refined."""
    asked = [one for one in asked if (one[1], threshold) not in one[0].looked]
    each = [(lead, one.units.counts(kept)) for one, kept in asked for lead in one.leads]
    tails = iter(lead_tails(each, threshold) if each else ())
    for one, kept in asked:
        one.looked[kept, threshold] = [next(tails) for _ in one.leads]


def _all(tails: list[Interval]) -> Interval:
    """Leading all rivals, from leading each."""
    low = 1.0 - sum(1.0 - tail.low for tail in tails)
    mean = 1.0 - sum(1.0 - tail.mean for tail in tails)
    return Interval(low, mean, min(tail.high for tail in tails)).within(0.0, 1.0)
