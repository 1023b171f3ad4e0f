"""The result of a search for the fewest removed words."""

from dataclasses import dataclass

from kedge.typing import Counts

__all__ = ["Cut"]


@dataclass(frozen=True, eq=False)
class Cut:
    """How many occurrences of each unit go, (d,).

    ``proven``: fewer do not do. ``irreducible``: with any one of them back, the label is back.
    """

    removed: Counts
    proven: bool
    irreducible: bool = True

    def __len__(self) -> int:
        return int(self.removed.sum())
