"""Features divided by the norm of their row."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kedge.model.sklearn.windows.parts import Part
from kedge.typing import Floats

__all__ = ["normed"]


def normed(part: Part, norm: str) -> Part | None:
    """Rows divided by their norm, rows of zeros as they are; None where other columns count."""
    if part.background is not None:
        return None
    rows, columns = part.outer.shape
    lengths = _lengths(part, norm)

    def core(windows: Floats) -> Floats:
        inner = part.inner(windows)
        inner = np.hstack([inner, np.ones((len(inner), 1))])
        found: Floats = inner / lengths(inner)[:, None]
        return found

    return replace(
        part,
        core=core,
        outer=_with_row(part.outer, part.offset),
        offset=np.zeros(columns),
        depends=None,
        divided=part.core is None,
        lengths=_sums_of_rows(part) if norm == "l1" and part.core is None else None,
        roots=_roots(part) if norm == "l2" and part.core is None else None,
        whole=False,
        operations=part.operations + rows + columns + 8,
    )


def _sums_of_rows(part: Part) -> Floats | None:
    """(r + 1,) the l1 norm as a sum over the core and a one, where no value is negative."""
    whole = _with_row(part.outer, part.offset)
    return np.asarray(whole.sum(axis=1)).ravel() if not part.signed else None


def _roots(part: Part) -> Floats | None:
    """(r,) the l2 norm of each row alone, where no column is touched by two of them nor by a constant."""
    if not hasattr(part.outer, "tocsr") or part.offset.any():
        return None
    entries = part.outer.tocsr()
    entries.eliminate_zeros()
    if len(np.unique(entries.indices)) < entries.nnz:
        return None
    alone: Floats = np.sqrt(np.asarray(entries.multiply(entries).sum(axis=1)).ravel())
    return alone


def _with_row(matrix: Any, row: Floats) -> Any:
    if hasattr(matrix, "tocsr"):
        from scipy.sparse import csr_array, vstack

        return vstack([matrix, csr_array(row[None])], format="csr")
    return np.vstack([matrix, row])


def _lengths(part: Part, norm: str) -> Callable[[Floats], Floats]:
    """(n, r + 1) the core and a one to (n,) norms, 1 in place of 0."""
    whole = _with_row(part.outer, part.offset)
    rows, columns = whole.shape
    entries = whole.data if hasattr(whole, "data") and hasattr(whole, "tocsr") else whole
    positive = not part.signed and bool((entries >= 0).all())
    gram: Floats | None = None
    if norm == "l2" and positive and columns > 2 * rows:
        product = whole @ whole.T
        gram = product.toarray() if hasattr(product, "toarray") else product

    def lengths(inner: Floats) -> Floats:
        total: Floats
        if gram is not None:
            total = np.sqrt(np.einsum("ij,ij->i", inner @ gram, inner))
        elif norm == "l1" and positive:
            total = np.asarray(inner @ np.asarray(whole.sum(axis=1)).ravel())
        else:
            values = np.asarray(inner @ whole)
            if norm == "l2":
                total = np.sqrt(np.einsum("ij,ij->i", values, values))
            else:
                sizes = np.abs(values)
                total = sizes.sum(axis=1) if norm == "l1" else sizes.max(axis=1, initial=0.0)
        total[total == 0.0] = 1.0
        return total

    return lengths
