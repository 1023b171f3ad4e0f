"""Features of masked documents as functions of windows, and what scikit-learn's steps make of them.

The columns that a document touches have the values

    core(windows) @ outer + offset,

where ``windows`` is (n, m), what each window of the document brings in each row (`occurrences`). Linear steps
change ``outer`` and ``offset`` only, once per document; a norm or a logarithm becomes part of the core. All
other columns hold the constant ``background``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kedge.typing import Counts, Floats

__all__ = [
    "Part",
    "counted",
    "cut",
    "elementwise",
    "joined",
    "projected",
    "scaled",
    "selected",
    "shifted",
]


@dataclass(frozen=True, eq=False)
class Part:
    """Some columns of features.

    Parameters
    ----------
    core
        (n, m) windows to (n, r) numbers; None: the windows themselves.
    outer, offset
        (r, c) and (c,): how the touched columns follow from the core.
    columns, width
        (c,) the touched columns, of how many.
    background
        (width,) the values of the other columns, None where they are zero.
    depends
        (r,) the window that each number of the core depends on, None where some depend on several.
    divided, lengths, roots
        Whether the core is (windows, 1) divided by a norm; the (r,) weights of that norm where it is
        a sum over them (l1); the norm of each window alone where it is the root of their squares (l2).
    whole
        Whether all values are whole numbers.
    signed
        Whether values may be negative.
    single
        Whether something is in single precision.
    operations
        A bound on how often a value was rounded on the way.
    """

    core: Callable[[Floats], Floats] | None
    outer: Any
    offset: Floats
    columns: Counts
    width: int
    background: Floats | None = None
    depends: Counts | None = None
    divided: bool = False
    lengths: Floats | None = None
    roots: Floats | None = None
    whole: bool = False
    signed: bool = False
    single: bool = False
    operations: int = 4

    def inner(self, windows: Floats) -> Floats:
        """(n, r) the core of rows of windows."""
        return windows if self.core is None else self.core(windows)

    def values(self, windows: Floats) -> Floats:
        """(n, c) the touched columns."""
        found: Floats = np.asarray(self.inner(windows) @ self.outer) + self.offset
        return found


def counted(table: Any, base: Floats, columns: Counts, width: int, *, single: bool, signed: bool) -> Part:
    """Counts of columns, straight from a document's windows."""
    every = np.arange(table.shape[0])
    return Part(None, table, base, columns, width, depends=every, whole=True, single=single, signed=signed)


def _times(matrix: Any, factors: Floats) -> Any:
    """A matrix with its columns multiplied."""
    if hasattr(matrix, "tocsr"):
        from scipy.sparse import diags_array

        return (matrix @ diags_array(factors)).tocsr()
    return matrix * factors


def scaled(part: Part, factors: Floats) -> Part:
    """Every column times its factor, of (width,)."""
    own = np.asarray(factors, dtype=np.float64)[part.columns]
    return replace(
        part,
        outer=_times(part.outer, own),
        offset=part.offset * own,
        background=None if part.background is None else part.background * factors,
        signed=part.signed or bool((own < 0).any()),
        whole=False,
        operations=part.operations + 2,
    )


def shifted(part: Part, shift: Floats) -> Part:
    """A constant added to every column."""
    background = shift.astype(np.float64) if part.background is None else part.background + shift
    background = background.copy()
    background[part.columns] = 0.0
    offset = part.offset + shift[part.columns]
    return replace(
        part,
        offset=offset,
        background=background,
        whole=False,
        signed=True,
        operations=part.operations + 2,
    )


def selected(part: Part, support: Counts) -> Part:
    """The columns of a sorted list, renumbered."""
    place = np.searchsorted(support, part.columns)
    place = np.minimum(place, max(len(support) - 1, 0))
    stays = support[place] == part.columns if len(support) else np.zeros(len(place), dtype=bool)
    at = np.flatnonzero(stays)
    return replace(
        part,
        outer=part.outer[:, at],
        offset=part.offset[at],
        columns=place[at].astype(np.int64),
        width=len(support),
        background=None if part.background is None else part.background[support],
    )


def projected(part: Part, components: Floats) -> Part:
    """X @ components.T: all new columns are touched."""
    own = components[:, part.columns].T.astype(np.float64)
    offset = part.offset @ own
    if part.background is not None:
        offset = offset + components @ part.background
    return replace(
        part,
        outer=np.asarray(part.outer @ own),
        offset=offset,
        columns=np.arange(len(components)),
        width=len(components),
        background=None,
        whole=False,
        signed=True,
        operations=part.operations + len(part.columns) + 4,
    )


def elementwise(part: Part, change: Callable[[Floats], Floats]) -> Part | None:
    """A function of each value by itself that leaves zero at zero; None where others are not zero."""
    if part.background is not None:
        return None
    from scipy.sparse import eye_array

    return replace(
        part,
        core=lambda windows: change(part.values(windows)),
        outer=eye_array(len(part.columns), format="csr"),
        offset=np.zeros(len(part.columns)),
        depends=_owners(part),
        divided=False,
        lengths=None,
        roots=None,
        whole=False,
        operations=part.operations + 8,
    )


def _owners(part: Part) -> Counts | None:
    """The window that each value depends on, if none depends on two."""
    if part.depends is None or len(part.depends) == 0:  # a text without a window that is known
        return None
    touched = part.outer.toarray() != 0 if hasattr(part.outer, "toarray") else part.outer != 0
    if (touched.sum(axis=0) > 1).any():
        return None
    owners: Counts = part.depends[touched.argmax(axis=0)]
    return owners


def cut(part: Part, threshold: float) -> Part | None:
    """1 above a threshold and 0 else."""
    if threshold < 0:
        return None
    return elementwise(part, lambda values: (values > threshold).astype(np.float64))


def joined(parts: Sequence[Part]) -> Part:
    """Columns side by side."""
    from scipy.sparse import block_diag, csr_array, hstack

    starts = np.concatenate([[0], np.cumsum([part.width for part in parts])])
    width = int(starts[-1])
    columns = np.concatenate([part.columns + start for part, start in zip(parts, starts, strict=False)])
    background = None
    if any(part.background is not None for part in parts):
        background = np.concatenate(
            [np.zeros(p.width) if p.background is None else p.background for p in parts]
        )
    linear = all(part.core is None for part in parts)
    outers = [csr_array(part.outer) for part in parts]
    depends = [part.depends for part in parts if part.depends is not None]
    every = depends[0] if linear else np.concatenate(depends) if depends else None

    def core(windows: Floats) -> Floats:
        return np.hstack([part.inner(windows) for part in parts])

    return Part(
        None if linear else core,
        hstack(outers, format="csr") if linear else block_diag(outers, format="csr"),
        np.concatenate([part.offset for part in parts]),
        columns.astype(np.int64),
        width,
        background,
        every if len(depends) == len(parts) else None,
        whole=all(part.whole for part in parts),
        signed=any(part.signed for part in parts),
        single=any(part.single for part in parts),
        operations=max(part.operations for part in parts),
    )
