"""A bound on the precision of all anchors of r links, for a score that is a sum over windows.

As in `kedge.search.exact.adaptive`, a chooser who sees how earlier coins fell can only do better than an
anchor that is chosen before. Along a text its value is a recursion over (links left, state, sum),

    V[i][r](state, t) = max( E V[i + 1][r](...),  V[i + 1][r - 1](..., link i kept) ),

so the bound sees what neighbours say together. Links that may be kept come first, in runs of tied links,
those that bring most before others; all other runs are one law at the end. Every rounding is upwards.
"""

import math
from dataclasses import dataclass

import numpy as np

from kedge.evaluators.chain import deviation, rounded
from kedge.evaluators.grids.links import Grid, Links
from kedge.evaluators.grids.tails import leftover_reach
from kedge.typing import Bools, Floats

__all__ = ["Foresight", "candidates"]

# ln(1/eta) of the bound on what is left over of the other runs: eta = 8e-7 is added to V.
_LOG_ETA = 14.0
# Cells per standard deviation, and numbers that all tables together may have (128 MB).
_PER, _NUMBERS = 160, 1 << 24


@dataclass(frozen=True, eq=False)
class Foresight:
    """The tables V, and what is needed to go through the links one by one.

    Parameters
    ----------
    order
        The links that are decided, in this order; ``may`` says which of them may be kept.
    grid
        The passes over these links (numbered by their place in the order), rounded up.
    tables
        V before each link: (states, r + 1, cells).
    """

    order: tuple[int, ...]
    may: tuple[bool, ...]
    grid: Grid
    tables: list[Floats]

    @classmethod
    def of(cls, links: Links, may: Bools, keep: float, most: int) -> "Foresight | None":
        """The tables for anchors of up to ``most`` of the links that may be kept; None if too large."""
        nothing = np.zeros(len(links), dtype=bool)
        _, scale = deviation(links, nothing, keep)
        if not scale:
            return None
        step = scale / _PER
        starts = np.flatnonzero(links.fresh[:-1]).tolist()
        runs = [range(a, b) for a, b in zip(starts, [*starts[1:], len(links)], strict=True)]
        _, high = links.influence(links.weights, nothing)
        decided = [run for run in runs if may[run.start : run.stop].any()]
        decided.sort(key=lambda run: -float(np.where(may, high, 0.0)[run.start : run.stop].max()))
        order = [link for run in decided for link in run]
        own = _part(links, order)
        cells = np.ceil(own.gains(own.weights) / step).astype(np.int64)
        grid = Grid(own, cells, keep)
        if sum(own.live) * (most + 1) * grid.length > _NUMBERS:
            return None
        others = _part(links, [link for run in runs if run not in decided for link in run])
        end = _end(links, others, step, grid, keep)
        allowed = tuple(bool(may[link]) for link in order)
        tables = [np.broadcast_to(end, (1, most + 1, grid.length))]
        for e in range(len(order) - 1, -1, -1):
            tables.append(_before(grid, e, tables[-1], allowed=allowed[e]))
        return cls(tuple(order), allowed, grid, tables[::-1])

    def start(self) -> tuple[Floats, int, int]:
        """The law before the first link, and where it is not zero."""
        law = np.zeros((1, self.grid.length))
        law[0, self.grid.origin] = 1.0
        return law, self.grid.origin, self.grid.origin + 1

    def bound(self, law: tuple[Floats, int, int], e: int, left: int) -> float:
        """Most precision of the anchors that keep ``left`` more links from link ``e`` on."""
        now, low, high = law
        total = float(np.einsum("sc,sc->", now[:, low:high], self.tables[e][:, left, low:high]))
        return min(1.0, total * (1 + 1e-10))

    def extended(self, law: tuple[Floats, int, int], e: int, *, kept: bool) -> tuple[Floats, int, int]:
        """The law after one more link."""
        now, low, high = self.grid.step(e, *law, sure=kept)
        if not kept and self.grid.keep == 0.5:
            now *= 0.5
        return now, low, high


def _part(links: Links, order: list[int]) -> Links:
    """Some runs of links by themselves, in a new order."""
    place = {link: k for k, link in enumerate(order)}
    at = [m for m, window in enumerate(links.windows) if window[0] in place]
    windows = tuple(tuple(place[link] for link in links.windows[m]) for m in at)
    return Links(links.score, links.unit[order], windows, links.weights[at])


def _end(links: Links, others: Links, step: float, grid: Grid, keep: float) -> Floats:
    """(cells,) the chance that the other runs bring what is missing, at the most."""
    cut = rounded(others, step)
    rest = Grid(others, np.rint(others.gains(cut.cells)).astype(np.int64), keep)
    nothing = np.zeros(len(others), dtype=bool)
    mean, squares = cut.leftover(nothing, keep)
    eta = math.exp(-_LOG_ETA) if squares else 0.0
    tail = np.append(np.cumsum(rest.law(nothing)[::-1])[::-1], 0.0)
    most = links.score.bias + links.score.error + mean + leftover_reach(squares, _LOG_ETA)
    sums = np.arange(grid.length) - grid.origin
    need = np.floor(-most / step - sums - 1e-6).astype(np.int64)
    found: Floats = tail[np.clip(need + rest.origin, 0, len(tail) - 1)]
    # 1e-10: the running sum is rounded once per cell.
    return np.minimum(1.0, found + eta + 1e-10)


def _before(grid: Grid, e: int, later: Floats, *, allowed: bool) -> Floats:
    """One step of the recursion."""
    links, length = grid.links, grid.length
    before = np.zeros((links.live[e], *later.shape[1:]))
    for state in range(links.live[e]):
        gain = int(grid.cells[e, state])
        on = np.zeros(later.shape[1:])
        source = later[links.next_state(e, state, 1)]
        if gain >= 0:
            on[:, : length - gain] = source[:, gain:]
            on[:, length - gain :] = source[:, -1:]
        else:
            on[:, -gain:] = source[:, :gain]
        value = grid.keep * on + (1.0 - grid.keep) * later[links.next_state(e, state, 0)]
        if allowed:
            np.maximum(value[1:], on[:-1], out=value[1:])
        before[state] = value
    return before


def candidates(links: Links, most: int) -> tuple[Bools, list[list[int]]]:
    """(e,) the links that some best anchor of up to ``most`` links may keep, and who goes before whom.

    Keeping a link changes the score by something between ``low`` and ``high``, whatever its neighbours do.
    Where low_j >= high_i, an anchor that keeps i and not j does no worse with j in place of i: couple
    their coins as one. So some best anchor keeps all that go before what it keeps; and links that can
    only hurt are in no shortest anchor of two or more.
    """
    low, high = links.influence(links.weights, np.zeros(len(links), dtype=bool))
    index = np.arange(len(links))
    before = low[:, None] >= high[None, :]  # j before i
    same = before & before.T  # the same number for sure: the first goes first
    before &= ~same | (index[:, None] < index[None, :])
    np.fill_diagonal(before, False)
    may: Bools = (before.sum(axis=0) < most) & (high > 0)
    return may, [np.flatnonzero(before[:, i]).tolist() if may[i] else [] for i in range(len(links))]
