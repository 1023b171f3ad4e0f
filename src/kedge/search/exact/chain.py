"""The exact search for scores that are sums over windows of neighbours: n-grams of words.

A greedy anchor grows by the word that helps most, found for all words at once by a pass from the front and
one from the back. It bounds the length; every shorter length is then ruled out, or found, by branch and
bound with bounds that see what neighbours say together (`kedge.search.exact.foresight`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kedge.evaluators.chain import Chained, rounded
from kedge.evaluators.enumeration import table_size
from kedge.evaluators.grids.links import Grid
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.search.exact.foresight import Foresight, candidates
from kedge.search.pruning import prune
from kedge.search.strategy import Candidate, Found, Goal
from kedge.typing import Counts, Kept, Status

__all__ = ["Chain"]

# Up to this many samples a table of all of them is quicker.
_FEW = 1 << 11
# Branches looked at before the proof is given up: about half a second.
_NODES = 1 << 12
# Cells per standard deviation of the passes that look at every word, and numbers they may hold (64 MB).
_PER, _NUMBERS = 96, 1 << 23
# Few words have few sums, which only a finer grid tells apart.
_SHORT = 40
# Words whose precision comes this close to the best one's, as the passes see it, are looked at closely:
# in short texts, and in long ones, where sums are many and the passes see them well.
_NEAR, _MANY = (4e-3, 5e-4), (12, 3)

_UNPROVEN = "The search stopped before it could prove that no shorter or better anchor exists."


@dataclass(frozen=True)
class Chain:
    """Exact for linear models of n-grams of words."""

    name: ClassVar = "chain"
    ignores: ClassVar = frozenset({"ties"})

    def obstacle(self, reading: Reading) -> str | None:
        """The score must be a sum over windows of a few neighbours."""
        if reading.chain is not None:
            return None
        return "needs a model whose score is a sum over n-grams of a few words, without norm"

    def suits(self, reading: Reading) -> bool:
        """A small table of all samples is quicker than passes."""
        return table_size(reading) > _FEW

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Grow an anchor, then rule out all that are shorter."""
        del rng  # ties go to the larger precision, then to the lowest units
        precision = Chained(reading)
        baseline = precision.refine((), goal.threshold)
        if goal.allow_empty and baseline.low >= goal.threshold:
            return Found((), baseline, "exact", precision, baseline=baseline)
        kept, trace = _grown(precision, reading, goal.threshold)
        if precision.refine(kept, goal.threshold).low < goal.threshold:
            return _found(kept, precision, goal, baseline, trace, _UNPROVEN)
        # Whether nothing at all would do is open: then no length is proven.
        doubt = _UNPROVEN if goal.allow_empty and baseline.high >= goal.threshold else ""
        if len(kept) > 1:
            better, proven = _shorter(precision, kept, goal.threshold)
            if better is None and not proven:
                better = prune(kept, lambda k: precision.refine(k, goal.threshold).low >= goal.threshold)
            kept = kept if better is None else better
            doubt = doubt if proven else _UNPROVEN
        return _found(kept, precision, goal, baseline, trace, doubt)


def _found(
    kept: Kept, precision: Chained, goal: Goal, baseline: Interval, trace: list[Candidate], doubt: str
) -> Found:
    tail = precision.refine(kept, goal.threshold)
    status: Status = "certified" if doubt else "exact"
    if tail.low < goal.threshold:
        status = "not_reached"
    notes = (doubt,) if doubt else ()
    return Found(
        kept, tail, status, precision, tuple(trace), baseline=baseline, notes=notes, irreducible=bool(doubt)
    )


def _grown(precision: Chained, reading: Reading, threshold: float) -> tuple[Kept, list[Candidate]]:
    """Keep what helps most, one link at a time, until the threshold is reached."""
    kept: Kept = ()
    trace: list[Candidate] = []
    sizes = reading.units.sizes
    while True:
        have = reading.units.counts(kept)
        open_ = np.flatnonzero(have < sizes)
        if not len(open_):
            return kept, trace
        means = _each_more(precision, kept, len(sizes))[open_]
        order = np.argsort(-means, kind="stable")
        long = len(precision.links) > _SHORT
        near = order[means[order] >= means[order[0]] - _NEAR[long]][: _MANY[long]]
        best: Kept = ()
        for unit in open_[near].tolist():
            longer = tuple(sorted((*kept, unit)))
            tail = precision.refine(longer, threshold)
            trace.append(Candidate(longer, tail))
            if not best or (-tail.mean, longer) < (-precision.refine(best, threshold).mean, best):
                best = longer
        kept = best
        if precision.refine(kept, threshold).low >= threshold:
            return kept, trace


