"""scikit-learn's text vectorisers, as finders of grams: words and their n-grams, characters within words.

Only the very types of scikit-learn with its own analyzers are read. A preprocessor, tokenizer or analyzer
of the user's own may do anything, and is called.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kedge.model.sklearn.locating import (
    CONTEXT,
    WORD_RUNS,
    is_local,
    locate_chunks,
    locate_words,
    looks_around,
)
from kedge.model.sklearn.windows.occurrences import Occurrences, Row
from kedge.perturb.masking import Masking
from kedge.perturb.pieces import masked_pieces, pieces_of
from kedge.text.document import Document, Token

__all__ = ["Grams", "grams_of"]

# Types in which counts stay counts.
_COUNTING = [np.dtype(kind) for kind in (np.int32, np.int64, np.float32, np.float64)]

Window = tuple[int, ...]


@dataclass(frozen=True)
class Grams:
    """A fitted vectoriser whose grams are known.

    Parameters
    ----------
    vectorizer
        CountVectorizer, TfidfVectorizer or HashingVectorizer.
    characters
        Whether grams are of characters within words (``char_wb``); else of words.
    """

    vectorizer: Any
    characters: bool

    @property
    def width(self) -> int:
        """How many columns the vectoriser has."""
        if self.hashed:
            return int(self.vectorizer.n_features)
        return len(self.vectorizer.vocabulary_)

    @property
    def hashed(self) -> bool:
        """Whether grams have a hash in place of a vocabulary."""
        return not hasattr(self.vectorizer, "vocabulary_")

    @property
    def cancels(self) -> bool:
        """Whether grams that share a column may count against each other there."""
        return self.hashed and bool(self.vectorizer.alternate_sign)

    @property
    def longest(self) -> int:
        """The most words in a gram."""
        return 1 if self.characters else int(self.vectorizer.ngram_range[1])

    @property
    def words_alone(self) -> bool:
        """Whether grams are single words of a vocabulary."""
        single = tuple(self.vectorizer.ngram_range) == (1, 1)
        return single and not self.characters and not self.hashed

    def reads(self, word: str) -> bool:
        """Whether some gram of the vocabulary has the word in it."""
        return word in self._words

    def tokens(self, text: str) -> Sequence[Token] | None:
        """The words of a text as this vectoriser reads them; None where their places are unknown."""
        return (locate_chunks if self.characters else locate_words)(self.vectorizer, text)

    def knows(self, mask: str) -> bool:
        """Whether some gram has the mask in it."""
        if self.characters or self.hashed:
            return bool(self.tokens(mask))
        return any(token.word in self._words for token in self.tokens(mask) or ())

    @cached_property
    def _words(self) -> Container[str]:
        """The words of a vocabulary."""
        vocabulary: dict[str, int] = self.vectorizer.vocabulary_
        return vocabulary if self.longest == 1 else {word for gram in vocabulary for word in gram.split(" ")}

    def keeps_apart(self, text: str) -> bool:
        """Whether it is known that masking words of the text leaves all other words as they are."""
        plain = text.isascii() or (self.vectorizer.strip_accents is None and CONTEXT.isdisjoint(text))
        return plain and (self.characters or self.vectorizer.token_pattern in WORD_RUNS)

    def masks_cleanly(self, document: Document, masking: Masking) -> bool:
        """Whether it is known that in masked texts just the kept words are found, and the mask's own.

        It follows from the pattern, or, where no word depends on what stands beyond a blank, from trying
        every combination of masks on every piece of the text.
        """
        mask = masking.written
        if self.keeps_apart(document.text) and self.keeps_apart(mask):
            return True
        pieces = pieces_of(document)
        if pieces is None or not mask or not (self.characters or is_local(self.vectorizer)):
            return False
        return all(self._cleanly(piece, masking) for piece in pieces)

    def _cleanly(self, piece: Document, masking: Masking) -> bool:
        """Whether every combination of masks on a piece leaves the words that it should."""
        words, masked = self.tokens(piece.text), self.tokens(masking.written)
        units = None if words is None else _sorted_into(piece, words)
        if units is None or masked is None:
            return False
        instead = [token.word for token in masked]
        for kept, text in masked_pieces(piece, masking):
            left = [w for own, here in zip(units, kept, strict=True) for w in (own if here else instead)]
            found = self.tokens(text)
            if found is None or [token.word for token in found] != left:
                return False
        return True

    def occurrences(self, document: Document, mask: str) -> Occurrences | None:
        """The grams of a document whose tokens give way to a mask; None where they are unknown."""
        words, masked = self.tokens(document.text), self.tokens(mask)
        if words is None or masked is None:
            return None
        units = _sorted_into(document, words)
        if units is None:
            return None
        if self.longest > 1 and not masked:
            return None  # what stands apart would become neighbours
        instead = [token.word for token in masked]
        if self.longest == 1:
            return self._one_by_one(units, instead)
        if not self.knows(mask):
            return self._unmasked(units)
        return self._neighbours(units, instead)

    def counted(self, text: str) -> dict[int, float]:
        """The columns of a text by the vectoriser's own analyzer, and their counts where not zero."""
        grams: list[str] = self.vectorizer.build_analyzer()(text)
        total = _summed(grams, self._columns(grams))
        return {column: count for column, count in total.items() if count}

    def _pieces(self, words: Sequence[str]) -> list[str]:
        """The grams that touch a single unit with these words."""
        if not self.characters:
            return list(words) if self.vectorizer.ngram_range[0] == 1 else []
        found: list[str] = []
        for word in words:
            found += self.vectorizer._char_wb_ngrams(word)  # noqa: SLF001  (the analyzer's own)
        return found

    def _one_by_one(self, units: Sequence[Sequence[str]], instead: Sequence[str]) -> Occurrences:
        """No gram touches two units."""
        kinds = {words: self._pieces(words) for words in map(tuple, units)}
        beside = self._pieces(instead)
        columns = self._columns([gram for own in (*kinds.values(), beside) for gram in own])
        mask = _summed(beside, columns)
        rows: dict[tuple[str, ...], Row] = {}
        for words, own in kinds.items():
            total = _summed(own, columns)
            for column, weight in mask.items():
                total[column] = total.get(column, 0.0) - weight
            kept = {column: weight for column, weight in total.items() if weight}
            rows[words] = (tuple(kept), tuple(kept.values()))
        base = {column: len(units) * weight for column, weight in mask.items()}
        return Occurrences(base=base, alone=[rows[tuple(words)] for words in units])

    def _unmasked(self, units: Sequence[Sequence[str]]) -> Occurrences:
        """N-grams of words where the mask is in none of them: all of their units must be kept."""
        words = [word for own in units for word in own]
        owners = [i for i, own in enumerate(units) for _ in own]
        # A unit without any word of this vectoriser stands between two words only while it is kept.
        apart = len(set(owners)) == len(units)
        found = Occurrences()
        low, high = self.vectorizer.ngram_range
        grams: list[tuple[str, tuple[int, ...]]] = []
        for n in range(low, high + 1):
            for k in range(len(words) - n + 1):
                first, last = owners[k], owners[k + n - 1]
                window = tuple(dict.fromkeys(owners[k : k + n])) if apart else tuple(range(first, last + 1))
                grams.append((" ".join(words[k : k + n]), window))
        columns = self._columns([gram for gram, _ in grams])
        for gram, window in grams:
            if (hit := columns.get(gram)) is not None:
                found.add(window, (), *hit)
        return found

    def _neighbours(self, units: Sequence[Sequence[str]], instead: Sequence[str]) -> Occurrences:
        """N-grams of words where the mask may be in them, too: every pattern of neighbours."""
        low, high = self.vectorizer.ngram_range
        grams: list[tuple[str, Window, Window]] = []

        def extend(words: Sequence[str], at: int, kept: Window, masked: Window, done: int) -> None:
            """Grams that begin with the first of these words and end in the unit that came last."""
            grams.extend(
                (" ".join(words[:n]), kept, masked)
                for n in range(max(low, done + 1), min(high, len(words)) + 1)
            )
            if len(words) < high and at + 1 < len(units):
                extend([*words, *units[at + 1]], at + 1, (*kept, at + 1), masked, len(words))
                extend([*words, *instead], at + 1, kept, (*masked, at + 1), len(words))

        for first, own in enumerate(units):
            for start in range(len(own)):
                extend(own[start:], first, (first,), (), 0)
            for start in range(len(instead)):
                extend(instead[start:], first, (), (first,), 0)
        columns = self._columns([gram for gram, _, _ in grams])
        found = Occurrences()
        for gram, kept, masked in grams:
            if (hit := columns.get(gram)) is not None:
                found.add(kept, masked, *hit)
        return found

    def _columns(self, grams: Sequence[str]) -> dict[str, tuple[int, float]]:
        """The column of each gram that has one, and what it counts for there."""
        if not self.hashed:
            vocabulary = self.vectorizer.vocabulary_
            return {gram: (vocabulary[gram], 1.0) for gram in set(grams) if gram in vocabulary}
        distinct = sorted(set(grams))
        if not distinct:  # pairs in a text of one word: the hasher takes no empty list
            return {}
        rows = self.vectorizer._get_hasher().transform([[gram] for gram in distinct])  # noqa: SLF001
        places, signs = rows.indices.tolist(), rows.data.tolist()
        return {gram: (places[k], float(signs[k])) for k, gram in enumerate(distinct)}


