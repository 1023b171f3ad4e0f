"""Neighbour replacement, as Ribeiro et al. 2018 describe it: similar words of the same kind.

A removed word is replaced by another of its kind, drawn with probability proportional to their
similarity in an embedding. The vectors are the user's, or are learned from the user's texts.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.errors import OptionError
from kedge.perturb.lsa import word_vectors
from kedge.perturb.masking import coins
from kedge.perturb.perturbation import Writer, check_keep, named
from kedge.text.document import Document
from kedge.text.inputs import as_words
from kedge.typing import Bools, Counts, Floats
from kedge.utils.sentences import Option

__all__ = ["Neighbours", "coarse_kind"]

# Function words, which only other function words can replace.
_FUNCTION_WORDS = (
    "a an the this that these those and or but nor so if because as of to in on at by for with from into "
    "about over under after before up down out off again then than i you he she it we they me him her us "
    "them my your his its our their is am are was were be been being have has had do does did will would "
    "can could shall should may might must not no yes what which who whom whose when where why how all "
    "any both each few more most other some such only own same too very"
)
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
_ENDINGS = ("ing", "ed", "ly", "er", "est", "s")


def coarse_kind(word: str) -> Hashable:
    """A coarse kind of word, without a tagger: number, function word, or the ending it has.

    >>> [coarse_kind(w) for w in ("42", "the", "slowly", "food")]
    ['number', 'function', 'ly', 'word']
    """
    lower = word.casefold()
    if any(c.isdigit() for c in lower):
        return "number"
    if lower in _FUNCTION:
        return "function"
    return next((end for end in _ENDINGS if lower.endswith(end) and len(lower) > len(end) + 2), "word")


@dataclass(frozen=True)
class Neighbours:
    """Replace each position that is not kept by a similar word of the same kind.

    Words without a vector, or without a neighbour of their kind, cannot be replaced; they stay, and
    are never part of an anchor.

    Parameters
    ----------
    vectors
        A mapping from words to vectors, or an object with ``index_to_key`` and ``vectors`` like
        gensim's KeyedVectors. ``Neighbours.from_texts`` learns them.
    kind
        A word's kind, such as its part of speech; replacements have the same. By default a coarse one.
    keep
        The probability that a position outside the anchor stays.
    protect
        Words that are never replaced, whatever their case; they are never part of an anchor.
    top
        How many of the most similar words are drawn from.
    """

    vectors: Any
    kind: Callable[[str], Hashable] = coarse_kind
    keep: float = 0.5
    protect: tuple[str, ...] = ()
    top: int = 50

    name = "neighbours"
    removes = False
    repeatable = False
    independent = True

    def __post_init__(self) -> None:
        check_keep(self.keep)
        if self.top < 1:
            raise OptionError(Option("top"), f" must be at least 1, got {self.top}.")
        object.__setattr__(self, "protect", as_words(self.protect, Option("protect")))
        words, matrix = _table(self.vectors)
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        object.__setattr__(self, "_words", words)
        object.__setattr__(self, "_matrix", matrix / np.where(norms > 0, norms, 1))
        object.__setattr__(self, "_place", {word: i for i, word in enumerate(words)})
        kinds: dict[Hashable, list[int]] = {}
        for i, word in enumerate(words):
            kinds.setdefault(self.kind(word), []).append(i)
        object.__setattr__(self, "_kinds", {k: np.array(v) for k, v in kinds.items()})

    @classmethod
    def from_texts(cls, texts: Iterable[str], *, dimensions: int = 50, **options: Any) -> "Neighbours":
        """Neighbours by vectors learned from texts: latent semantic analysis of word contexts."""
        return cls(word_vectors(texts, dimensions=dimensions), **options)

    def similar(self, word: str) -> tuple[list[str], Floats]:
        """The words that may replace a word, and the probability of each."""
        words: Sequence[str] = getattr(self, "_words")  # noqa: B009  (set on construction)
        matrix: Floats = getattr(self, "_matrix")  # noqa: B009
        place: Mapping[str, int] = getattr(self, "_place")  # noqa: B009
        kinds: Mapping[Hashable, Counts] = getattr(self, "_kinds")  # noqa: B009
        at = place.get(word, place.get(word.casefold()))
        if at is None:
            return [], np.zeros(0)
        rivals = kinds[self.kind(words[at])]
        rivals = rivals[rivals != at]
        similarity = matrix[rivals] @ matrix[at]
        best = np.argsort(-similarity, kind="stable")[: self.top]
        best = best[similarity[best] > 0]
        chances = similarity[best]
        return [words[int(i)] for i in rivals[best]], chances / chances.sum() if len(best) else chances

    def protected(self, document: Document) -> Bools:
        """(b,) the positions of protected words, and of words that nothing can replace."""
        alone = [not self.similar(word)[0] for word in document.vocabulary]
        stuck: Bools = np.array(alone, dtype=bool)[document.word_of]
        return stuck | named(document, self.protect)

    def draw(self, sizes: Counts, kept: Counts, n: int, rng: np.random.Generator) -> Counts:
        """(n, d) counts of the units that ``n`` samples keep."""
        return coins(sizes, kept, n, self.keep, rng)

    def writer(self, document: Document, rng: np.random.Generator) -> Writer:
        """Give the texts with replaced words for (n, b) kept positions."""
        choices = {word: self.similar(word) for word in document.vocabulary}
        tokens, text = document.tokens, document.text
        ends = [0, *(token.stop for token in tokens)]
        gaps = [text[end : token.start] for end, token in zip(ends, tokens, strict=False)]

        def write(kept: Bools) -> list[str]:
            rows = np.empty(kept.shape, dtype=object)
            for k, token in enumerate(tokens):
                own = text[token.start : token.stop]
                rows[:, k] = gaps[k] + own
                words, chances = choices[token.word]
                gone = np.flatnonzero(~kept[:, k])
                if len(gone) and words:
                    drawn = rng.choice(len(words), size=len(gone), p=chances)
                    rows[gone, k] = [gaps[k] + _cased(words[int(i)], own) for i in drawn]
            return ["".join(row) + text[ends[-1] :] for row in rows.tolist()]

        return write


def _cased(word: str, like: str) -> str:
    """A replacement written as the word it replaces was."""
    if len(like) > 1 and like.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def _table(vectors: Any) -> tuple[list[str], Floats]:
    """Words and the matrix of their vectors, from the usual containers."""
    if hasattr(vectors, "index_to_key") and hasattr(vectors, "vectors"):
        words, rows = list(vectors.index_to_key), vectors.vectors
    elif isinstance(vectors, Mapping):
        words, rows = list(vectors), list(vectors.values())
    else:
        raise OptionError(
            Option("vectors"),
            " must be a mapping from words to vectors or like gensim's KeyedVectors, got "
            f"{type(vectors).__name__}.",
        )
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except ValueError:
        raise OptionError(Option("vectors"), " must all have the same length.") from None
    if matrix.ndim != 2 or len(matrix) < 2:
        raise OptionError(Option("vectors"), f" must hold at least two words, got {len(words)}.")
    return words, matrix
