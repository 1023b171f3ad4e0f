"""The judge of explanations: every masked text of a document is asked about, and counted in whole numbers."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, comb, nextafter, prod
from typing import Any

import numpy as np

import kedge
from kedge.perturb import Masking
from kedge.text.document import Document

MASKS = {"unk": "UNK", "removal": ""}
# Whose exact answers are the most precise of their length, too, where the precision is a number and no mere
# interval; and what is a tie then: sums of doubles are rounded.
MOST_PRECISE = ("ranked", "tree", "lazy", "exhaustive")
NUMBER, TIE = 1e-9, 1e-12


class Judge:
    """The precision of every anchor of a document, as whole numbers over a common denominator.

    Parameters
    ----------
    predict
        What answers for the model.
    e
        Any explanation of the document.
    keep
        The chance of a word to stay.
    groups
        Positions that the model cannot tell apart; without them every position stands for itself.
    read
        Positions that the model reads, all of them if it is asked: anchors are made of these.
    """

    def __init__(
        self,
        predict: Callable[[list[str]], Any],
        e: kedge.Explanation,
        keep: float = 0.5,
        groups: Sequence[Sequence[int]] | None = None,
        read: Sequence[int] | None = None,
    ) -> None:
        tokens = [kedge.Token(e.text[a:b], a, b) for a, b in e.tokens]
        self.groups = groups or [[k] for k in range(len(tokens))]
        self._group = {k: j for j, group in enumerate(self.groups) for k in group}
        shape = tuple(len(group) + 1 for group in self.groups)
        counts = np.indices(shape).reshape(len(shape), -1)
        kept = np.zeros((counts.shape[1], len(tokens)), dtype=bool)
        for group, number in zip(self.groups, counts, strict=True):
            for rank, position in enumerate(group):
                kept[:, position] = rank < number
        write = Masking(mask=MASKS[e.perturbation]).writer(Document(e.text, tokens))
        self.counts, self.sizes = counts, counts.sum(axis=0)
        self.held = np.array([answer == e.label for answer in predict(write(kept))])
        self._shape = shape
        self.table, self.scale = _precisions(self.held.reshape(shape), Fraction(keep))
        self.unread = [j for j, group in enumerate(self.groups) if read is not None and group[0] not in read]
        self.anchors = ~counts[self.unread].any(axis=0)

    @cached_property
    def changed_by_unread(self) -> bool:
        """Whether a word that is not read changes an answer after all."""
        held = self.held.reshape(self._shape)
        return any((held != held.take([0], axis=j)).any() for j in self.unread)

    def place(self, positions: Any) -> int:
        """Where an anchor, or a masked text, stands in the table."""
        number = [0] * len(self._shape)
        for k in positions:
            number[self._group[k]] += 1
        return int(np.ravel_multi_index(number, self._shape))

    def precision(self, positions: tuple[int, ...]) -> Fraction:
        """The precision of an anchor."""
        return Fraction(int(self.table[self.place(positions)]), self.scale)

    @cached_property
    def attained(self) -> list[float]:
        """The precisions that some anchor has."""
        return sorted({int(x) / self.scale for x in self.table})

    @cached_property
    def best(self) -> list[int]:
        """The largest precision of each length, times the denominator."""
        longest = int(self.sizes[self.anchors].max())
        return [int(max(self.table[self.anchors & (self.sizes == n)])) for n in range(longest + 1)]

    def bar(self, threshold: float) -> int:
        """The least number of the table that reaches a threshold."""
        return ceil(Fraction(threshold) * self.scale)

    def shortest(self, threshold: float, *, allow_empty: bool = False) -> int:
        """The length of the shortest anchor that reaches a threshold."""
        bar = self.bar(threshold)
        return next(n for n, top in enumerate(self.best) if top >= bar and (n or allow_empty))

    def coverage(self, e: kedge.Explanation, corpus: list[str]) -> float:
        """The largest coverage of an anchor that reaches the threshold, in bare words."""
        words = [e.text[slice(*e.tokens[group[0]])].lower() for group in self.groups]
        bags = [text.lower().split() for text in corpus]
        reach = (self.table >= self.bar(e.threshold)) & (self.sizes > 0) & self.anchors
        need = {w: self.counts[[j for j, v in enumerate(words) if v == w]][:, reach].sum(0) for w in words}
        have = sum(np.all([bag.count(w) >= n for w, n in need.items()], axis=0).astype(int) for bag in bags)
        return float(np.max(have, initial=0)) / len(bags)


def _precisions(held: Any, keep: Fraction) -> tuple[Any, int]:
    """For every anchor the chance that the label holds, times a denominator that makes it whole."""
    occurrences = sum(held.shape) - held.ndim
    scale, stay, go = keep.denominator, keep.numerator, keep.denominator - keep.numerator
    # Machine integers where nothing can overflow.
    table = held.astype(np.int64 if scale**occurrences < 1 << 62 else object)
    for axis, size in enumerate(held.shape):
        free = size - 1
        chance = [
            [
                scale**a * comb(free - a, c - a) * stay ** (c - a) * go ** (free - c) if c >= a else 0
                for c in range(size)
            ]
            for a in range(size)
        ]
        table = np.moveaxis(np.tensordot(np.array(chance, dtype=table.dtype), table, (1, axis)), 0, axis)
    return table.ravel(), prod([scale] * occurrences)


def broken(
    e: kedge.Explanation, judge: Judge, *, allow_empty: bool = False, examples: bool = True
) -> list[str]:
    """What an explanation says that is not so; what was sampled may be wrong with probability delta."""
    found, true = [], judge.precision(e.positions)
    if e.status == "exact" and e.sampled:
        found.append("exact, but sampled")
    if not e.sampled and not _is_inside(true, e.interval):
        found.append(f"precision {float(true)} outside {e.interval}")
    if e.status in {"exact", "certified"} and not e.sampled and true < Fraction(e.threshold):
        found.append(f"{e.status}, but {float(true)} < {e.threshold}")
    if e.status == "exact" and e.objective == "shortest":
        shortest = judge.shortest(e.threshold, allow_empty=allow_empty)
        best = Fraction(judge.best[shortest], judge.scale)
        if len(e.positions) != shortest:
            found.append(f"{len(e.positions)} words are exact, but {shortest} are enough")
        elif best - true > TIE and _is_most_precise(e):
            found.append(f"precision {float(true)} is exact, but {float(best)} is reached")
    if judge.changed_by_unread:
        found.append("a word that is not read changes the label")
    base = judge.precision(())
    if e.baseline is not None and not e.sampled and not _is_inside(base, e.baseline):
        found.append(f"baseline {float(base)} outside {e.baseline}")
    if examples and not all(_is_shown_right(example, judge) for example in e.examples):
        found.append("an example shows the wrong label")
    return found


def _is_shown_right(example: Any, judge: Judge) -> bool:
    everything = {k for group in judge.groups for k in group}
    return bool(judge.held[judge.place(everything - set(example.removed))] == example.holds)


def _is_most_precise(e: kedge.Explanation) -> bool:
    """Whether it is said that no anchor of the same length has a larger precision."""
    return e.method.startswith(MOST_PRECISE) and e.interval.width < NUMBER


def _is_inside(true: Fraction, interval: kedge.Interval) -> bool:
    """Whether an interval holds; the largest double below one stands for all that is not certain."""
    uncertain = interval.high == nextafter(1.0, 0.0) and true < 1
    return interval.low <= true and (true <= interval.high or uncertain)
