"""An anchor: the set of positions that are kept."""

from collections.abc import Iterable
from dataclasses import dataclass

from kedge.text.document import Document
from kedge.typing import Span

__all__ = ["Anchor"]


@dataclass(frozen=True)
class Anchor:
    """A set of token positions of one document, sorted.

    >>> Anchor([4, 1, 4]).positions
    (1, 4)
    """

    positions: tuple[int, ...]

    def __init__(self, positions: Iterable[int]) -> None:
        object.__setattr__(self, "positions", tuple(sorted(set(positions))))

    def __len__(self) -> int:
        return len(self.positions)

    def words(self, document: Document) -> tuple[str, ...]:
        """The words that stand at the positions, in order."""
        return tuple(document.words[k] for k in self.positions)

    def spans(self, document: Document) -> tuple[Span, ...]:
        """Where they stand in the caller's own text."""
        return tuple(document.span(k) for k in self.positions)
