"""Perturbed samples to look at: some that kept the label, some that lost it.

They are drawn on first access. A closed form knows the label of any sample, so its examples
cost nothing until then. A black box was queried already; those answers about the anchor are shown.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.errors import OutOfQueries
from kedge.perturb import Perturbation
from kedge.reading.reading import Reading
from kedge.results.explanation import Example
from kedge.results.lazy import LazySequence
from kedge.search.strategy import Found
from kedge.text.document import Document
from kedge.text.units import Units
from kedge.typing import Bools, Counts, Kept
from kedge.utils.numerics import pieces

__all__ = ["draw_examples"]

# Ten of each kind are enough to look at.
_EACH = 10
# All examples of a document together name at most about this many removed positions.
_POSITIONS = 10_000
# A rare loss is looked for in this many samples where they cost arithmetic only: in few of them at first.
_FREE_DRAWS, _FIRST = 1024, 64
# Where the model must be queried again: with this many samples, if the budget allows.
_ASKED = 32

Holds = Callable[[Counts], Bools]


@dataclass(frozen=True)
class _Scene:
    """What drawing needs of a reading, without the model: small enough to keep with a result."""

    document: Document
    units: Units
    perturbation: Perturbation
    kept: Kept
    seed: int

    @property
    def each(self) -> int:
        """How many of each kind."""
        return max(1, min(_EACH, _POSITIONS // len(self.document)))

    @cached_property
    def loose(self) -> tuple[int, ...]:
        """Positions in no unit: removed too, which changes nothing, unless they are protected."""
        inside = {k for group in self.units.members for k in group}
        inside.update(np.flatnonzero(self.perturbation.protected(self.document)).tolist())
        return tuple(k for k in range(len(self.document)) if k not in inside)

    @cached_property
    def _single(self) -> tuple[Counts, Counts]:
        """Units with one occurrence left to chance, and its position."""
        units = np.flatnonzero(self.units.sizes - self.units.counts(self.kept) == 1)
        return units, np.array([self.units.members[j][-1] for j in units.tolist()], dtype=np.int64)

    @cached_property
    def _several(self) -> list[tuple[int, tuple[int, ...]]]:
        """Units with more, and their positions."""
        sure = self.units.counts(self.kept).tolist()
        free = (group[must:] for group, must in zip(self.units.members, sure, strict=True))
        return [(j, group) for j, group in enumerate(free) if len(group) > 1]

    def removed(self, row: Counts, rng: np.random.Generator) -> tuple[int, ...]:
        """Positions for the counts of a sample: the anchor's stay, of the rest any are as likely."""
        units, positions = self._single
        removed: list[int] = positions[row[units] < self.units.sizes[units]].tolist()
        for unit, free in self._several:
            lost = int(self.units.sizes[unit] - row[unit])
            removed += free if lost == len(free) else rng.choice(free, lost, replace=False).tolist()
        if self.loose:
            gone = rng.random(len(self.loose)) >= self.perturbation.keep
            removed += np.array(self.loose)[gone].tolist()
        return tuple(sorted(removed))


def draw_examples(reading: Reading, found: Found, seed: int) -> Sequence[Example]:
    """Samples given the anchor that kept or lost the label."""
    scene = _Scene(reading.document, reading.units, reading.perturbation, found.kept, seed)
    holds = reading.holds_without_queries
    if holds is not None:
        return LazySequence(lambda: _drawn(scene, holds))
    try:
        sample = found.evaluator.seen(found.kept) or _ask(reading, found.kept, seed)
    except OutOfQueries:
        return ()
    return tuple(_pick(scene, [sample], np.random.default_rng([seed, 2])))


def _ask(reading: Reading, kept: Kept, seed: int) -> tuple[Counts, Bools]:
    """A few new queries about the anchor."""
    room = int(min(_ASKED, reading.oracle.remaining))
    counts = reading.sample(kept, room, np.random.default_rng([seed, 1]))
    return counts, reading.holds(counts)


def _drawn(scene: _Scene, holds: Holds) -> list[Example]:
    rng = np.random.default_rng([scene.seed, 1])
    sizes, sure = scene.units.sizes, scene.units.counts(scene.kept)

    def drawn() -> Iterator[tuple[Counts, Bools]]:
        for several in (_FIRST, _FREE_DRAWS - _FIRST):
            for piece in pieces(several, len(sizes)):
                counts = scene.perturbation.draw(sizes, sure, piece.stop - piece.start, rng)
                yield counts, holds(counts)

    return _pick(scene, drawn(), np.random.default_rng([scene.seed, 2]))


def _pick(scene: _Scene, drawn: Iterable[tuple[Counts, Bools]], rng: np.random.Generator) -> list[Example]:
    """The first few distinct samples of each kind: those that kept the label, then those that lost it."""
    found: dict[bool, dict[tuple[int, ...], None]] = {True: {}, False: {}}
    each = scene.each
    for counts, holds in drawn:
        for held, mine in found.items():
            for k in np.flatnonzero(holds == held).tolist():
                if len(mine) == each:
                    break
                mine[scene.removed(counts[k], rng)] = None
        if all(len(mine) == each for mine in found.values()):
            break
    return [Example(removed, held) for held, all_removed in found.items() for removed in all_removed]
