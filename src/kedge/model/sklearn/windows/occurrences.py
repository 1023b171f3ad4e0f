"""A vectoriser's features of masked documents, without their text: occurrences of grams.

Keep or mask each position of a document, X in {0,1}^b. A gram is present where the positions it touches
are as it needs them, so that the count of any column is a polynomial in X that has no squares:

    count of column c = base_c + sum over windows of weight_{window, c} * prod_{i in window} X_i.

A word's own grams touch one position, n-grams of words a few neighbours. What a mask adds where it stands
(the characters of "unk", its hash) is part of the sum: 1 - X_i is in there, too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from kedge.text.units import Units
from kedge.typing import Counts, Floats

__all__ = ["Occurrences", "Row", "Windows", "in_units"]

Window = tuple[int, ...]
Row = tuple[tuple[int, ...], tuple[float, ...]]


@dataclass(eq=False)
class Occurrences:
    """The grams of one vectoriser in one document, as they are found.

    ``entries`` has (window, column) to weight; ``base`` column to what is there whatever is kept. Where no
    gram touches two positions, ``alone`` has each position's columns and weights instead.
    """

    entries: dict[tuple[Window, int], float] = field(default_factory=dict)
    base: dict[int, float] = field(default_factory=dict)
    alone: list[Row] | None = None

    def rows(self, positions: int) -> list[Row]:
        """Columns and weights of the windows of one position."""
        if self.alone is not None:
            return self.alone
        found: list[tuple[list[int], list[float]]] = [([], []) for _ in range(positions)]
        for (window, column), weight in self.entries.items():
            if len(window) == 1 and weight != 0.0:
                found[window[0]][0].append(column)
                found[window[0]][1].append(weight)
        return [(tuple(columns), tuple(weights)) for columns, weights in found]

    def add(self, kept: Window, masked: Window, column: int, weight: float) -> None:
        """A gram that is there iff some positions are kept and some others masked.

        prod_{kept} X_i prod_{masked} (1 - X_i), multiplied out.
        """
        for size in range(len(masked) + 1):
            for more in combinations(masked, size):
                window = tuple(sorted((*kept, *more)))
                share = -weight if size % 2 else weight
                if window:
                    key = (window, column)
                    self.entries[key] = self.entries.get(key, 0.0) + share
                else:
                    self.base[column] = self.base.get(column, 0.0) + share


@dataclass(frozen=True, eq=False)
class Windows:
    """Rows of counts of units as rows of windows: one unit's count, or a product of several.

    ``single`` are the units of the windows of one unit, in order; ``longer`` the others, by length.
    """

    single: Counts
    longer: tuple[Counts, ...]
    listed: tuple[Window, ...]

    @classmethod
    def of(cls, windows: Iterable[Window]) -> "Windows":
        """Windows in the order of their lengths."""
        ordered = sorted(windows, key=lambda w: (len(w), w))
        lengths = sorted({len(w) for w in ordered} - {1})
        longer = tuple(
            np.array([w for w in ordered if len(w) == length], dtype=np.int64) for length in lengths
        )
        single = np.array([w[0] for w in ordered if len(w) == 1], dtype=np.int64)
        return cls(single, longer, tuple(ordered))

    def __len__(self) -> int:
        return len(self.listed)

    def rows(self, counts: Counts) -> Floats:
        """(n, m) what each window brings in each row."""
        values = counts.astype(np.float64)
        parts = [values[:, self.single]]
        for units in self.longer:
            present = values[:, units[:, 0]]
            for k in range(1, units.shape[1]):
                present = present * values[:, units[:, k]]
            parts.append(present)
        return np.hstack(parts) if len(parts) > 1 else parts[0]


def in_units(
    found: Sequence[Occurrences], words: Sequence[str]
) -> tuple[Units, Windows, list[tuple[Any, Floats, Counts]]]:
    """Occurrences of several vectorisers in the units that they all share.

    Positions that no gram ties to another and that have the same word and the same grams cannot be
    told apart; positions without any gram belong to no unit. Gives the units, the windows over them,
    and for each vectoriser its (m, c) table, its (c,) base, and the (c,) columns.
    """
    longer = [
        {key: weight for key, weight in one.entries.items() if weight != 0.0 and len(key[0]) > 1}
        for one in found
    ]
    tied = {position for own in longer for window, _ in own for position in window}
    rows = [one.rows(len(words)) for one in found]
    groups: dict[Any, list[int]] = {}
    for position, word in enumerate(words):
        own = tuple(each[position] for each in rows)
        if position in tied:
            groups[position] = [position]
        elif any(columns for columns, _ in own):
            groups.setdefault((word, own), []).append(position)
    units = Units(tuple(tuple(group) for group in groups.values()))
    unit_at = {position: j for j, group in enumerate(units.members) for position in group}
    firsts = [group[0] for group in units.members]
    alone = [j for j, k in enumerate(firsts) if any(each[k][0] for each in rows)]
    cells = [
        {(tuple(unit_at[k] for k in window), column): weight for (window, column), weight in own.items()}
        for own in longer
    ]
    windows = Windows.of({*((j,) for j in alone), *(window for own in cells for window, _ in own)})
    at = {window: m for m, window in enumerate(windows.listed)}
    return (
        units,
        windows,
        [
            _table([each[firsts[j]] for j in windows.single.tolist()], own, one.base, at)
            for each, own, one in zip(rows, cells, found, strict=True)
        ],
    )


def _table(
    rows: Sequence[Row],
    cells: dict[tuple[Window, int], float],
    base: dict[int, float],
    at: dict[Window, int],
) -> tuple[Any, Floats, Counts]:
    """Windows of one unit come first, in the order of their rows; then the cells of the longer ones."""
    from scipy.sparse import csr_array

    places = np.repeat(np.arange(len(rows)), [len(columns) for columns, _ in rows]).tolist()
    touched = [column for columns, _ in rows for column in columns]
    data = [weight for _, weights in rows for weight in weights]
    if cells:
        places += [at[window] for window, _ in cells]
        touched += [column for _, column in cells]
        data += cells.values()
    columns = np.unique(np.array([*touched, *base], dtype=np.int64))
    cols = np.searchsorted(columns, np.array(touched, dtype=np.int64))
    shape = (len(at), len(columns))
    table = csr_array((np.array(data), (np.array(places, dtype=np.int64), cols)), shape=shape)
    fixed = np.zeros(len(columns))
    for column, value in base.items():
        fixed[np.searchsorted(columns, column)] = value
    return table, fixed, columns
