"""What each word of a document does to the label, from samples: by arithmetic, or from what was queried.

Documents may be too long for their samples to be kept: these are drawn in pieces, and sums are kept. When the
time is up, the samples drawn so far are what the answer rests on.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from kedge.evaluators.slopes import Tally, is_fitted, sample_slopes
from kedge.reading.reading import Reading
from kedge.results.influence import ClassInfluence, Influence
from kedge.studies.effects import Scale, Scene, answered, class_scores
from kedge.typing import Bools, Counts, Floats, Label
from kedge.utils.deadline import TimeIsUp
from kedge.utils.numerics import pieces

__all__ = ["FEWEST", "by_arithmetic", "by_samples"]

FEWEST = 20
"""Fewer samples than this say nothing of any word."""

# A word with several occurrences is judged as a whole by samples that keep all of them, and by samples that
# keep none: by at least this many of either.
_OFTEN = 5


def by_arithmetic(scene: Scene, reading: Reading, samples: int, rng: np.random.Generator) -> Influence:
    """Samples whose labels cost no query."""
    holds = reading.holds_without_queries
    assert holds is not None  # noqa: S101  (the caller has looked)
    units = len(scene.units)
    if is_fitted(units):
        counts = reading.sample((), samples, rng)
        found = by_samples(scene, counts, holds(counts), None, _scores(reading, counts), _scale(scene))
    else:
        found = _in_pieces(scene, reading, (p.stop - p.start for p in pieces(samples, units)), rng)
    if found.classes:
        return found
    told = class_scores(scene, reading)
    classes = tuple(ClassInfluence(c, scene.spread(v), scene.spread(e)) for c, v, e in told)
    return replace(found, classes=classes, scale="score" if told else None)


def _in_pieces(scene: Scene, reading: Reading, several: Iterable[int], rng: np.random.Generator) -> Influence:
    """So many samples at a time, while there is time."""
    holds = reading.holds_without_queries
    assert holds is not None  # noqa: S101
    tally, wholes = None, _Wholes.of(scene)
    names: list[Label] = []
    try:
        for n in several:
            counts = reading.sample((), n, rng)
            y, names = _columns(scene, holds(counts), None, _scores(reading, counts))
            tally, wholes = (
                (tally or Tally.of(scene.units.sizes, scene.keep, y.shape[1])).plus(counts, y),
                wholes.plus(counts, y[:, 0]),
            )
    except TimeIsUp:
        if tally is None or tally.samples < FEWEST:
            raise
    assert tally is not None  # noqa: S101  (at least one piece was drawn)
    return _spelled(scene, *tally.slopes(), wholes, names, _scale(scene), tally.samples)


def by_samples(
    scene: Scene,
    counts: Counts,
    holds: Bools,
    chances: Floats | None,
    odds: Floats | None = None,
    scale: Scale = "log-odds",
) -> Influence:
    """Uniform samples: slopes with their standard errors."""
    y, names = _columns(scene, holds, chances, odds)
    found, errors = sample_slopes(counts, y, scene.units.sizes, scene.keep)
    wholes = _Wholes.of(scene)
    for piece in pieces(*counts.shape):
        wholes = wholes.plus(counts[piece], y[piece, 0])
    return _spelled(scene, found, errors, wholes, names, scale, len(counts))


def _columns(
    scene: Scene, holds: Bools, chances: Floats | None, odds: Floats | None
) -> tuple[Floats, list[Label]]:
    """(n, 1 + k) whether the label held, and the score of each class; and the classes."""
    y, names = answered(scene, holds, chances)
    if odds is None:
        return y, names
    names = [scene.label, *(c for c in scene.classes or () if c != scene.label)][:2]
    return np.column_stack([y[:, 0], odds, *([-odds] if len(names) == 2 else [])]), names


def _spelled(
    scene: Scene,
    slopes: Floats,
    errors: Floats,
    wholes: "_Wholes",
    names: list[Label],
    scale: Scale,
    samples: int,
) -> Influence:
    # A label that was never seen to change may still do so, once in so many samples.
    errors[:, 0] = np.maximum(errors[:, 0], 1 / samples)
    words = {
        word: (float(slopes[group[0], 0]), float(errors[group[0], 0]))
        for word, group in wholes.groups.items()
    }
    words |= wholes.effects(slopes[:, 0])
    scores = [(name, slopes[:, t], errors[:, t]) for t, name in enumerate(names, start=1)]
    return scene.spell(slopes[:, 0], errors[:, 0], words, scores, scale, samples)


@dataclass(frozen=True, eq=False)
class _Wholes:
    """How often the label held where a word was whole, and where it was gone.

    For words of several occurrences: for the others that is their slope.

    Parameters
    ----------
    groups
        The units of every word.
    several
        The words that occur several times.
    units, starts, sizes
        Their units, those of one word after those of the other; where each begins; occurrences.
    seen
        (2, 2, words) how often each was whole and gone; and of these, how often the label held.
    """

    groups: dict[str, list[int]]
    several: list[str]
    units: Counts
    starts: Counts
    sizes: Counts
    seen: Floats

    @classmethod
    def of(cls, scene: Scene) -> "_Wholes":
        groups, sizes = scene.groups(), scene.units.sizes
        several = [word for word, group in groups.items() if len(group) > 1 or sizes[group[0]] > 1]
        units = np.array([j for word in several for j in groups[word]], dtype=np.int64)
        lengths = np.array([len(groups[word]) for word in several], dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        return cls(groups, several, units, starts, sizes[units], np.zeros((2, 2, len(several))))

    def plus(self, counts: Counts, held: Floats) -> "_Wholes":
        """With the counts (n, d) of further samples, and whether the label held, (n,)."""
        if not self.several:
            return self
        have = counts[:, self.units]
        seen = self.seen.copy()
        for i, much in enumerate((self.sizes, 0)):
            alike = np.logical_and.reduceat(have == much, self.starts, axis=1)
            seen[i] += alike.sum(axis=0), held @ alike
        return replace(self, seen=seen)

    def effects(self, slopes: Floats) -> dict[str, tuple[float, float]]:
        """The share where a word was whole less that where it was gone, and its standard error.

        Nothing is known but the slope (an error of 1) where either was hardly ever seen.
        """
        often, held = self.seen[:, 0], self.seen[:, 1]
        share = held / np.maximum(often, 1)
        values = share[0] - share[1]
        errors = np.sqrt((share * (1 - share) / np.maximum(often, 1)).sum(axis=0))
        rare = often.min(axis=0) < _OFTEN
        if rare.any():
            values[rare] = np.add.reduceat(slopes[self.units] * self.sizes, self.starts)[rare]
            errors[rare] = 1.0
        return dict(zip(self.several, zip(values.tolist(), errors.tolist(), strict=True), strict=True))


def _scale(scene: Scene) -> Scale:
    return "log-odds" if scene.classes else "score"


def _scores(reading: Reading, counts: Counts) -> Floats | None:
    """(n,) the label's score by arithmetic, where two classes are compared by one."""
    if reading.chain is not None:
        return reading.chain.score(counts)
    if (inside := reading.normalised) is None:
        return None
    norms = np.sqrt((counts**2) @ inside.scale**2)
    scores: Floats = inside.bias + np.divide(counts @ inside.slopes, norms, out=0 * norms, where=norms > 0)
    return scores
