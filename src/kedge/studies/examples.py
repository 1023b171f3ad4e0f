"""Perturbed samples to look at: some that kept the label, some that lost it.

They are drawn when somebody looks. A closed form knows the label of any sample, so its examples
cost nothing until then; a model that can only be asked has been asked already, and what it was
asked about the anchor is shown again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.errors import OutOfQueries
from kedge.perturb import Perturbation
from kedge.reading.reading import Reading
from kedge.results.drawn import Drawn
from kedge.results.explanation import Example
from kedge.search.strategy import Found
from kedge.text.document import Document
from kedge.text.units import Units
from kedge.typing import Bools, Counts, Kept

__all__ = ["draw_examples"]

# Ten of each kind are enough to look at.
_EACH = 10
# All examples of a document together name at most about this many removed positions.
_POSITIONS = 10_000
# A rare loss is looked for in this many samples, drawn in pieces, where they cost arithmetic only.
_FREE_DRAWS, _PIECE = 1024, 64
# Where the model must be asked again, this many samples are asked about, if the budget allows.
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


def draw_examples(reading: Reading, found: Found, seed: int) -> Sequence[Example]:
    """Samples given the anchor that kept or lost the label."""
    scene = _Scene(reading.document, reading.units, reading.perturbation, found.kept, seed)
    holds = reading.holds_unasked
    if holds is not None:
        return Drawn(lambda: _drawn(scene, holds))
    try:
        sample = found.evaluator.seen(found.kept) or _ask(reading, found.kept, seed)
    except OutOfQueries:
        return ()
    return tuple(_pick(scene, [sample], np.random.default_rng([seed, 2])))


def _ask(reading: Reading, kept: Kept, seed: int) -> tuple[Counts, Bools]:
    """A few new questions about the anchor."""
    room = int(min(_ASKED, reading.oracle.remaining))
    counts = reading.sample(kept, room, np.random.default_rng([seed, 1]))
    return counts, reading.holds(counts)


def _drawn(scene: _Scene, holds: Holds) -> list[Example]:
    rng = np.random.default_rng([scene.seed, 1])
    sizes, sure = scene.units.sizes, scene.units.counts(scene.kept)

    def pieces() -> Iterator[tuple[Counts, Bools]]:
        for _ in range(_FREE_DRAWS // _PIECE):
            counts = scene.perturbation.draw(sizes, sure, _PIECE, rng)
            yield counts, holds(counts)

    return _pick(scene, pieces(), np.random.default_rng([scene.seed, 2]))


def _pick(scene: _Scene, pieces: Iterable[tuple[Counts, Bools]], rng: np.random.Generator) -> list[Example]:
    """The first few distinct samples of each kind: those that kept the label, then those that lost it."""
    found: dict[bool, dict[tuple[int, ...], None]] = {True: {}, False: {}}
    each = scene.each
    for counts, holds in pieces:
        for k, held in enumerate(holds.tolist()):
            mine = found[held]
            if len(mine) < each:
                mine[_draw_removed(scene, counts[k], rng)] = None
        if all(len(mine) == each for mine in found.values()):
            break
    return [Example(removed, held) for held, all_removed in found.items() for removed in all_removed]


def _draw_removed(scene: _Scene, row: Counts, rng: np.random.Generator) -> tuple[int, ...]:
    """Positions for the counts of a sample: the anchor's stay, of the rest any are as likely."""
    removed: list[int] = []
    sure = scene.units.counts(scene.kept).tolist()
    for group, have, must in zip(scene.units.members, row.tolist(), sure, strict=True):
        free, lost = group[must:], len(group) - have
        if 0 < lost < len(free):
            free = rng.choice(free, lost, replace=False).tolist()
        removed += free if lost else ()
    gone = rng.random(len(scene.loose)) >= scene.perturbation.keep
    removed += [k for k, is_gone in zip(scene.loose, gone.tolist(), strict=True) if is_gone]
    return tuple(sorted(removed))