def grams_of(vectorizer: Any) -> Grams | None:
    """The grams of a fitted vectoriser; None for one that is not read.

    Exact types, with scikit-learn's own analyzers and nothing of the user's in them.
    """
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

    if type(vectorizer) not in {CountVectorizer, TfidfVectorizer, HashingVectorizer}:
        return None
    own = (
        vectorizer.input == "content"
        and vectorizer.analyzer in {"word", "char_wb"}
        and vectorizer.preprocessor is None
        and (vectorizer.tokenizer is None or vectorizer.analyzer == "char_wb")
        and vectorizer.strip_accents in {None, "ascii", "unicode"}
        and np.dtype(vectorizer.dtype) in _COUNTING
    )
    if not own:
        return None
    if vectorizer.analyzer == "word" and looks_around(vectorizer.token_pattern):
        return None
    hashed = type(vectorizer) is HashingVectorizer
    if hashed and vectorizer.binary and vectorizer.alternate_sign:
        return None  # a gram that cancels another still counts as one there
    return Grams(vectorizer, vectorizer.analyzer == "char_wb")


def _summed(grams: Sequence[str], columns: dict[str, tuple[int, float]]) -> dict[int, float]:
    """Column to count."""
    total: dict[int, float] = {}
    for gram in grams:
        if gram in columns:
            column, sign = columns[gram]
            total[column] = total.get(column, 0.0) + sign
    return total


def _sorted_into(document: Document, words: Sequence[Token]) -> list[list[str]] | None:
    """The words inside each token of the document; None if one is in none of them."""
    found: list[list[str]] = [[] for _ in document.tokens]
    at = 0
    for word in words:
        while at < len(found) and document.tokens[at].stop <= word.start:
            at += 1
        if at == len(found) or word.start < document.tokens[at].start or word.stop > document.tokens[at].stop:
            return None
        found[at].append(word.word)
    return found
