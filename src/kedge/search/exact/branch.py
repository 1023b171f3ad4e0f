"""The exact search of additive scores that are not linear: branch and bound over counts.

With presence instead of counts, logarithms of counts, or Bernoulli naive Bayes, words of different
multiplicity cannot be ranked by one number. What can be said: of two units of equal multiplicity,
if s_i - s_j never falls then some best anchor keeps at least as many of i as of j (swap the two
numbers kept and couple the coins). So units of equal multiplicity form chains, and what is left is
decided by branch and bound with the bound of `kedge.search.exact.adaptive`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kedge.evaluators.additive import Additive
from kedge.evaluators.affordable import enumerable
from kedge.evaluators.binomials import binomial
from kedge.model.scores.additive import AdditiveScore
from kedge.reading.reading import Reading
from kedge.search.exact.adaptive import Option, Reach
from kedge.search.pruning import prune
from kedge.search.strategy import Candidate, Found, Goal
from kedge.typing import Floats, Kept, Status

__all__ = ["Branch"]

# Branches looked at before the proof is given up: about a second.
_NODES = 1 << 14
# Array operations one table of bounds may take: about a second.
_OPERATIONS = 1 << 17
# Cells across the values of the units that may be kept, or across ten standard deviations.
_CELLS = 4096


@dataclass(frozen=True)
class Chain:
    """Units of equal multiplicity, best first: none keeps more than the one before it."""

    units: tuple[int, ...]


@dataclass(frozen=True)
class Branch:
    """Exact for scores that are sums of one function per word."""

    name: ClassVar = "branch"
    ignores: ClassVar = frozenset({"ties"})

    def obstacle(self, reading: Reading) -> str | None:
        """The score must be additive."""
        return None if reading.additive is not None else "needs a model whose score is a sum over words"

    def suits(self, reading: Reading) -> bool:
        """A small table of all samples is quicker than branches."""
        return not enumerable(reading)

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Lengths from short to long, each with a proof that nothing of it reaches the goal."""
        del rng  # ties go to the larger precision, then to the lowest units
        score, precision = reading.additive, Additive(reading)
        assert score is not None  # noqa: S101  (no obstacle)
        baseline = precision.refine((), goal.threshold if goal.allow_empty else None)
        if goal.allow_empty and baseline.low >= goal.threshold:
            return Found((), baseline, "exact", precision, baseline=baseline)
        chains = _chains(score)
        if chains is None:
            return _prefixes(score, precision, goal, "Some word helps and hurts, depending on its count.")
        if not chains:
            # Every word can only hurt, and with all of them the label holds.
            return _single(score, precision, goal)
        found = _by_length(score, chains, reading.keep, precision, goal)
        if goal.allow_empty and found.status == "exact" and baseline.high >= goal.threshold:
            return replace(
                found, status="certified", notes=(*found.notes, _UNPROVEN)
            )  # keeping nothing may be enough
        return found


def _by_length(
    score: AdditiveScore, chains: list[Chain], keep: float, precision: Additive, goal: Goal
) -> Found:
    """Tables of bounds for ever longer anchors; the first length that has an answer."""
    total = sum(int(score.sizes[list(chain.units)].sum()) for chain in chains)
    most, length = 4, 1
    while length <= total:  # pragma: no branch  (all that help reach, or cannot be told)
        most = min(max(most, 2 * length), total)
        search = _Search.of(score, chains, keep, most)
        if search is None:
            break
        while length <= most:
            if search.possible(length) >= goal.threshold:
                answer, proven = search.best(length, precision, goal.threshold)
                if answer is not None:
                    if proven:
                        return _found(answer, precision, goal, "")
                    return _found(_pruned(answer, precision, goal), precision, goal, _UNPROVEN)
                if not proven:
                    return _prefixes(score, precision, goal, _UNPROVEN)
            length += 1
    return _prefixes(score, precision, goal, _UNPROVEN)


def _found(kept: Kept, precision: Additive, goal: Goal, doubt: str) -> Found:
    """The answer: exact without a doubt, certified with one."""
    tail = precision.refine(kept, goal.threshold)
    status: Status = "exact" if not doubt else "certified"
    if tail.low < goal.threshold:
        status = "not_reached"
    return Found(
        kept,
        tail,
        status,
        precision,
        trace=(Candidate(kept, tail),),
        baseline=precision.refine(()),
        notes=(doubt,) if doubt else (),
        irreducible=bool(doubt),  # what is in doubt has been pruned
    )


_UNPROVEN = "The search stopped before it could prove that no shorter or better anchor exists."


def _chains(score: AdditiveScore) -> list[Chain] | None:
    """The units that can help, in chains; None if some table both rises and falls."""
    groups: dict[int, list[int]] = {}
    for j in range(len(score.sizes)):
        steps = np.diff(score.tables[j])
        if (steps > 0).any():
            if (steps < 0).any():
                return None
            groups.setdefault(int(score.sizes[j]), []).append(j)
    chains = []
    for units in groups.values():
        units.sort(key=lambda j: (-float(score.tables[j][-1]), j))
        run = [units[0]]
        for j in units[1:]:
            if (np.diff(score.tables[run[-1]] - score.tables[j]) >= 0).all():
                run.append(j)
            else:
                chains.append(Chain(tuple(run)))
                run = [j]
        chains.append(Chain(tuple(run)))
    return chains


