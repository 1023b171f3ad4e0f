"""A ColumnTransformer on one row of a table: vectorisers of the text column, beside what stays as it is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kedge.model.sklearn.windows.grams import Grams
from kedge.model.sklearn.windows.parts import Part, joined, scaled
from kedge.model.sklearn.windows.sources import Source, Table, source_of
from kedge.typing import Counts, Floats

__all__ = ["columns_of"]


@dataclass(frozen=True, eq=False)
class Block:
    """Columns that follow from the text: which, and the weight that they are multiplied by."""

    source: Source
    columns: Counts
    weight: float | None


@dataclass(frozen=True, eq=False)
class Columns:
    """What a fitted ColumnTransformer makes of a row whose text changes.

    Parameters
    ----------
    transformer
        The ColumnTransformer.
    blocks
        What follows from the text.
    fixed
        (width,) the row's other numbers; zero where the text decides.
    """

    transformer: Any
    blocks: tuple[Block, ...]
    fixed: Floats

    def vectorisers(self) -> list[Grams]:
        """Those of the text column."""
        return [grams for block in self.blocks for grams in block.source.vectorisers()]

    @property
    def _ours(self) -> Counts:
        """(c,) the columns of all blocks."""
        return np.concatenate([block.columns for block in self.blocks])

    def part(self, tables: Iterator[Table]) -> Part | None:
        """The blocks in their places; what does not depend on the text is the background."""
        found = []
        for block in self.blocks:
            part = block.source.part(tables)
            if part is None:
                return None
            own = np.full(part.width, block.weight)
            found.append(part if block.weight is None else scaled(part, own))
        whole, places, fixed = found[0] if len(found) == 1 else joined(found), self._ours, self.fixed
        if whole.background is not None:
            fixed = fixed.copy()
            fixed[places] = whole.background
        alone = whole.background is None and not fixed.any()
        return replace(
            whole,
            columns=places[whole.columns],
            width=len(fixed),
            background=None if alone else fixed,
            whole=whole.whole and alone,
        )

    def matrix(self, windows: Floats, tables: Iterator[Table]) -> Any:
        """What the transformer makes of the row with each text, sparse or dense as it does."""
        from scipy.sparse import csr_matrix, hstack

        found = []
        for block in self.blocks:
            x = csr_matrix(block.source.matrix(windows, tables))
            found.append(x if block.weight is None else x * block.weight)
        text = hstack(found).tocoo()
        at = np.flatnonzero(self.fixed)
        rows = np.concatenate([text.row, np.repeat(np.arange(len(windows)), len(at))])
        columns = np.concatenate([self._ours[text.col], np.tile(at, len(windows))])
        values = np.concatenate([text.data, np.tile(self.fixed[at], len(windows))])
        whole = csr_matrix((values, (rows, columns)), shape=(len(windows), len(self.fixed)))
        return whole if self.transformer.sparse_output_ else whole.toarray()


def columns_of(transformer: Any, row: Any, column: str) -> Source | None:
    """The features that a fitted ColumnTransformer makes of a row whose text changes; None if not known.

    The very type, whose vectorisers of the text column can be read and whose other blocks do not see it.
    """
    from sklearn.compose import ColumnTransformer

    if type(transformer) is not ColumnTransformer or hasattr(transformer, "_sklearn_output_config"):
        return None
    own = transformer.transform(row)
    own = np.asarray(own.todense() if hasattr(own, "todense") else own)
    if own.dtype.kind not in "fiub" or not np.isfinite(own.astype(np.float64)).all():
        return None
    fixed, blocks = own[0].astype(np.float64), []
    for name, step, columns in transformer.transformers_:
        place = transformer.output_indices_[name]
        if place.stop <= place.start:
            continue
        if isinstance(columns, str) and columns == column:
            source = source_of([step])
            if source is None:
                return None
            weight = (transformer.transformer_weights or {}).get(name)
            blocks.append(Block(source, np.arange(place.start, place.stop), weight))
            fixed[place] = 0.0
        elif _sees(columns, column, row):
            return None
    return Columns(transformer, tuple(blocks), fixed) if blocks else None


def _sees(columns: Any, column: str, row: Any) -> bool:
    """Whether a block reads the text column: by its name, or by its place in the table."""
    from pandas import Index

    names: Any = [columns] if isinstance(columns, (str, int)) else columns
    if isinstance(names, (list, tuple, Index, np.ndarray)) and all(isinstance(c, str) for c in names):
        return column in list(names)
    return column in np.atleast_1d(np.asarray(row.columns)[names]).tolist()
