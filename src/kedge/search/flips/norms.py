"""The fewest removed words for linear scores that are divided by their l2 norm, with an intercept.

With words kept, a lead is lost iff g = bias * norm + (sum over words) is not positive. For every l > 0

    norm <= l * norm^2 + 1 / (4 l),    and equal for l = 1 / (2 norm),

and for a given l the right-hand side is a sum over words, of which the best k removals are known. For
bias > 0 the least g over all removals is thus the least over l; between two values of l the sum grows and
1 / (4 l) falls, which bounds it. For bias < 0 every l gives a lower bound of g. Where the bounds rule out
every smaller number of removals, and one of the removals found does lose the label, it is the fewest.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kedge.model.scores.leads import Leads
from kedge.search.flips.cut import Cut
from kedge.search.flips.sums import Lost
from kedge.typing import Counts, Floats

__all__ = ["lose_normed_lead"]

# Values of l, from the norm of all words to that of the smallest; and numbers of removals that are tried
# beyond the first that the bounds allow.
_VALUES, _BEYOND = 240, 8
# Beyond so many sums, or so many bytes to remember, it is not tried: a text of one word over and over would
# take all the memory and time there is.
_SUMS, _BYTES = 1 << 29, 1 << 28
# What bounds leave to rounding, as a share of the largest sum.
_ROUNDING = 1e-9


def lose_normed_lead(leads: Leads, lost: Lost) -> Cut | None:
    """Removals after which some rival is ahead, the fewest where that is proven; None if none were found."""
    smallest = float(leads.squares[:, 1].min())
    if smallest <= 0 or _too_many(leads.sizes):
        return None
    values = np.geomspace(0.5 / leads.largest, 0.5 / np.sqrt(smallest), _VALUES)
    rivals = [_Removals.of(leads, rival, values) for rival in range(leads.rivals)]
    allowed = np.array([rival.allowed for rival in rivals])
    numbers = np.flatnonzero(allowed.any(axis=0))
    for k in numbers[: _BEYOND + 1].tolist():
        rows = np.vstack([rival.best(k) for rival, ok in zip(rivals, allowed[:, k], strict=True) if ok])
        found = np.flatnonzero(lost(leads.sizes - rows))
        if len(found):
            return Cut(rows[found[0]], proven=k == numbers[0])
    return None


def _too_many(sizes: Counts) -> bool:
    """Whether there are more removals than can be looked at."""
    cells, repeated = _VALUES * (int(sizes.sum()) + 1), sizes[sizes > 1]
    return cells * (1 + int((repeated + 1).sum())) > _SUMS or cells * (32 + 4 * len(repeated)) > _BYTES


@dataclass(frozen=True, eq=False)
class _Removals:
    """The best removals of every number, for one rival and every value of l.

    Words that occur once are sorted by what they take; of the others each number of occurrences is tried.

    Parameters
    ----------
    sizes
        (d,) occurrences of each word.
    single, order
        Words that occur once, and (l, s) the order in which they go.
    repeated, picks
        The other words, and for each (l, k) how many of its occurrences go.
    allowed
        (b + 1,) whether the bounds allow so many removals to be enough.
    """

    sizes: Counts
    single: Counts
    order: Counts
    repeated: Counts
    picks: list[NDArray[np.int32]]
    allowed: Counts

    @classmethod
    def of(cls, leads: Leads, rival: int, values: Floats) -> "_Removals":
        """Sort and try, then bound."""
        bias, parts, squares, sizes = float(leads.bias[rival]), leads.parts(rival), leads.squares, leads.sizes
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
        every = np.arange(len(sizes))
        whole = parts[every, sizes].sum() + bias * values * leads.largest**2
        sums_left = whole[:, None] - most
        if bias > 0:
            least = (sums_left[:-1] + bias / (4 * values[1:, None])).min(axis=0)
        else:
            least = (sums_left + bias / (4 * values[:, None])).max(axis=0)
        least[-1] = bias  # nothing is left, and nothing divided
        magnitude = float(np.abs(parts[every, sizes]).sum()) + abs(bias) * leads.largest
        doubt = _ROUNDING * magnitude + 2 * leads.error * leads.largest
        return cls(sizes, single, order, repeated, picks, least <= doubt)

    def best(self, k: int) -> Counts:
        """(n, d) the best k removals, by each value of l for which they differ."""
        rows = np.zeros((len(self.order), len(self.sizes)), dtype=np.int64)
        left, at = np.full(len(rows), k), np.arange(len(rows))
        for j, pick in zip(self.repeated[::-1].tolist(), self.picks[::-1], strict=True):
            rows[:, j] = pick[at, left]
            left -= rows[:, j]
        for i, many in enumerate(left.tolist()):
            rows[i, self.single[self.order[i, :many]]] = 1
        return np.unique(rows, axis=0)
