"""The documents of a corpus, one by one, from a file of any size or from any iterable."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kedge.errors import OptionError
from kedge.given import given_texts
from kedge.seeds import digest

__all__ = ["Item", "items_of"]


@dataclass(frozen=True)
class Item:
    """One document of a corpus.

    Parameters
    ----------
    row
        Its place in the corpus, from 0.
    id
        What the user calls it; the row where there is no such column.
    text
        The text, whatever it is: anything but a string is refused later, as a row with a reason.
    problem
        Why there is no text: the line could not be read.
    position
        How much of the source was read up to here (bytes, or rows); for the progress bar.
    label
        Which label to explain, for a multi-label model.
    """

    row: int
    id: Any
    text: Any
    problem: str | None = None
    position: int = 0
    label: Any = None

    @cached_property
    def digest(self) -> str:
        """What tells this document from another one in the results."""
        return digest(self.text if isinstance(self.text, str) else repr(self.text))


def items_of(texts: Iterable[Any], ids: Iterable[Any] | None = None, label: Any = None) -> Iterator[Item]:
    """Texts in memory, or any stream of them, as items.

    >>> [item.id for item in items_of(["good", "bad"], ["a", "b"])]
    ['a', 'b']
    """
    texts = given_texts(texts)
    if ids is None:
        return (Item(row, row, text, label=label) for row, text in enumerate(texts))
    return _with_ids(texts, ids, label)


def _with_ids(texts: Iterable[Any], ids: Iterable[Any], label: Any) -> Iterator[Item]:
    names = iter(ids)
    missing = object()
    for row, text in enumerate(texts):
        name = next(names, missing)
        if name is missing:
            raise OptionError(f"There are more texts than ids: the ids end after {row}.")
        yield Item(row, name, text, label=label)
