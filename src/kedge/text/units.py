"""Units: groups of positions that the model cannot tell apart.

For a model that sees only word counts, the occurrences of a word are interchangeable: one unit per
distinct word that it reads, of size m_j. For any other model every position is a unit of size 1.
With this one notion "all 2^b masks" and "all count vectors" are the same algorithm.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.text.anchor import Anchor
from kedge.text.document import Document
from kedge.typing import Counts, Kept

__all__ = ["Units", "interchangeable", "one_per_position"]


@dataclass(frozen=True)
class Units:
    """Groups of interchangeable positions, each sorted; groups in order of first position."""

    members: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def sizes(self) -> Counts:
        """(d,) the multiplicity m_j of each unit."""
        return np.array([len(group) for group in self.members], dtype=np.int64)

    def counts(self, kept: Kept) -> Counts:
        """(d,) how many occurrences of each unit an anchor keeps: a_1..a_d."""
        return np.bincount(np.asarray(kept, dtype=np.int64), minlength=len(self)).astype(np.int64)

    def anchor(self, kept: Kept) -> Anchor:
        """The positions an anchor in unit space stands for: first occurrences first."""
        seen: dict[int, int] = {}
        positions = []
        for unit in kept:
            rank = seen.get(unit, 0)
            positions.append(self.members[unit][rank])
            seen[unit] = rank + 1
        return Anchor(positions)

    @cached_property
    def _unit_at(self) -> dict[int, int]:
        return {position: j for j, group in enumerate(self.members) for position in group}

    def kept(self, anchor: Anchor) -> Kept:
        """An anchor's positions in unit space; positions in no unit cannot matter and drop out."""
        at = self._unit_at
        return tuple(sorted(at[k] for k in anchor.positions if k in at))


def one_per_position(document: Document) -> Units:
    """Every position its own unit: the model may care about order and place."""
    return Units(tuple((k,) for k in range(len(document))))


def interchangeable(document: Document, reads: Callable[[str], bool]) -> Units:
    """One unit per distinct word that the model reads; the other words can never matter."""
    groups: dict[str, list[int]] = {}
    for position, token in enumerate(document.tokens):
        groups.setdefault(token.word, []).append(position)
    return Units(tuple(tuple(group) for word, group in groups.items() if reads(word)))
