"""The documents of a corpus, one by one, from a file of any size or from any iterable."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kedge.corpus.outcome import Line, Outcome
from kedge.errors import Failure, OptionError
from kedge.text.inputs import as_texts
from kedge.utils.seeds import digest

__all__ = ["Check", "Item", "items_of"]


class Check(NamedTuple):
    """An anchor to be checked: its place, its label, at which level, with how many samples at most."""

    positions: tuple[int, ...]
    label: Any
    level: float
    samples: int


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
    done
        Its row as an earlier run has written it: there is nothing left to do.
    check
        Which anchor of it an audit checks; then it is not explained.
    """

    row: int
    id: Any
    text: Any
    problem: str | None = None
    position: int = 0
    label: Any = None
    done: Line | None = None
    check: Check | None = None

    @cached_property
    def digest(self) -> str:
        """What identifies this document in the results."""
        return digest(self.text if isinstance(self.text, str) else repr(self.text))

    def failed(self, why: Failure) -> Outcome:
        """The outcome of a document that could not be explained."""
        return Outcome(self.row, self.id, self.digest, None, why)


def items_of(texts: Iterable[Any], ids: Iterable[Any] | None = None, label: Any = None) -> Iterator[Item]:
    """Texts in memory, or any stream of them, as items.

    >>> [item.id for item in items_of(["good", "bad"], ["a", "b"])]
    ['a', 'b']
    """
    texts = as_texts(texts)
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
