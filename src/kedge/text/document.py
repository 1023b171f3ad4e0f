"""A document as the model reads it: units of text with their place in the caller's own text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, overload

import numpy as np

from kedge.errors import TextError
from kedge.typing import Counts, Span

__all__ = ["Document", "Token", "WordRuns"]


class Token(NamedTuple):
    """One unit of text: the word as the model reads it and ``text[start:stop]``, where it stands."""

    word: str
    start: int
    stop: int


class WordRuns(Sequence[Token]):
    """Tokens that are whole runs of word characters; where they stand is computed on first access.

    Most of a long text is never looked at: what is explained is a count of each word, and what is shown a
    few of them.

    Parameters
    ----------
    text
        The text as the model reads it, character by character that of the caller.
    words
        All its runs of word characters in order, but for runs that are shorter than each of them.

    >>> tokens = WordRuns("a so so-so day", ["so", "so", "so", "day"])
    >>> tokens.span(2), tokens[3]
    ((8, 10), Token(word='day', start=11, stop=14))
    """

    def __init__(self, text: str, words: list[str]) -> None:
        self._text, self.words = text, words

    def span(self, position: int) -> Span:
        """Where one token stands."""
        word, text = self.words[position], self._text
        start = -1
        for _ in range(self.words[:position].count(word) + 1):
            start = _whole(text, word, start + 1)
        return start, start + len(word)

    @cached_property
    def _tokens(self) -> tuple[Token, ...]:
        text, stop, found = self._text, 0, []
        for word in self.words:
            start = text.index(word, stop)  # what was left out in between is shorter
            stop = start + len(word)
            found.append(Token(word, start, stop))
        return tuple(found)

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Token]:
        return iter(self._tokens)

    @overload
    def __getitem__(self, index: int) -> Token: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Token, ...]: ...
    def __getitem__(self, index: int | slice) -> Token | tuple[Token, ...]:
        return self._tokens[index]

    def __eq__(self, other: object) -> bool:
        return self._tokens == tuple(other) if isinstance(other, (WordRuns, tuple, list)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._tokens)

    def __repr__(self) -> str:
        return repr(self._tokens)


def _whole(text: str, word: str, start: int) -> int:
    """Where a word stands next as a run of its own."""
    while True:
        start = text.index(word, start)
        before, after = text[start - 1 : start], text[start + len(word) : start + len(word) + 1]
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            return start
        start += len(word)  # no run begins inside another


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
    tokens: Sequence[Token]

    def __init__(self, text: str, tokens: Iterable[Token]) -> None:
        object.__setattr__(self, "text", text)
        if isinstance(tokens, WordRuns):  # in order as they are
            object.__setattr__(self, "tokens", tokens)
            return
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
    def words(self) -> Sequence[str]:
        """The word at each position."""
        return self.tokens.words if isinstance(self.tokens, WordRuns) else [t.word for t in self.tokens]

    def span(self, position: int) -> Span:
        """Where a position stands in the text."""
        if isinstance(self.tokens, WordRuns):
            return self.tokens.span(position)
        return self.tokens[position].start, self.tokens[position].stop

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: j for j, word in enumerate(dict.fromkeys(self.words))}

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The distinct words, in order of first appearance."""
        return tuple(self._index)

    @cached_property
    def word_of(self) -> Counts:
        """For each position the index of its word in ``vocabulary``."""
        index = self._index
        return np.array([index[word] for word in self.words], dtype=np.int64)

    @cached_property
    def multiplicity(self) -> Counts:
        """How often each word of ``vocabulary`` occurs."""
        return np.bincount(self.word_of, minlength=len(self._index)).astype(np.int64)