def _each_more(precision: Chained, kept: Kept, units: int) -> Counts:
    """(d,) about the precision when one more occurrence of each unit is kept; -1 where none is left."""
    links = precision.links
    at, _, scale = precision.spread(kept)
    found = np.full(units, -1.0)
    if not scale:
        found[links.unit[~at]] = 1.0
        return found
    total = float(np.abs(links.weights).sum())
    per = _PER if len(links) > _SHORT else 8 * _PER
    step = max(scale / per, total * len(links) * (1 << links.span) / _NUMBERS)
    if (lattice := precision.lattice) is not None and lattice >= step / 16.0:
        step = lattice
    cut = rounded(links, step)
    grid = Grid(links, np.rint(links.gains(cut.cells)).astype(np.int64), precision.keep)
    mean, _ = cut.leftover(at, precision.keep)
    zero = -(links.score.bias + mean) / step
    need = math.floor(zero) + 1 if links.score.strict else math.ceil(zero)
    chances = grid.each_more(at, need)
    # Of a unit's occurrences the first free one is kept next; all of them are alike.
    found[links.unit[~at]] = chances[~at]
    return found


def _shorter(precision: Chained, known: Kept, threshold: float) -> tuple[Kept | None, bool]:
    """A shorter anchor, or a better one of the same length, if any; and whether all was looked at."""
    most = len(known)
    may, before = candidates(precision.links, most)
    foresight = Foresight.of(precision.links, may, precision.keep, most)
    if foresight is None:
        return None, False
    search = _Search(precision, foresight, before)
    for length in range(1, most):
        if foresight.bound(foresight.start(), 0, length) < threshold:
            continue
        best, settled = search.best(length, threshold, None)
        if best is not None or not settled:
            return best, settled
    return search.best(most, threshold, known)


class _Search:
    """Branch and bound over the links that may be kept."""

    def __init__(self, precision: Chained, foresight: Foresight, before: list[list[int]]) -> None:
        self.precision, self.foresight, self.before = precision, foresight, before
        self.nodes, self.bar = 0, 0.0

    def best(self, length: int, threshold: float, known: Kept | None) -> tuple[Kept | None, bool]:
        """The best anchor of a length, if it reaches; and whether all was looked at."""
        precision = self.precision
        best, settled = known, True
        self.bar = threshold if known is None else precision.refine(known, threshold).low
        unit = precision.links.unit
        for links in self._leaves(self.foresight.start(), 0, length, frozenset(), frozenset()):
            kept = tuple(sorted(unit[list(links)].tolist()))
            tail = precision.refine(kept, threshold)
            settled &= not tail.splits(threshold)
            if tail.low >= threshold and (
                best is None or (-tail.mean, kept) < (-precision.refine(best, threshold).mean, best)
            ):
                best, self.bar = kept, max(self.bar, tail.low)
        return best, settled and self.nodes <= _NODES

    def _leaves(
        self,
        law: tuple[np.ndarray, int, int],
        e: int,
        left: int,
        kept: frozenset[int],
        out: frozenset[int],
    ) -> Iterator[frozenset[int]]:
        """Anchors of the length that the bound does not rule out."""
        fore = self.foresight
        if left == 0:
            yield kept
            return
        while e < len(fore.order) and not fore.may[e]:
            law = fore.extended(law, e, kept=False)
            e += 1
        self.nodes += 1
        if e == len(fore.order) or self.nodes > _NODES:
            return
        link = fore.order[e]
        missing = [j for j in self.before[link] if j not in kept]
        fits = len(missing) < left and not any(j in out for j in missing)
        for keeps in (True, False):
            if keeps and not fits:
                continue
            if not keeps and any(link in self.before[j] for j in kept):
                continue  # it goes before one that is kept
            after = fore.extended(law, e, kept=keeps)
            if fore.bound(after, e + 1, left - keeps) >= self.bar:
                now = (kept | {link}, out) if keeps else (kept, out | {link})
                yield from self._leaves(after, e + 1, left - keeps, *now)
