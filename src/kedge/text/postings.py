"""The arrays of a corpus index: for each word, and each number of times, the documents that have it so often.

``terms[j] .. terms[j + 1]`` are the lists of word j: at least once, at least twice, ... ``starts[t] ..
starts[t + 1]`` is list t within ``rows``; ``dense[t]`` its place in ``bits``, or -1. ``letters`` and ``ends``
hold the words in sorted order, as UTF-8.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.utils.bitsets import bit_set

__all__ = ["ARRAYS", "Postings", "counted", "merged", "spelled"]

Postings = Mapping[str, NDArray[Any]]
Ints = NDArray[np.int64]

ARRAYS = ("terms", "starts", "rows", "dense", "bits", "letters", "ends")
DENSE = 64  # a list of at least 1/DENSE of the documents is also a bit set


def counted(
    vocabulary: Mapping[str, int], words: Sequence[NDArray[np.int32]], counts: Sequence[NDArray[np.int32]]
) -> Postings:
    """The lists of documents whose words, numbered by a vocabulary, were counted."""
    size = len(words)
    numbered = {spelled(word): number for word, number in vocabulary.items()}
    order = sorted(numbered)
    place = np.empty(len(order), dtype=np.int64)
    place[[numbered[w] for w in order]] = np.arange(len(order))
    word = place[np.concatenate([np.zeros(0, dtype=np.int32), *words])]
    times = np.concatenate([np.zeros(0, dtype=np.int32), *counts]).astype(np.int64)
    row = np.repeat(np.arange(size, dtype=np.int32), [len(w) for w in words])
    # A document with m occurrences is in the lists of "at least 1" to "at least m".
    within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    return _sorted(order, np.repeat(word, times), within, np.repeat(row, times), size)


def merged(parts: Sequence[Postings], sizes: Sequence[int]) -> Postings:
    """The lists of several corpora of so many documents as those of one, documents in the same order."""
    known = [_words(part) for part in parts]
    order = sorted(set().union(*known))
    place = {word: j for j, word in enumerate(order)}
    word, within, row = [], [], []
    before = 0
    for part, own, size in zip(parts, known, sizes, strict=True):
        terms, lengths = np.asarray(part["terms"]), np.diff(part["starts"])
        lists = np.diff(terms)  # how many lists each word has
        number = np.repeat(np.fromiter((place[w] for w in own), np.int64, len(own)), lists)
        at_least = np.arange(lists.sum()) - np.repeat(terms[:-1], lists)
        word.append(np.repeat(number, lengths))
        within.append(np.repeat(at_least, lengths))
        row.append(np.asarray(part["rows"]) + np.int32(before))
        before += size
    return _sorted(order, np.concatenate(word), np.concatenate(within), np.concatenate(row), before)


def spelled(word: str) -> bytes:
    """A word as an index has it; lone surrogates are letters like any other."""
    return word.encode("utf-8", "surrogatepass")


def _words(part: Postings) -> list[bytes]:
    letters, ends = part["letters"].tobytes(), part["ends"].tolist()
    return [letters[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def _sorted(order: Sequence[bytes], word: Ints, within: Ints, row: NDArray[np.int32], size: int) -> Postings:
    """Arrays of entries, each a word, one less than a number of times, and a document; these in order."""
    most = np.zeros(len(order), dtype=np.int64)
    np.maximum.at(most, word, within + 1)
    terms = np.concatenate([[0], np.cumsum(most)])
    term = terms[word] + within
    rows = row[np.argsort(term, kind="stable")]  # stable: documents stay in order within a list
    lengths = np.bincount(term, minlength=int(terms[-1]))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    dense = np.full(len(lengths), -1, dtype=np.int32)
    frequent = np.flatnonzero(lengths * DENSE >= max(size, 1))
    dense[frequent] = np.arange(len(frequent))
    sets = [bit_set(rows[starts[t] : starts[t + 1]], size) for t in frequent]
    return {
        "terms": terms,
        "starts": starts,
        "rows": rows,
        "dense": dense,
        "bits": np.array(sets, dtype="<u8").reshape(len(sets), (size + 63) // 64),
        "letters": np.frombuffer(b"".join(order), dtype=np.uint8),
        "ends": np.cumsum([len(w) for w in order], dtype=np.int64),
    }
