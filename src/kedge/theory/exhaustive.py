r"""Exhaustive p-Anchors on arrays (the paper's Algorithm 1) and when it is stable (Prop. 2)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kedge.errors import OptionError
from kedge.theory._arrays import as_counts, check_share
from kedge.typing import Counts, Floats

__all__ = ["Stability", "count_anchors", "select", "stability"]

TIE = 1e-12
"""Precisions closer than this are equal: sums of products of halves carry rounding errors of
about 1e-16 each, and no two different precisions of a short document are this close by intent."""


def count_anchors(multiplicity: ArrayLike) -> Counts:
    r"""Every non-empty anchor of a document as a row of counts, :math:`\prod_j (m_j + 1) - 1` rows.

    Parameters
    ----------
    multiplicity
        (d,) how often each word occurs.

    Examples
    --------
    >>> count_anchors([2, 1]).tolist()
    [[0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    """
    counts = as_counts("multiplicity", multiplicity)
    grid = np.indices(tuple(counts + 1), dtype=np.int64)
    rows: Counts = grid.reshape(counts.size, -1).T[1:]
    return rows


def select(precision: ArrayLike, length: ArrayLike, *, eps: float = 0.05) -> Counts:
    r"""Exhaustive p-Anchors (Algorithm 1): the rows from which the anchor is drawn.

    :math:`\mathcal A_1 = \{A : p(A) \ge 1 - \varepsilon\}`, :math:`\mathcal A_2` the shortest of
    these, :math:`\mathcal A_3` those of the largest :math:`p`. Empty when no row reaches the
    threshold.

    Parameters
    ----------
    precision
        (k,) the evaluation function :math:`p` at each anchor.
    length
        (k,) the number of occurrences that each anchor keeps.
    eps
        The threshold is ``1 - eps``.

    Examples
    --------
    Two anchors of one word reach 0.95; the one that reaches further is selected.

    >>> select([0.94, 0.96, 0.97, 1.0], [1, 1, 1, 2]).tolist()
    [2]
    """
    check_share("eps", eps)
    p: Floats = np.asarray(precision, dtype=np.float64)
    size: Counts = np.asarray(length, dtype=np.int64)
    if p.ndim != 1 or p.shape != size.shape:
        raise OptionError(
            f"precision has shape {p.shape} and length {size.shape}; give one of each per anchor."
        )
    first = np.flatnonzero(p >= 1 - eps)
    if not first.size:
        return first
    second = first[size[first] == size[first].min()]
    return np.asarray(second[p[second] >= p[second].max() - TIE])


@dataclass(frozen=True)
class Stability:
    r"""What Prop. 2 says about two evaluation functions :math:`p` and :math:`q`.

    Parameters
    ----------
    applies
        Whether every condition of Prop. 2 holds. If so, ``select(q, length, eps=eps)`` is exactly
        the row ``anchor``.
    anchor
        The row that ``p`` selects, the first if several tie; -1 if none reaches the threshold.
    distance
        :math:`\delta = \sup |p - q|`.
    eps
        :math:`\varepsilon - \delta`, the level at which ``q`` is guaranteed to select ``anchor``.
    gap
        :math:`\varepsilon/2 - 2 \delta`, by how much at least ``q`` prefers ``anchor`` to every
        other anchor of its length when ``applies`` (the paper prints :math:`\varepsilon/4`).
    tolerance
        How large :math:`\delta` could be for this very ``p``: the equality holds for every ``q``
        with :math:`\delta` below :math:`\tfrac12 \min(p(A^*) - (1 - \varepsilon), p(A^*) - p(A'))`,
        :math:`A'` the runner-up of the same length. Weaker than the conditions of Prop. 2, by
        the same proof; it needs no :math:`p(A^*) \ge 1 - \varepsilon / 4`.
    """

    applies: bool
    anchor: int
    distance: float
    eps: float
    gap: float
    tolerance: float


def stability(p: ArrayLike, q: ArrayLike, length: ArrayLike, *, eps: float = 0.05) -> Stability:
    r"""Whether replacing :math:`p` by :math:`q` leaves the selected anchor unchanged (Prop. 2).

    If :math:`A^* = A^p(\varepsilon)` has :math:`p(A^*) \ge 1 - \varepsilon/4`, every other shortest
    anchor has :math:`p \le 1 - 3\varepsilon/4`, and
    :math:`\delta = \sup|p - q| < \varepsilon/4`, then :math:`A^q(\varepsilon - \delta) = A^*`.

    Parameters
    ----------
    p, q
        (k,) two evaluation functions at every anchor, for instance the exact and the empirical
        precision.
    length
        (k,) the number of occurrences that each anchor keeps.
    eps
        The threshold is ``1 - eps``.

    Examples
    --------
    An error of 0.01 cannot change the answer here, and one of almost 0.02 could not either.

    >>> told = stability([0.99, 0.95, 1.0], [0.98, 0.96, 1.0], [1, 1, 2], eps=0.05)
    >>> told.applies, told.anchor, round(told.distance, 9), round(told.tolerance, 9)
    (True, 0, 0.01, 0.02)
    >>> select([0.98, 0.96, 1.0], [1, 1, 2], eps=told.eps).tolist()
    [0]
    """
    exact: Floats = np.asarray(p, dtype=np.float64)
    other: Floats = np.asarray(q, dtype=np.float64)
    size: Counts = np.asarray(length, dtype=np.int64)
    chosen = select(exact, size, eps=eps)
    if other.shape != exact.shape:
        raise OptionError(f"p has shape {exact.shape} and q {other.shape}; give both at every anchor.")
    distance = float(np.abs(exact - other).max(initial=0.0))
    if not chosen.size:
        return Stability(False, -1, distance, eps - distance, eps / 2 - 2 * distance, 0.0)
    best = int(chosen[0])
    rivals = np.flatnonzero((size == size[best]) & (exact >= 1 - eps))
    rivals = rivals[rivals != best]
    runner_up = float(exact[rivals].max(initial=-np.inf))
    return Stability(
        applies=bool(exact[best] >= 1 - eps / 4 and runner_up <= 1 - 3 * eps / 4 and distance < eps / 4),
        anchor=best,
        distance=distance,
        eps=eps - distance,
        gap=eps / 2 - 2 * distance,
        tolerance=float(min(exact[best] - (1 - eps), exact[best] - runner_up) / 2),
    )
