"""A document as the model reads it: units of text with their place in the caller's own text."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kedge.errors import TextError
from kedge.typing import Counts

__all__ = ["Document", "Token"]


class Token(NamedTuple):
    """One unit of text: the word as the model reads it and ``text[start:stop]``, where it stands."""

    word: str
    start: int
    stop: int


@dataclass(frozen=True)
class Document:
    """A text and the units it is made of, in order.

    A repeated word is several tokens: every position is its own. ``vocabulary`` is the local
    dictionary w_1..w_d in order of first appearance, ``multiplicity`` its m_1..m_d.

    >>> document = Document("so so good", [Token("so", 0, 2), Token("so", 3, 5), Token("good", 6, 10)])
    >>> document.vocabulary, document.multiplicity.tolist(), document.word_of.tolist()
    (('so', 'good'), [2, 1], [0, 0, 1])
    """

    text: str
    tokens: tuple[Token, ...]

    def __init__(self, text: str, tokens: Iterable[Token]) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "tokens", tuple(tokens))
        end = 0
        for token in self.tokens:
            if not end <= token.start < token.stop <= len(text):
                raise TextError(
                    f"The tokenizer gave the span ({token.start}, {token.stop}), but spans must be "
                    f"non-empty, in order, without overlap and inside the text of {len(text)} "
                    "characters."
                )
            end = token.stop

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: j for j, word in enumerate(dict.fromkeys(t.word for t in self.tokens))}

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The distinct words, in order of first appearance."""
        return tuple(self._index)

    @cached_property
    def word_of(self) -> Counts:
        """For each position the index of its word in ``vocabulary``."""
        index = self._index
        return np.array([index[t.word] for t in self.tokens], dtype=np.int64)

    @cached_property
    def multiplicity(self) -> Counts:
        """How often each word of ``vocabulary`` occurs."""
        return np.bincount(self.word_of, minlength=len(self._index)).astype(np.int64)
