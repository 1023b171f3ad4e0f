"""What a perturbation is."""

from collections.abc import Callable, Collection
from numbers import Real
from typing import Any, Protocol

import numpy as np

from kedge.errors import OptionError
from kedge.text.document import Document
from kedge.typing import Bools, Counts
from kedge.utils.sentences import Option

__all__ = ["Perturbation", "Writer", "check_keep", "named"]

Writer = Callable[[Bools], list[str]]


class Perturbation(Protocol):
    """Draws which occurrences are kept given an anchor, and writes the perturbed texts.

    ``keep`` is the probability that a free occurrence stays. ``removes`` says that a position not
    kept is simply gone for a model that counts words, so that no text need be built;
    ``repeatable`` that the same kept positions always give the same text, so that enumeration is
    possible and no text is queried twice. Where it has an attribute ``independent`` that is true, each
    free occurrence stays by a coin of its own, so that a proof may toss the coins itself.
    """

    @property
    def name(self) -> str:
        """Its name in reports."""
        ...

    @property
    def keep(self) -> float:
        """The probability that a free occurrence stays."""
        ...

    @property
    def removes(self) -> bool:
        """A word not kept is gone, for a model that counts words."""
        ...

    @property
    def repeatable(self) -> bool:
        """The same kept positions always give the same text."""
        ...

    def protected(self, document: Document) -> Bools:
        """(b,) the positions that are never replaced."""
        ...

    def draw(self, sizes: Counts, kept: Counts, n: int, rng: np.random.Generator) -> Counts:
        """(n, d) how many occurrences of each unit each of ``n`` samples keeps, given ``kept``."""
        ...

    def writer(self, document: Document, rng: np.random.Generator) -> Writer:
        """Prepare a document once; the writer then gives the texts for (n, b) kept positions."""
        ...


def named(document: Document, words: Collection[str]) -> Bools:
    """(b,) the positions whose word is one of ``words``, whatever its case."""
    wanted = {word.casefold() for word in words}
    return np.array([word.casefold() in wanted for word in document.words], dtype=bool)


def check_keep(keep: Any) -> None:
    """Refuse a probability that would leave nothing to chance."""
    if not isinstance(keep, Real) or not 0 < float(keep) < 1:
        raise OptionError(Option("keep"), f" must be a number strictly between 0 and 1, got {keep!r}.")
