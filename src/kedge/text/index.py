"""How much of a corpus an anchor covers.

The coverage of an anchor is the share of a corpus's documents that contain each of its words at
least as often as it does. The index makes that a lookup: for each word w and
each a = 1, 2, ... the sorted numbers of the documents that contain w at least a times. One list per
(w, a) holds exactly as many entries as the corpus has words, so multiplicities cost nothing extra,
and coverage is the length of an intersection of lists.

Lists of at least 1/64 of the corpus are also kept as bit sets (then at most twice the size of the
list): frequent words, which would cost the most, intersect 64 documents at a time.

An index is built once, saved as a folder of plain arrays, and memory-mapped when opened, so that
any number of processes share it. Indexes of the parts of a corpus merge into one.
"""

import json
import shutil
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.errors import OptionError, StorageError
from kedge.text.inputs import as_texts, as_words
from kedge.text.postings import ARRAYS, Postings, counted, merged, spelled
from kedge.typing import Bits
from kedge.utils.bitsets import bit_set, count_bits
from kedge.utils.sentences import Option

__all__ = ["CorpusIndex"]

Rows = NDArray[np.int32]

FORMAT = 2
# How much of the first text is kept, to recognise an index made with another way of splitting words.
_SAMPLE = 400


@dataclass(frozen=True)
class Part:
    """What is known of texts that were indexed together: how many, which, and how one of them was split."""

    documents: int
    digest: str
    text: str | None = None
    words: tuple[str, ...] = ()


