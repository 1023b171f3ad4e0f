"""A decision tree on counts, as the boxes of its leaves."""

from dataclasses import dataclass

from kedge.typing import Bools, Counts, Floats

__all__ = ["LeafBoxes"]


@dataclass(frozen=True)
class LeafBoxes:
    """Leaf l is reached iff low[l] < c <= high[l] in every unit; ``label`` says where the label holds.

    ``low`` and ``high`` are (L, d) in count units, infinite where the leaf does not ask. Every
    vector of counts lies in exactly one box.
    """

    low: Floats
    high: Floats
    label: Bools

    def holds(self, counts: Counts) -> Bools:
        """(n,) whether the explained label holds."""
        inside = (counts[:, None, :] > self.low) & (counts[:, None, :] <= self.high)
        reached: Bools = inside.all(axis=2)[:, self.label].any(axis=1)
        return reached
