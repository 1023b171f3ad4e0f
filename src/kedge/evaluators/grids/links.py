"""A sum over windows of neighbours, as passes along the text: (the last few coins) x (a grid of the sum).

Units are laid out as *links*, one per occurrence, in the order of the text. A window is counted at its last
link, so what a link brings depends on the few links before it: on a state of that many bits. A pass from the
front gives the law of (state, sum), one from the back the chance that the rest of the text brings what is
missing. Weights are whole numbers of cells here; what rounding leaves over is somebody else's care
(`kedge.evaluators.chain`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.model.scores.chain import ChainScore
from kedge.typing import Bools, Counts, Floats

__all__ = ["Grid", "Links"]

# Fair coins are added without the factor 1/2; this many of them cannot overflow a double.
_COINS = 512


@dataclass(frozen=True, eq=False)
class Links:
    """The links of a score.

    Parameters
    ----------
    score
        The sum over windows.
    unit
        (e,) the unit of each link; those of one unit stand together.
    windows
        The windows as links; of a unit of several occurrences each has its own.
    weights
        (m,) what each of them brings.
    """

    score: ChainScore
    unit: Counts
    windows: tuple[tuple[int, ...], ...]
    weights: Floats

    @classmethod
    def of(cls, score: ChainScore) -> "Links":
        """Lay out the units of a score."""
        sizes = score.sizes
        unit = np.repeat(np.arange(len(sizes)), sizes)
        first = np.cumsum(sizes) - sizes
        windows: list[tuple[int, ...]] = []
        weights: list[float] = []
        for window, weight in zip(score.windows, score.weights.tolist(), strict=True):
            if len(window) == 1:
                j = window[0]
                windows += [(int(first[j]) + k,) for k in range(int(sizes[j]))]
                weights += [weight] * int(sizes[j])
            else:
                windows.append(tuple(int(first[j]) for j in window))
                weights.append(weight)
        return cls(score, unit, tuple(windows), np.array(weights))

    def __len__(self) -> int:
        return len(self.unit)

    @cached_property
    def span(self) -> int:
        """How many links before a link matter to it."""
        return max((window[-1] - window[0] for window in self.windows), default=0)

    @cached_property
    def fresh(self) -> Bools:
        """(e + 1,) whether nothing before a link matters to it or to any later one."""
        tied = np.zeros(len(self) + 2, dtype=np.int64)
        for window in self.windows:
            tied[window[0] + 1] += 1
            tied[window[-1] + 1] -= 1
        found: Bools = np.cumsum(tied)[: len(self) + 1] == 0
        return found

    @cached_property
    def live(self) -> list[int]:
        """How many states there are before each link, and after the last."""
        states, now, most = [], 1, 1 << self.span
        for fresh in self.fresh.tolist():
            now = 1 if fresh else min(2 * now, most)
            states.append(now)
        return states

    @cached_property
    def _slots(self) -> tuple[Counts, Counts]:
        """Flat places (link, state) that a window adds to, and which window."""
        states = 1 << self.span
        places, which = [], []
        for m, window in enumerate(self.windows):
            last = window[-1]
            bits = sum(1 << (last - link - 1) for link in window[:-1])
            for state in range(states):
                if state & bits == bits:
                    places.append(last * states + state)
                    which.append(m)
        return np.array(places, dtype=np.int64), np.array(which, dtype=np.int64)

    def gains(self, weights: Floats) -> Floats:
        """(e, states) what each link brings if it is kept, for windows of these weights."""
        places, which = self._slots
        total: Floats = np.zeros(len(self) << self.span)
        np.add.at(total, places, weights[which])
        return total.reshape(len(self), 1 << self.span)

    def next_state(self, link: int, state: int, kept: int) -> int:
        """The state after a link."""
        return ((state << 1) | kept) & (self.live[link + 1] - 1)

    @cached_property
    def _padded(self) -> Counts:
        """(m, longest) the links of each window, filled up with a link that does not exist."""
        longest = max(map(len, self.windows), default=1)
        rows = [(*window, *[len(self)] * (longest - len(window))) for window in self.windows]
        return np.array(rows, dtype=np.int64).reshape(len(rows), longest)

    def chances(self, kept: Bools, keep: float) -> Floats:
        """(m,) the chance that all links of each window stay, given some that are kept."""
        free = np.append(~kept, False)[self._padded].sum(axis=1)
        chances: Floats = keep ** free.astype(np.float64)
        return chances

    def influence(self, weights: Floats, kept: Bools) -> tuple[Floats, Floats]:
        """(e,) the least and the most that a link changes the sum, over all states of the free others."""
        free = np.append(~kept, False)[self._padded]
        sure = free.sum(axis=1, keepdims=True) - free == 0  # no other link of the window is free
        each = np.broadcast_to(weights[:, None], sure.shape)
        low, high = np.zeros(len(self) + 1), np.zeros(len(self) + 1)
        np.add.at(low, self._padded, np.where(sure | (each < 0), each, 0.0))
        np.add.at(high, self._padded, np.where(sure | (each > 0), each, 0.0))
        return low[:-1], high[:-1]

    def extremes(self, kept: Bools) -> tuple[float, float]:
        """The lowest and the highest score of a sample that keeps these links."""
        gains = self.gains(self.weights)
        low, high = [self.score.bias], [self.score.bias]
        for e in range(len(self)):
            after = self.live[e + 1]
            lows, highs = [np.inf] * after, [-np.inf] * after
            for state in range(self.live[e]):
                for coin in (1,) if kept[e] else (0, 1):
                    brings = float(gains[e, state]) if coin else 0.0
                    to = self.next_state(e, state, coin)
                    lows[to] = min(lows[to], low[state] + brings)
                    highs[to] = max(highs[to], high[state] + brings)
            low, high = lows, highs
        return min(low), max(high)


@dataclass(frozen=True, eq=False)
class Grid:
    """Passes over whole numbers of cells.

    Parameters
    ----------
    links, cells
        The links, and (e, states) how many cells each brings if it is kept.
    keep
        The probability that a link outside the anchor stays.
    """

    links: Links
    cells: Counts
    keep: float

    @cached_property
    def origin(self) -> int:
        """The place of a sum of zero: no partial sum is lower than minus this."""
        return int(-np.minimum(self.cells.min(axis=1), 0).sum())

    @cached_property
    def length(self) -> int:
        """How many cells the sum may reach."""
        return self.origin + int(np.maximum(self.cells.max(axis=1), 0).sum()) + 1

    def law(self, kept: Bools) -> Floats:
        """(length,) the chance of each sum."""
        now = np.zeros((1, self.length))
        now[0, self.origin] = 1.0
        low, high, waiting = self.origin, self.origin + 1, 0
        for e in range(len(self.links)):
            now, low, high = self.step(e, now, low, high, sure=bool(kept[e]))
            waiting += self.keep == 0.5 and not kept[e]
            if waiting == _COINS:
                now *= 2.0**-_COINS
                waiting = 0
        total: Floats = now[0] * 2.0**-waiting
        return total

    def step(self, e: int, now: Floats, low: int, high: int, *, sure: bool) -> tuple[Floats, int, int]:
        """The law after a link, from that before it within [low, high); fair coins lack their factor."""
        gains = self.cells[e, : len(now)].tolist()
        after = np.zeros((self.links.live[e + 1], self.length))
        chance = 1.0 if self.keep == 0.5 else self.keep
        for state, gain in enumerate(gains):
            before = now[state, low:high]
            on = after[self.links.next_state(e, state, 1), low + gain : high + gain]
            if sure:
                on += before
                continue
            on += before if chance == 1.0 else chance * before
            off = after[self.links.next_state(e, state, 0), low:high]
            off += before if chance == 1.0 else (1.0 - chance) * before
        below, above = min(gains), max(gains)
        if not sure:
            below, above = min(below, 0), max(above, 0)
        return after, low + below, high + above

    def each_more(self, kept: Bools, need: int) -> Floats:
        """(e,) the chance of a sum of at least ``need`` cells when one more link is kept."""
        fair = self.keep == 0.5
        laws = []
        now = np.zeros((1, self.length))
        now[0, self.origin] = 1.0
        low, high = self.origin, self.origin + 1
        for e in range(len(self.links)):
            laws.append((now, low, high))
            now, low, high = self.step(e, now, low, high, sure=bool(kept[e]))
            if fair and not kept[e]:
                now *= 0.5
        later = np.zeros((1, self.length))
        later[0, min(max(need + self.origin, 0), self.length) :] = 1.0
        found = np.zeros(len(self.links))
        for e in range(len(self.links) - 1, -1, -1):
            now, low, high = laws[e]
            gains = self.cells[e, : len(now)].tolist()
            before = np.zeros((len(now), self.length))
            for state, gain in enumerate(gains):
                on = later[self.links.next_state(e, state, 1), low + gain : high + gain]
                found[e] += float(now[state, low:high] @ on)
                if kept[e]:
                    before[state, low:high] = on
                    continue
                off = later[self.links.next_state(e, state, 0), low:high]
                before[state, low:high] = self.keep * on + (1.0 - self.keep) * off
            later = before
        return found
