"""The sum of some trees on one document, whose other features are all zero."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.typing import Bits, Bools, Counts, Floats

__all__ = ["Ensemble", "Features", "Node", "Question", "Touched"]

# Samples are answered in pieces that stay in the processor's cache.
_PIECE = 1 << 13


@dataclass(frozen=True)
class Features:
    """How counts of the document's words become features.

    Parameters
    ----------
    table
        (d, m + 1) x_j(c), rising with c from x_j(0) = 0.
    sizes
        (d,) occurrences of each word.
    normed
        Whether a row is divided by its l2 norm.
    """

    table: Floats
    sizes: Counts
    normed: bool

    @cached_property
    def least(self) -> Floats:
        """(d,) the smallest feature of a word that is there."""
        if not self.normed:
            return self.table[:, 1]
        squares = self.table[np.arange(len(self.sizes)), self.sizes] ** 2
        with np.errstate(invalid="ignore"):
            others = squares.sum() - squares
        least: Floats = self.table[:, 1] / np.sqrt(others + self.table[:, 1] ** 2)
        return least * (1 - 1e-9)

    def between(self, unit: int, low: float, high: float) -> bool:
        """Whether the feature of a word that is there can be above ``low`` and at most ``high``."""
        if self.normed:
            return max(low, float(self.least[unit])) < min(high, 1.0 + 1e-9)
        there = self.table[unit, 1 : self.sizes[unit] + 1]
        return bool(((there > low) & (there <= high)).any())

    def plain(self, unit: int, bound: float) -> float:
        """The largest feature up to a bound: questions that all counts answer alike become one."""
        if self.normed:
            return bound
        table = self.table[unit, : self.sizes[unit] + 1]
        return float(table[np.searchsorted(table, bound, side="right") - 1])

    def values(self, counts: Counts) -> Floats:
        """(d, n) the features of rows of counts."""
        x: Floats = np.take_along_axis(self.table, counts.T, axis=1)
        if self.normed:
            norm = np.sqrt((x * x).sum(axis=0))
            x /= np.where(norm > 0.0, norm, 1.0)
        return x


@dataclass(frozen=True, eq=False)
class Touched:
    """Features of which a document touches some columns, each a function of all counts, none negative.

    Parameters
    ----------
    of
        (n, d) counts to (n, c) the touched columns.
    """

    of: Callable[[Counts], Floats]
    normed = True
    """They may differ from the model's own by rounding."""

    def between(self, column: int, low: float, high: float) -> bool:
        """Whether a feature that is not zero may be above ``low`` and at most ``high``."""
        del column
        return max(low, 0.0) < high

    def plain(self, column: int, bound: float) -> float:
        """The bound itself: nothing is known of the values up to it."""
        del column
        return bound

    def values(self, counts: Counts) -> Floats:
        """(c, n) the features of rows of counts."""
        return np.ascontiguousarray(self.of(counts).T)


Question = tuple[int, float, bool]
"""A unit, the bound up to which its feature goes left, and where zero goes."""

