"""What a search for the fewest removed words gives back."""

from dataclasses import dataclass

from kedge.typing import Counts

__all__ = ["Cut"]


@dataclass(frozen=True, eq=False)
class Cut:
    """How many occurrences of each unit go, (d,); and whether it is proven that fewer do not do."""

    removed: Counts
    proven: bool

    def __len__(self) -> int:
        return int(self.removed.sum())
