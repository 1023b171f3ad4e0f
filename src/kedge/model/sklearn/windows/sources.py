"""Where a scikit-learn pipeline's features come from: vectorisers, unions of them, and steps behind them.

Each source knows its vectorisers (`vectorisers`), what they make of a masked document as algebra (`part`),
and as scikit-learn's own steps make it (`matrix`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from kedge.model.sklearn.windows.grams import Grams, grams_of
from kedge.model.sklearn.windows.norming import normed
from kedge.model.sklearn.windows.parts import Part, counted, elementwise, joined, scaled
from kedge.model.sklearn.windows.steps import is_none, passed
from kedge.typing import Counts, Floats

__all__ = ["Source", "Table", "behind", "source_of"]

Table = tuple[Any, Floats, Counts]
"""A vectoriser's (m, c) counts per window, (c,) counts whatever is kept, and (c,) columns."""


class Source(Protocol):
    """Some columns of features of a text."""

    def vectorisers(self) -> list[Grams]:
        """All vectorisers, in order."""
        ...

    def part(self, tables: Iterator[Table]) -> Part | None:
        """The columns as functions of a document's windows; None where a step is not known."""
        ...

    def matrix(self, windows: Floats, tables: Iterator[Table]) -> Any:
        """The columns of rows of windows, by the pipeline's own steps."""
        ...


@dataclass(frozen=True)
class Vectoriser:
    """A vectoriser of texts."""

    grams: Grams

    def vectorisers(self) -> list[Grams]:
        """Itself."""
        return [self.grams]

    def part(self, tables: Iterator[Table]) -> Part | None:
        """Counts, then what the vectoriser itself does with them."""
        vectorizer = self.grams.vectorizer
        table, base, columns = next(tables)
        single = bool(np.dtype(vectorizer.dtype) == np.float32)
        width, signed = self.grams.width, self.grams.cancels
        part: Part | None = counted(table, base, columns, width, single=single, signed=signed)
        if vectorizer.binary and part is not None:
            part = elementwise(part, lambda counts: np.minimum(counts, 1.0))
            part = part and replace(part, whole=True)
        if self.grams.hashed:
            return part if part is None or vectorizer.norm is None else normed(part, vectorizer.norm)
        transformer = getattr(vectorizer, "_tfidf", None)
        return part if part is None or transformer is None else passed(transformer, part)

    def matrix(self, windows: Floats, tables: Iterator[Table]) -> Any:
        """What ``transform`` would give, without text."""
        from scipy.sparse import csr_matrix
        from sklearn.preprocessing import normalize

        vectorizer = self.grams.vectorizer
        table, base, columns = next(tables)
        values = np.asarray(windows @ table) + base
        n, c = values.shape
        indices, indptr = np.tile(columns, n), c * np.arange(n + 1)
        features = csr_matrix((values.ravel(), indices, indptr), shape=(n, self.grams.width))
        features.eliminate_zeros()
        if vectorizer.binary:
            features.data.fill(1)
        features = features.astype(vectorizer.dtype)
        if self.grams.hashed:
            return features if vectorizer.norm is None else normalize(features, norm=vectorizer.norm)
        transformer = getattr(vectorizer, "_tfidf", None)
        return features if transformer is None else transformer.transform(features, copy=False)


@dataclass(frozen=True)
class Steps:
    """A source, and steps behind it."""

    first: Source
    steps: tuple[Any, ...]

    def vectorisers(self) -> list[Grams]:
        """Those of the source."""
        return self.first.vectorisers()

    def part(self, tables: Iterator[Table]) -> Part | None:
        """One step after the other."""
        part = self.first.part(tables)
        for step in self.steps:
            part = None if part is None else passed(step, part)
        return part

    def matrix(self, windows: Floats, tables: Iterator[Table]) -> Any:
        """One step after the other."""
        x = self.first.matrix(windows, tables)
        for step in self.steps:
            x = step.transform(x)
        return x


@dataclass(frozen=True)
class Union:
    """Sources side by side, each with its weight."""

    members: tuple[Source, ...]
    weights: tuple[float | None, ...]

    def vectorisers(self) -> list[Grams]:
        """Those of all."""
        return [grams for member in self.members for grams in member.vectorisers()]

    def part(self, tables: Iterator[Table]) -> Part | None:
        """Columns side by side."""
        found = []
        for member, weight in zip(self.members, self.weights, strict=True):
            part = member.part(tables)
            if part is None:
                return None
            found.append(part if weight is None else scaled(part, np.full(part.width, weight)))
        return joined(found)

    def matrix(self, windows: Floats, tables: Iterator[Table]) -> Any:
        """Columns side by side."""
        from scipy.sparse import hstack, issparse

        found = []
        for member, weight in zip(self.members, self.weights, strict=True):
            x = member.matrix(windows, tables)
            found.append(x if weight is None else x * weight)
        return hstack(found).tocsr() if any(map(issparse, found)) else np.hstack(found)


def source_of(steps: Sequence[Any]) -> Source | None:
    """The features that fitted steps make of texts; None if they do not begin with vectorisers.

    Exact types: a subclass may do anything.
    """
    from sklearn.pipeline import FeatureUnion, Pipeline

    steps = [step for step in steps if not is_none(step)]
    if not steps:
        return None
    first, *more = steps
    found: Source | None = None
    if type(first) is Pipeline:
        found = source_of([step for _, step in first.steps])
    elif type(first) is FeatureUnion:
        found = _union(first)
    else:
        grams = grams_of(first)
        found = None if grams is None else Vectoriser(grams)
    if found is None or not all(callable(getattr(step, "transform", None)) for step in more):
        return None
    return behind(found, more)


def behind(source: Source, steps: Sequence[Any]) -> Source:
    """A source with steps behind it."""
    return Steps(source, tuple(steps)) if steps else source


def _union(union: Any) -> Source | None:
    weights = union.transformer_weights or {}
    members, shares = [], []
    for name, transformer in union.transformer_list:
        if transformer == "drop":
            continue
        member = source_of([transformer])
        if member is None:
            return None
        members.append(member)
        shares.append(weights.get(name))
    return Union(tuple(members), tuple(shares)) if members else None
