"""The fewest removed words for linear scores that are divided by their l2 norm, with an intercept.

With words kept, a lead is lost iff g = bias * norm + (sum over words) is not positive. For every l > 0

    norm <= l * norm^2 + 1 / (4 l),    and equal for l = 1 / (2 norm),

and for a given l the right-hand side is a sum over words, of which the best k removals are known. For
bias > 0 the least g over all removals is thus the least over l; between two values of l the sum grows and
1 / (4 l) falls, which bounds it. For bias < 0 every l gives a lower bound of g. Where the bounds rule out
every smaller number of removals, and one of the removals found does lose the label, it is the fewest.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kedge.model.scores.leads import Leads
from kedge.search.flips.cut import Cut
from kedge.search.flips.sums import Lost
from kedge.typing import Bools, Counts, Floats
from kedge.utils.numerics import pieces

__all__ = ["lose_normed_lead"]

# Values of l, from the norm of all words to that of the smallest; and numbers of removals that are tried
# beyond the first that the bounds allow.
_VALUES, _BEYOND = 240, 8
# Beyond so many sums it is not tried: a text of a few words over and over would take all the time there is.
_SUMS = 1 << 29
# Values of l are looked at together while they need no more than so many numbers.
_CELLS = 1 << 22
# What bounds leave to rounding, as a share of the largest sum.
_ROUNDING = 1e-9


def lose_normed_lead(leads: Leads, lost: Lost) -> Cut | None:
    """Removals after which some rival is ahead, the fewest where that is proven; None if none were found."""
    smallest = float(leads.squares[:, 1].min())
    if smallest <= 0 or _too_many(leads.sizes):
        return None
    values = np.geomspace(0.5 / leads.largest, 0.5 / np.sqrt(smallest), _VALUES)
    rivals = [_Rival.of(leads, rival, values) for rival in range(leads.rivals)]
    allowed = np.array([rival.allowed() for rival in rivals])
    numbers = np.flatnonzero(allowed.any(axis=0))
    for k in numbers[: _BEYOND + 1].tolist():
        rows = np.vstack([rival.best(k) for rival, ok in zip(rivals, allowed[:, k], strict=True) if ok])
        for piece in pieces(*rows.shape):
            found = np.flatnonzero(lost(leads.sizes - rows[piece]))
            if len(found):
                return Cut(rows[piece][found[0]].astype(np.int64), proven=k == numbers[0])
    return None


def _too_many(sizes: Counts) -> bool:
    """Whether there are more removals than can be looked at."""
    return _VALUES * (int(sizes.sum()) + 1) * (1 + int((sizes[sizes > 1] + 1).sum())) > _SUMS


@dataclass(frozen=True, eq=False)
class _Rival:
    """The lead over one rival, and the values of l at which it is looked at."""

    bias: float
    parts: Floats
    squares: Floats
    sizes: Counts
    values: Floats
    largest: float
    error: float

    @classmethod
    def of(cls, leads: Leads, rival: int, values: Floats) -> "_Rival":
        given = (float(leads.bias[rival]), leads.parts(rival), leads.squares, leads.sizes)
        return cls(*given, values, leads.largest, leads.error)

    @property
    def _several(self) -> Iterator[slice]:
        """Values of l that are looked at together."""
        repeated = int(np.count_nonzero(self.sizes > 1))
        return pieces(len(self.values), (int(self.sizes.sum()) + 1) * (4 + repeated), _CELLS)

    def allowed(self) -> Bools:
        """(b + 1,) whether the bounds allow so many removals to be enough."""
        bias, every = self.bias, np.arange(len(self.sizes))
        least = np.full(int(self.sizes.sum()) + 1, np.inf if bias > 0 else -np.inf)
        whole = self.parts[every, self.sizes].sum() + bias * self.values * self.largest**2
        for some in self._several:
            left = whole[some, None] - _Removals.of(self, self.values[some]).most
            if bias > 0:
                # Between this value and the next: the sum at this one, the rest at the next.
                after = self.values[some.start + 1 : some.stop + 1, None]
                bounds = left[: len(after)] + bias / (4 * after)
                least = np.minimum(least, bounds.min(axis=0, initial=np.inf))
            else:
                least = np.maximum(least, (left + bias / (4 * self.values[some, None])).max(axis=0))
        least[-1] = bias  # nothing is left, and nothing divided
        magnitude = float(np.abs(self.parts[every, self.sizes]).sum()) + abs(bias) * self.largest
        doubt = _ROUNDING * magnitude + 2 * self.error * self.largest
        return np.asarray(least <= doubt)

    def best(self, k: int) -> Counts:
        """(n, d) the best k removals, by each value of l for which they differ."""
        found = [np.unique(_Removals.of(self, self.values[some]).best(k), axis=0) for some in self._several]
        return np.unique(np.vstack(found), axis=0)


@dataclass(frozen=True, eq=False)
class _Removals:
    """The best removals of every number, for one rival and some values of l.

    Words that occur once are sorted by what they take; of the others each number of occurrences is tried.

    Parameters
    ----------
    sizes
        (d,) occurrences of each word.
    single, order
        Words that occur once, and (l, s) the order in which they go.
    repeated, picks
        The other words, and for each (l, k) how many of its occurrences go.
    most
        (l, b + 1) what the best of so many removals take.
    """

    sizes: Counts
    single: Counts
    order: Counts
    repeated: Counts
    picks: list[NDArray[np.int32]]
    most: Floats

    @classmethod
    def of(cls, rival: _Rival, values: Floats) -> "_Removals":
        """Sort and try."""
        bias, parts, squares, sizes = rival.bias, rival.parts, rival.squares, rival.sizes
        single, repeated = np.flatnonzero(sizes == 1), np.flatnonzero(sizes > 1)
        takes = parts[single, 1] + bias * values[:, None] * squares[single, 1]
        order = np.argsort(-takes, axis=1, kind="stable")
        sums = np.cumsum(np.take_along_axis(takes, order, axis=1), axis=1)
        most = np.hstack([np.zeros((len(values), 1)), sums])
        picks = []
        for j in repeated.tolist():
            size = int(sizes[j])
            width = most.shape[1]
            best = np.full((len(values), width + size), -np.inf)
            pick = np.zeros(best.shape, dtype=np.int32)
            for gone in range(size + 1):
                left = size - gone
                taken = (
                    parts[j, size] - parts[j, left] + bias * values * (squares[j, size] - squares[j, left])
                )
                here, sums = best[:, gone : gone + width], most + taken[:, None]
                better = sums > here
                here[better] = sums[better]
                pick[:, gone : gone + width][better] = gone
            picks.append(pick)
            most = best
        return cls(sizes, single, order, repeated, picks, most)

    def best(self, k: int) -> Counts:
        """(l, d) the best k removals, by each value of l."""
        small = np.min_scalar_type(int(self.sizes.max()))
        rows = np.zeros((len(self.order), len(self.sizes)), dtype=small)
        left, at = np.full(len(rows), k), np.arange(len(rows))
        for j, pick in zip(self.repeated[::-1].tolist(), self.picks[::-1], strict=True):
            gone = pick[at, left]
            rows[:, j] = gone
            left -= gone
        for i, many in enumerate(left.tolist()):
            rows[i, self.single[self.order[i, :many]]] = 1
        return rows
