"""Units: groups of positions that the model cannot tell apart.

For a model that sees only word counts, the occurrences of a word are interchangeable: one unit per
distinct word that it reads, of size m_j. For any other model every position is a unit of size 1.
With this one notion "all 2^b masks" and "all count vectors" are the same algorithm.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import NamedTuple, overload

import numpy as np

from kedge.text.anchor import Anchor
from kedge.text.document import Document
from kedge.typing import Counts, Kept

__all__ = ["Units", "Words", "interchangeable", "one_per_position"]

Group = tuple[int, ...]

# Up to so many words of an anchor are looked for one by one.
_FEW = 16


class Words(list[str]):
    """The words of units; ``columns`` is where a vocabulary has them, once it was looked into."""

    columns: tuple[object, Counts] | None = None


class _Occurrences(Sequence[Group]):
    """The positions of each of some words among all words of a document, computed on first access.

    The document itself is not held: it remembers its units, and reference cycles are freed late.
    """

    def __init__(self, all_words: Sequence[str], words: Sequence[str]) -> None:
        self._all, self.words = all_words, words

    @cached_property
    def _groups(self) -> tuple[Group, ...]:
        groups: dict[str, list[int]] = {word: [] for word in self.words}
        for position, word in enumerate(self._all):
            if word in groups:
                groups[word].append(position)
        return tuple(map(tuple, groups.values()))

    def nth(self, unit: int, rank: int) -> int:
        """The position of one occurrence."""
        words, word, position = self._all, self.words[unit], -1
        for _ in range(rank + 1):
            position = words.index(word, position + 1)
        return position

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups)

    @overload
    def __getitem__(self, index: int) -> Group: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Group, ...]: ...
    def __getitem__(self, index: int | slice) -> Group | tuple[Group, ...]:
        return self._groups[index]

    def __eq__(self, other: object) -> bool:
        return self._groups == tuple(other) if isinstance(other, (_Occurrences, tuple)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._groups)

    def __repr__(self) -> str:
        return repr(self._groups)


@dataclass(frozen=True)
class Units:
    """Groups of interchangeable positions, each sorted; groups in order of first position."""

    members: Sequence[Group]

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def sizes(self) -> Counts:
        """(d,) the multiplicity m_j of each unit."""
        return np.array([len(group) for group in self.members], dtype=np.int64)

    def words(self, document: Document) -> Sequence[str]:
        """The word of each unit, that of its first position."""
        if isinstance(self.members, _Occurrences):
            return self.members.words
        return [document.words[group[0]] for group in self.members]

    def counts(self, kept: Kept) -> Counts:
        """(d,) how many occurrences of each unit an anchor keeps: a_1..a_d."""
        return np.bincount(np.asarray(kept, dtype=np.int64), minlength=len(self)).astype(np.int64)

    def anchor(self, kept: Kept) -> Anchor:
        """The positions an anchor in unit space stands for: first occurrences first."""
        members = self.members
        # Few words are looked for in the text; for many the places of all words are worked out once.
        few = isinstance(members, _Occurrences) and len(kept) <= _FEW
        seen: dict[int, int] = {}
        positions = []
        for unit in kept:
            rank = seen.get(unit, 0)
            positions.append(members.nth(unit, rank) if few else members[unit][rank])  # type: ignore[attr-defined]
            seen[unit] = rank + 1
        return Anchor(positions)

    @cached_property
    def _unit_at(self) -> dict[int, int]:
        return {position: j for j, group in enumerate(self.members) for position in group}

    def kept(self, anchor: Anchor) -> Kept:
        """An anchor's positions in unit space; positions in no unit cannot matter and drop out."""
        at = self._unit_at
        return tuple(sorted(at[k] for k in anchor.positions if k in at))


class _Read(NamedTuple):
    """The units of a document, and the function that said which words are read; kept with it."""

    by: Callable[[str], bool]
    units: Units


def one_per_position(document: Document) -> Units:
    """Every position its own unit: the model may care about order and place."""
    return Units(tuple((k,) for k in range(len(document))))


def interchangeable(document: Document, reads: Callable[[str], bool]) -> Units:
    """One unit per distinct word that the model reads; the other words can never matter."""
    before = vars(document).get("read")
    if isinstance(before, _Read) and before.by is reads:  # when its label was looked for
        return before.units
    counts = Counter(document.words)  # in order of first appearance
    sizes = np.fromiter(counts.values(), np.int64, len(counts))
    known = list(map(reads, counts))
    if all(known):
        words = Words(counts)
    else:
        words, sizes = Words(compress(counts, known)), sizes[known]
    units = Units(_Occurrences(document.words, words))
    vars(units)["sizes"] = sizes  # known without looking for any position
    vars(document)["read"] = _Read(reads, units)
    return units