class _Search:
    """One table of bounds, for anchors of up to ``most`` occurrences."""

    def __init__(self, score: AdditiveScore, units: list[int], heads: list[bool], reach: Reach) -> None:
        self.score, self.units, self.heads, self.reach = score, units, heads, reach
        self.nodes, self.bar = 0, 0.0

    @classmethod
    def of(cls, score: AdditiveScore, chains: list[Chain], keep: float, most: int) -> "_Search | None":
        """The table, or None if it would be too large."""
        active = [(c.units[:most], c) for c in chains]
        # Decide about what brings most first: the bound knows the outcome of earlier units.
        active.sort(key=lambda pair: -float(score.tables[pair[0][0]][-1]))
        units = [j for chain, _ in active for j in chain]
        heads = [k == 0 for chain, _ in active for k in range(len(chain))]
        lowest, options = score.bias, []
        for j in units:
            table = score.tables[j]
            lowest += float(table[0])
            useful = 1 + int(np.flatnonzero(np.diff(table) != 0)[-1])  # no more than this changes a thing
            options.append(
                [
                    (table[a:] - table[0], binomial(int(score.sizes[j]) - a, keep))
                    for a in range(min(useful, most) + 1)
                ]
            )
        operations = sum(len(v) for unit in options for v, _ in unit) * (most + 1)
        if operations > _OPERATIONS:
            return None
        others: list[Option] = []
        for j in sorted(set(range(len(score.sizes))) - set(units)):
            table = score.tables[j]
            smallest = float(table.min())
            lowest += smallest
            if smallest < float(table.max()):
                others.append((table - smallest, binomial(int(score.sizes[j]), keep)))
        error = score.error + score.added_up(len(score.sizes))
        spread = max(_deviation(others), _deviation([unit[0] for unit in options]))
        step = 10.0 * spread / _CELLS
        need = -lowest - error
        if need / step > 64 * _CELLS:
            return None
        return cls(score, units, heads, Reach(options, others, need, most, step))

    def possible(self, length: int) -> float:
        """No anchor of this length has a larger precision."""
        return self.reach.bound(np.ones(1), 0, length)

    def best(self, length: int, precision: Additive, threshold: float) -> tuple[Kept | None, bool]:
        """The best anchor of a length if one reaches the threshold, and whether all was looked at."""
        found: Kept | None = None
        self.bar, settled = threshold, True
        for kept in self._leaves(np.ones(1), 0, length, []):
            tail = precision.refine(kept, threshold)
            if tail.splits(threshold):
                settled = False  # rounding or the grid's limit: cannot tell
            if tail.low >= threshold and (
                found is None or (-tail.mean, kept) < (-precision.refine(found).mean, found)
            ):
                found, self.bar = kept, max(self.bar, tail.low)
        return found, (settled or found is not None) and self.nodes <= _NODES

    def _leaves(self, decided: Floats, unit: int, left: int, kept: list[int]) -> Iterator[Kept]:
        """Anchors of the length that the bound does not rule out, most promising first."""
        self.nodes += 1
        if self.nodes > _NODES:
            return
        if left == 0 or unit == len(self.units):
            if left == 0:
                counts = zip(self.units, kept, strict=False)
                yield tuple(sorted(j for j, a in counts for _ in range(a)))
            return
        before = math.inf if self.heads[unit] else kept[-1]
        options = range(int(min(len(self.reach.cells[unit]) - 1, left, before)), -1, -1)
        for a in options:
            law = self.reach.extended(decided, unit, a)
            if self.reach.bound(law, unit + 1, left - a) >= self.bar:
                yield from self._leaves(law, unit + 1, left - a, [*kept, a])


def _deviation(options: list[Option]) -> float:
    """Standard deviation of a sum of independent variables."""
    variance = 0.0
    for values, weights in options:
        mean = float(values @ weights)
        variance += float((values - mean) ** 2 @ weights)
    return math.sqrt(variance)


def _single(score: AdditiveScore, precision: Additive, goal: Goal) -> Found:
    """No word helps: any single one will do, the one that hurts least first."""
    words: list[Kept] = [(j,) for j in range(len(score.sizes))]
    best = min(words, key=lambda kept: (-precision.refine(kept, goal.threshold).mean, kept))
    return _found(best, precision, goal, "")


def _prefixes(score: AdditiveScore, precision: Additive, goal: Goal, why: str) -> Found:
    """Without a proof: occurrences by what they bring on their own, the shortest prefix that reaches."""
    gains: list[tuple[float, int]] = []
    for j, size in enumerate(score.sizes.tolist()):
        table = score.tables[j]
        means = [float(table[a:] @ binomial(size - a, 0.5)) for a in range(size + 1)]
        gains += [(means[a + 1] - means[a], j) for a in range(size)]
    order = [j for _, j in sorted(gains, key=lambda g: (-g[0], g[1]))]
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        tail = precision.refine(tuple(sorted(order[:middle])), goal.threshold)
        reached = tail.low >= goal.threshold
        low, high = (low, middle) if reached else (middle, high)
    kept = _pruned(tuple(sorted(order[:high])), precision, goal, order[:high][::-1])
    return _found(kept, precision, goal, why)


def _pruned(kept: Kept, precision: Additive, goal: Goal, order: list[int] | None = None) -> Kept:
    """An anchor that reaches, without what it does not need."""

    def reaches(less: Kept) -> bool:
        return precision.refine(less, goal.threshold).low >= goal.threshold

    return prune(kept, reaches, order=order) if reaches(kept) else kept