Node = tuple["Node", "Node", int] | int
"""(left, right, number of the question), or the number of a leaf."""


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The sum of some trees on one document.

    Parameters
    ----------
    features
        How counts become features.
    questions
        What the trees ask.
    trees
        What is left of each tree that asks anything.
    values
        (leaves, k) for each of them.
    start
        (k,) the scores before the first tree.
    """

    features: Features | Touched
    questions: tuple[Question, ...]
    trees: tuple[tuple[Node, Floats], ...]
    start: Floats

    @cached_property
    def asked(self) -> list[int]:
        """The units that matter: those that a tree asks about; with a norm, all."""
        assert isinstance(self.features, Features)  # noqa: S101  (touched columns are no units)
        if self.features.normed:
            return list(range(len(self.features.sizes))) if self.questions else []
        return sorted({unit for unit, _, _ in self.questions})

    def restricted(self) -> "Ensemble":
        """The same on the units that matter alone, in their order."""
        assert isinstance(self.features, Features)  # noqa: S101  (touched columns are no units)
        place = {unit: number for number, unit in enumerate(self.asked)}
        features = Features(
            self.features.table[self.asked], self.features.sizes[self.asked], self.features.normed
        )
        questions = tuple((place[unit], bound, zero_left) for unit, bound, zero_left in self.questions)
        return Ensemble(features, questions, self.trees, self.start)

    def scores(self, counts: Counts) -> tuple[Floats, Bools]:
        """(n, k) the scores of rows of counts, added up in the order of the trees; and (n,) what is in doubt.

        A feature divided by a norm may differ from the model's own by rounding, which matters next to a
        bound.
        """
        parts = [self._piece(counts[i : i + _PIECE]) for i in range(0, len(counts), _PIECE)]
        if not parts:
            return np.zeros((0, len(self.start))), np.zeros(0, dtype=bool)
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def _piece(self, counts: Counts) -> tuple[Floats, Bools]:
        left, doubt = self._answers(counts)
        total = np.repeat(self.start[None], len(counts), axis=0)
        if self._votes is not None:
            return total + _count_votes(self.trees, self._votes, left, total.shape[1]), doubt
        for tree, values in self.trees:
            total += values[_leaves(tree, left)]
        return total, doubt

    def _answers(self, counts: Counts) -> tuple[Bools, Bools]:
        """(q, n) whether each row goes left at each question; and (n,) which rows rounding may decide."""
        doubt = np.zeros(len(counts), dtype=bool)
        left = np.empty((len(self.questions), len(counts)), dtype=bool)
        x = self.features.values(counts)
        # The model's own feature is this far off at most, and may fall on the other side of a bound.
        near = (x * (1.0 - 1e-12), x * (1.0 + 1e-12)) if self.features.normed else (x, x)
        for unit, first, last in self._runs:
            bounds = np.array([bound for _, bound, _ in self.questions[first:last]])[:, None]
            np.less_equal(near[0][unit], bounds, out=left[first:last])
            if self.features.normed:
                doubt |= (left[first:last] != (near[1][unit] <= bounds)).any(axis=0)
        for number, unit, zero_left in self._odd:
            gone = x[unit] == 0.0
            left[number] = (left[number] | gone) if zero_left else (left[number] & ~gone)
        return left, doubt

    @cached_property
    def _runs(self) -> list[tuple[int, int, int]]:
        """Questions about one unit follow each other: the unit, the first and the one after the last."""
        units = [unit for unit, _, _ in self.questions]
        starts = [i for i, unit in enumerate(units) if i == 0 or units[i - 1] != unit]
        return [(units[i], i, j) for i, j in zip(starts, [*starts, len(units)][1:], strict=True)]

    @cached_property
    def _odd(self) -> list[tuple[int, int, bool]]:
        """Questions that treat zero in another way than its size says: as missing."""
        return [(i, unit, z) for i, (unit, bound, z) in enumerate(self.questions) if z != (bound >= 0.0)]

    @cached_property
    def _votes(self) -> tuple[Counts, ...] | None:
        """For each tree the class that each leaf votes for, where every leaf has one vote; else None."""
        ballots = []
        for _, values in self.trees:
            if not ((values == 0.0) | (values == 1.0)).all() or not (values.sum(axis=1) == 1.0).all():
                return None
            ballots.append(values.argmax(axis=1))
        return tuple(ballots) if ballots and not self.start.any() else None


def _count_votes(
    trees: tuple[tuple[Node, Floats], ...], ballots: tuple[Counts, ...], left: Bools, classes: int
) -> Floats:
    """(n, k) how many trees vote for each class: sixty-four rows at a time, as bits of a word."""
    n = left.shape[1]
    bits = _packed(left)
    everyone = _packed(np.ones((1, n), dtype=bool))[0]
    masks = np.zeros((classes, len(trees), len(everyone)), dtype=np.uint64)
    for t, ((tree, _), ballot) in enumerate(zip(trees, ballots, strict=True)):
        party = ballot.tolist()
        stack: list[tuple[Node, Bits]] = [(tree, everyone)]
        while stack:
            node, here = stack.pop()
            if isinstance(node, int):
                masks[party[node], t] |= here
            else:
                goes_left = here & bits[node[2]]
                stack.append((node[0], goes_left))
                stack.append((node[1], here ^ goes_left))
    return np.stack(
        [np.unpackbits(m.view(np.uint8), axis=1, count=n).sum(axis=0, dtype=np.float64) for m in masks],
        axis=1,
    )


def _packed(rows: Bools) -> Bits:
    """Rows of truth values as words of sixty-four bits, the last one filled up."""
    packed = np.packbits(rows, axis=1)
    words = -(-packed.shape[1] // 8)
    room = np.zeros((len(rows), 8 * words), dtype=np.uint8)
    room[:, : packed.shape[1]] = packed
    return room.view(np.uint64)


def _leaves(node: Node, left: Bools) -> Counts | int:
    """(n,) the number of the leaf that each row reaches."""
    if isinstance(node, int):
        return node
    found: Counts = np.where(left[node[2]], _leaves(node[0], left), _leaves(node[1], left))
    return found
