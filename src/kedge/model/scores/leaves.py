"""A decision tree on counts, as the boxes of its leaves."""

from dataclasses import dataclass

import numpy as np

from kedge.typing import Bools, Counts, Floats

__all__ = ["LeafBoxes"]


@dataclass(frozen=True)
class LeafBoxes:
    """Leaf l is reached iff low[l] < c <= high[l] in every unit; ``label`` says where the label holds.

    ``low`` and ``high`` are (L, d) in count units, infinite where the leaf does not ask.
    """

    low: Floats
    high: Floats
    label: Bools

    def holds(self, counts: Counts) -> Bools:
        """(n,) whether the explained label holds."""
        low, high = self.low[self.label], self.high[self.label]
        inside = (counts[:, None, :] > low) & (counts[:, None, :] <= high)
        held: Bools = np.any(np.all(inside, axis=2), axis=1)
        return held