class CorpusIndex:
    """Which documents of a corpus contain which words, and how often.

    Make one with ``CorpusIndex.build(texts, split)``, or ``explainer.index(texts)`` for the words that a
    model reads; ``save`` it, ``open`` it, ``merge`` several. Words are given as a list, or in a string.

    >>> index = CorpusIndex.build(["so so good", "good", "bad"], str.split)
    >>> index.coverage(["good"]), index.documents(["so", "so", "good"]).tolist()
    (0.6666666666666666, [0])
    """

    def __init__(self, arrays: Postings, parts: Sequence[Part], path: Path | None = None) -> None:
        self.arrays, self.parts, self.path = dict(arrays), tuple(parts), path
        self._size = sum(part.documents for part in parts)
        self._terms, self._starts = arrays["terms"], arrays["starts"]
        self._rows, self._dense, self._bits = arrays["rows"], arrays["dense"], arrays["bits"]

    def __len__(self) -> int:
        """The number of documents."""
        return self._size

    def __repr__(self) -> str:
        return f"CorpusIndex({self._size:,} documents, {len(self._terms) - 1:,} words)"

    @classmethod
    def build(cls, texts: Iterable[Any], split: Callable[[str], Sequence[str]]) -> "CorpusIndex":
        """Index texts by the words that ``split`` gives; what is not a string contains no words."""
        vocabulary: dict[str, int] = {}
        words: list[NDArray[np.int32]] = []
        counts: list[NDArray[np.int32]] = []
        state = _state()
        sample: tuple[str | None, tuple[str, ...]] = (None, ())
        for text in as_texts(texts):
            found = split(text) if isinstance(text, str) else ()
            if found and sample[0] is None:
                short = text[:_SAMPLE]
                sample = (short, tuple(split(short)))
            state.update(_mark(text))
            tally = Counter(found)
            here = [vocabulary.setdefault(word, len(vocabulary)) for word in tally]
            words.append(np.array(here, dtype=np.int32))
            counts.append(np.fromiter(tally.values(), dtype=np.int32, count=len(tally)))
        return cls(counted(vocabulary, words, counts), [Part(len(words), state.hexdigest(), *sample)])

    @classmethod
    def merge(cls, first: "CorpusIndex", *others: "CorpusIndex") -> "CorpusIndex":
        """One index of several corpora, in the words of one model; documents keep counting on.

        >>> shards = [CorpusIndex.build(texts, str.split) for texts in (["so good"], ["bad", "good"])]
        >>> CorpusIndex.merge(*shards).documents("good").tolist()
        [0, 2]
        """
        indexes = (first, *others)
        parts = [part for index in indexes for part in index.parts]
        return cls(merged([index.arrays for index in indexes], [len(index) for index in indexes]), parts)

    @classmethod
    def open(cls, path: str | Path) -> "CorpusIndex":
        """Open a saved index; its arrays stay on disk and are read as they are needed."""
        folder = Path(path)
        if not folder.is_dir():
            raise StorageError(f"There is no corpus index in {str(path)!r}; CorpusIndex.save writes one.")
        try:
            about = json.loads((folder / "index.json").read_text(encoding="utf-8"))
            if about.get("format") != FORMAT:
                raise StorageError(
                    f"{folder} is an index of format {about.get('format')}, not {FORMAT}; build it again."
                )
            # A plain view of the mapped file: numpy's memmap type is slow to index.
            arrays = {name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in ARRAYS}
            parts = [Part(**part | {"words": tuple(part["words"])}) for part in about["parts"]]
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise StorageError(f"{folder} cannot be read as a corpus index: {error}.") from error
        return cls(arrays, parts, folder.absolute())

    def save(self, path: str | Path) -> Path:
        """Write the index to a folder, which appears only when it is complete."""
        folder = Path(path)
        if folder.exists() and not (folder / "index.json").exists():
            raise StorageError(f"{folder} exists and is no corpus index; choose another name.")
        draft = folder.with_name(folder.name + ".new")
        shutil.rmtree(draft, ignore_errors=True)
        try:
            draft.mkdir(parents=True)
            for name in ARRAYS:
                np.save(draft / f"{name}.npy", self.arrays[name])
            about = {"format": FORMAT, "parts": [asdict(part) for part in self.parts]}
            (draft / "index.json").write_text(json.dumps(about), encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            draft.replace(folder)
        except OSError as error:
            raise StorageError(f"The index cannot be written to {folder}: {error.strerror}.") from error
        return folder

    def coverage(self, words: str | Iterable[str]) -> float:
        """Share of the documents that contain the words, each as often as it is given."""
        return self.count(words) / self._size if self._size else 0.0

    def count(self, words: str | Iterable[str]) -> int:
        """How many documents contain the words, each as often as it is given."""
        lists = self._lists(words)
        if lists is None:
            return 0
        if len(lists) == 0:
            return self._size
        if len(lists) == 1:
            return self._length(lists[0])
        if self._dense[lists[0]] >= 0:  # the shortest list has a bit set, so all have
            return count_bits(self._and(lists))
        return len(self._common(lists))

    def documents(self, words: str | Iterable[str]) -> Rows:
        """The numbers of the documents that contain the words, in order."""
        lists = self._lists(words)
        if lists is None:
            return np.zeros(0, dtype=np.int32)
        if not lists:
            return np.arange(self._size, dtype=np.int32)
        return self._common(lists)

    @property
    def fingerprint(self) -> str:
        """What identifies this index: a hash of its words and in how many documents each is."""
        state = blake2b(f"{self._size} ".encode(), digest_size=16)
        for name in ("letters", "ends", "terms", "starts"):
            state.update(np.ascontiguousarray(self.arrays[name]).tobytes())
        return state.hexdigest()

    def fits(self, split: Callable[[str], Sequence[str]]) -> bool:
        """Whether the index was built with the words that ``split`` gives."""
        return all(part.text is None or tuple(split(part.text)) == part.words for part in self.parts)

    def is_of(self, texts: Iterable[Any]) -> bool:
        """Whether these are the texts that were indexed, in this order; without splitting them."""
        rest = iter(as_texts(texts))
        for part in self.parts:
            state, found = _state(), 0
            for text in islice(rest, part.documents):
                state.update(_mark(text))
                found += 1
            if found != part.documents or state.hexdigest() != part.digest:
                return False
        return next(rest, self) is self

    def bits(self, word: str, times: int) -> Bits | None:
        """The documents that contain a word at least ``times`` times as a set of bits; None if none do."""
        lists = self._lists([word] * times)
        if lists is None:
            return None
        if self._dense[lists[0]] >= 0:
            return np.asarray(self._bits[self._dense[lists[0]]])
        return bit_set(self._list(lists[0]), self._size)

    def _lists(self, words: Iterable[str]) -> list[int] | None:
        """The lists to intersect, shortest first; None if one of them is empty."""
        lists = []
        for word, times in Counter(as_words(words)).items():
            j = self._place(word)
            if j is None or times > self._terms[j + 1] - self._terms[j]:
                return None
            lists.append(int(self._terms[j]) + times - 1)
        return lists if len(lists) < 2 else sorted(lists, key=self._length)

    def _length(self, t: int) -> int:
        return int(self._starts[t + 1]) - int(self._starts[t])

    def _list(self, t: int) -> Rows:
        rows: Rows = self._rows[self._starts[t] : self._starts[t + 1]]
        return rows

    def _and(self, lists: Sequence[int]) -> Bits:
        both: Bits = self._bits[self._dense[lists[0]]] & self._bits[self._dense[lists[1]]]
        for t in lists[2:]:
            both &= self._bits[self._dense[t]]
        return both

    def _common(self, lists: Sequence[int]) -> Rows:
        rows = np.asarray(self._list(lists[0]))
        for t in lists[1:]:
            if (at := self._dense[t]) >= 0:
                inside = self._bits[at][rows >> 6] >> (rows & 63).astype(np.uint64) & np.uint64(1)
                rows = rows[inside.astype(bool)]
            else:
                other = self._list(t)
                place = np.minimum(np.searchsorted(other, rows), len(other) - 1)
                rows = rows[other[place] == rows]
        return rows

    def _place(self, word: str) -> int | None:
        j = self._known.get(word)
        if j is None:
            j = self._known[word] = self._search(word)
        return None if j < 0 else j

    @cached_property
    def _known(self) -> dict[str, int]:
        return {}  # places of words already looked up; -1 for a word that is not there

    def _search(self, word: str) -> int:
        letters, ends = self.arrays["letters"], self.arrays["ends"]

        def there(j: int) -> bytes:
            return bytes(letters[ends[j - 1] if j else 0 : ends[j]])

        wanted = spelled(word)
        j = bisect_left(range(len(ends)), wanted, key=there)
        return j if j < len(ends) and there(j) == wanted else -1

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is not None:
            return CorpusIndex.open, (self.path,)  # the other process maps the same files
        return CorpusIndex, (self.arrays, self.parts)


def _state() -> Any:
    return blake2b(digest_size=16)


def _mark(text: Any) -> bytes:
    """What identifies a text, of the same length for all."""
    content = spelled(text) if isinstance(text, str) else b""
    return blake2b(content, digest_size=16).digest()


def as_index(given: Any, split: Callable[[str], Sequence[str]]) -> CorpusIndex:
    """An index from what the user gives: an index, the folder of a saved one, or texts."""
    if isinstance(given, (str, Path)):
        given = CorpusIndex.open(given)
    if isinstance(given, CorpusIndex):
        if not given.fits(split):
            raise OptionError(
                "The corpus index was built with other words than this model reads; build it with "
                "explainer.index(texts)."
            )
        return given
    if isinstance(given, Iterable):
        return CorpusIndex.build(given, split)
    raise OptionError(
        Option("corpus"), f" must be texts, a CorpusIndex or the folder of one, got {type(given).__name__}."
    )
