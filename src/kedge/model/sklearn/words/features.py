"""How a scikit-learn vectoriser turns a word's count into a number.

CountVectorizer and TfidfVectorizer (or CountVectorizer and TfidfTransformer) give each word a
feature that depends on nothing but its own count, up to the norm: x = tf(c) * idf, tf(c) being c,
1 + ln c (``sublinear_tf``) or 1 (``binary``). The fitted objects are looked at again at every call.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.text.units import Words
from kedge.typing import Counts, Floats

__all__ = ["Features", "columns_of", "count_features", "document_features", "features_of", "finds_words"]

# Types in which counts stay counts.
_COUNTING = [np.dtype(kind) for kind in (np.int32, np.int64, np.float32, np.float64)]
_FLOATS = _COUNTING[2:]


@dataclass(frozen=True)
class Features:
    """A fitted vectoriser, and the TF-IDF transformer behind or inside it, if any."""

    vectorizer: Any
    transformer: Any | None

    @property
    def norm(self) -> str | None:
        """The norm every document is divided by."""
        return None if self.transformer is None else self.transformer.norm

    @property
    def linear(self) -> bool:
        """Whether the number is proportional to the count."""
        return not bool(self.vectorizer.binary or self.sublinear)

    @property
    def sublinear(self) -> bool:
        """Whether counts become 1 + ln c."""
        return self.transformer is not None and bool(self.transformer.sublinear_tf)

    @property
    def whole(self) -> bool:
        """Whether the number is a whole number: no weight by document frequency."""
        return self.transformer is None or (self.linear and not self._weighs and self.norm is None)

    @property
    def single(self) -> bool:
        """Whether the numbers are in single precision somewhere."""
        return bool(np.dtype(self.vectorizer.dtype) == np.float32)

    @property
    def _weighs(self) -> bool:
        return self.transformer is not None and hasattr(self.transformer, "idf_")

    def columns(self, words: Sequence[str]) -> Counts:
        """(d,) the column of each word."""
        return columns_of(self.vectorizer, words)

    def scale(self, columns: Counts) -> Floats:
        """(d,) the weight of each word: its idf, or 1."""
        if not self._weighs:
            return np.ones(len(columns))
        assert self.transformer is not None  # noqa: S101  (it weighs)
        idf: Floats = self.transformer.idf_[columns]
        return idf

    def frequency(self, counts: Counts) -> Floats:
        """Term frequencies, elementwise: what is multiplied by the weight."""
        tf = counts.astype(np.float64)
        if self.vectorizer.binary:
            tf = np.minimum(tf, 1.0)
        if self.sublinear:
            seen = tf > 0
            tf[seen] = np.log(tf[seen]) + 1.0
        return tf

    def lengths(self, values: Floats) -> Floats | None:
        """(n,) the norm of each row of values (1 for a row of zeros), None without a norm."""
        if self.norm is None:
            return None
        total: Floats
        if self.norm == "l1":
            total = np.abs(values).sum(axis=1)
        elif self.norm == "l2":
            total = np.sqrt(np.einsum("ij,ij->i", values, values))
        else:
            total = np.abs(values).max(axis=1)
        total[total == 0.0] = 1.0
        return total


def columns_of(vectorizer: Any, words: Sequence[str]) -> Counts:
    """(d,) the column of each word; of the words of a document they are looked up once."""
    vocabulary = vectorizer.vocabulary_
    known = words.columns if isinstance(words, Words) else None
    if known is not None and known[0] is vocabulary:
        return known[1]
    columns = np.fromiter(map(vocabulary.__getitem__, words), np.int64, len(words))
    if isinstance(words, Words):
        words.columns = vocabulary, columns
    return columns


def features_of(steps: Sequence[Any]) -> Features | None:
    """The feature map of a pipeline's steps before the classifier; None if it has others."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

    steps = [step for step in steps if step is not None and step != "passthrough"]
    if not steps or np.dtype(getattr(steps[0], "dtype", np.float64)) not in _COUNTING:
        return None  # truth values and small integers do not count far enough
    # Exact types: a subclass may override how counts become numbers.
    if len(steps) == 1 and type(steps[0]) is TfidfVectorizer:
        return Features(steps[0], steps[0]._tfidf)  # noqa: SLF001  (where sklearn keeps its norm)
    if len(steps) == 1 and type(steps[0]) is CountVectorizer:
        return Features(steps[0], None)
    if len(steps) == 2 and type(steps[0]) is CountVectorizer and type(steps[1]) is TfidfTransformer:
        return Features(steps[0], steps[1])
    return None


def finds_words(vectorizer: Any) -> bool:
    """Whether the pipeline starts from words that the vectoriser itself finds in the text."""
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

    # Exact types: a subclass may override how text becomes words.
    return (
        type(vectorizer) in {CountVectorizer, TfidfVectorizer, HashingVectorizer}
        and vectorizer.analyzer == "word"
        and vectorizer.input == "content"
    )


def count_features(vectorizer: Any, columns: Counts, counts: Counts) -> Any:
    """The vectoriser's output for rows of word counts: what ``transform`` would give, without text."""
    n, d = counts.shape
    order = np.argsort(columns)
    indices, starts = np.tile(columns[order], n), np.arange(0, n * d + 1, d)
    features = _sparse(vectorizer, counts[:, order].ravel(), indices, starts)
    features.eliminate_zeros()
    return _weighed(vectorizer, features)


def document_features(vectorizer: Any, columns: Sequence[Counts], sizes: Sequence[Counts]) -> Any:
    """The same for documents, each with words of its own: where they are, and how often each occurs."""
    starts = np.zeros(len(columns) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in columns], out=starts[1:])
    return _weighed(vectorizer, _sparse(vectorizer, np.concatenate(sizes), np.concatenate(columns), starts))


def _sparse(vectorizer: Any, data: Counts, indices: Counts, starts: Counts) -> Any:
    from scipy.sparse import csr_matrix

    shape = (len(starts) - 1, len(vectorizer.vocabulary_))
    features = csr_matrix((data.astype(vectorizer.dtype), indices, starts), shape=shape)
    features.sum_duplicates()  # in order, and words that share a column together
    if vectorizer.binary:
        np.minimum(features.data, features.dtype.type(1), out=features.data)
    return features


def _weighed(vectorizer: Any, features: Any) -> Any:
    """What a TfidfVectorizer makes of counts: its transformer's own steps, to the last bit.

    The transformer's checks of its input take longer than all else on one document.
    """
    tfidf = getattr(vectorizer, "_tfidf", None)
    if tfidf is None:
        return features
    if features.dtype not in _FLOATS or tfidf.norm not in {None, "l2"}:
        return tfidf.transform(features, copy=False)
    if tfidf.sublinear_tf:
        np.log(features.data, features.data)
        features.data += 1.0
    if hasattr(tfidf, "idf_"):
        features.data *= tfidf.idf_[features.indices]
    if tfidf.norm == "l2":
        from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2

        inplace_csr_row_normalize_l2(features)
    return features
