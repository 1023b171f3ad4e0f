"""What each word of a document does to the label, worked out in the way that fits what is known.

Each function gives the same thing, an ``Influence``: from a sum over words, from a tree's leaves, from every
sample there is, from some of few. What is drawn is in ``sampled_effects.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np

from kedge.evaluators.binomials import binomial
from kedge.evaluators.leaves import LeafChances
from kedge.evaluators.rests import left_out
from kedge.evaluators.slopes import imputed, sample_weights, table_slopes, word_effect
from kedge.model.scores.additive import AdditiveScore
from kedge.model.scores.leaves import LeafBoxes
from kedge.reading.reading import Reading
from kedge.results.influence import ClassInfluence, Influence, WordInfluence
from kedge.text.document import Document
from kedge.text.units import Units
from kedge.typing import Bools, Counts, Floats, Label
from kedge.utils.numerics import logistic, pieces

__all__ = [
    "Scale",
    "Scene",
    "answered",
    "by_asked",
    "by_leaves",
    "by_sum",
    "by_table",
    "class_chances",
    "class_scores",
]

# Numbers are kept to this many digits: enough for any picture, and short in JSON.
_DIGITS = 7
# The ends of log-odds: probabilities are kept 1e-12 from 0 and 1.
_ODDS = 27.7
# A score whose logistic is the model's probability to this is its log-odds.
_SAME = 1e-9

Scale = Literal["log-odds", "score"]


@dataclass(frozen=True)
class Scene:
    """What spelling out an influence needs of a reading: small enough to keep with a result."""

    label: Label
    document: Document
    units: Units
    keep: float
    classes: tuple[Label, ...] | None = None

    @property
    def words(self) -> Sequence[str]:
        """The word at each position."""
        return self.document.words

    @classmethod
    def of(cls, reading: Reading) -> "Scene":
        """What is needed of a reading."""
        classes = None if reading.probabilities is None else tuple(reading.probabilities)
        return cls(reading.label, reading.document, reading.units, reading.keep, classes)

    def groups(self) -> dict[str, list[int]]:
        """The units of each word that the model reads, in order."""
        found: dict[str, list[int]] = {}
        for j, members in enumerate(self.units.members):
            found.setdefault(self.words[members[0]], []).append(j)
        return found

    def spread(self, values: Floats) -> tuple[float, ...]:
        """One number for each unit as one for each position; 0 where a word is not read."""
        found = np.zeros(len(self.words))
        found[self._places] = np.repeat(_rounded(values), self.units.sizes)
        return tuple(found.tolist())

    @cached_property
    def _places(self) -> Counts:
        """The positions of one unit after those of the other."""
        return np.fromiter(chain.from_iterable(self.units.members), dtype=np.int64)

    def spell(
        self,
        effects: Floats,
        errors: Floats,
        words: dict[str, tuple[float, float]],
        scores: list[tuple[Label, Floats, Floats]],
        scale: Scale | None,
        samples: int = 0,
    ) -> Influence:
        """Numbers by unit and by word as an influence on this document."""
        places: dict[str, list[int]] = {}
        for k, word in enumerate(self.words):
            places.setdefault(word, []).append(k)
        whole = np.array([words.get(word, (0.0, 0.0)) for word in places])
        values, doubts = _rounded(np.clip(whole[:, 0], -1, 1)).tolist(), _rounded(whole[:, 1]).tolist()
        told = map(WordInfluence, places, map(tuple, places.values()), values, doubts)
        return Influence(
            self.label,
            self.spread(np.clip(effects, -1, 1)),
            self.spread(errors),
            tuple(told),
            tuple(ClassInfluence(c, self.spread(v), self.spread(e)) for c, v, e in scores),
            scale if scores else None,
            exact=not samples,
            samples=samples,
        )


def _rounded(values: Floats) -> Floats:
    return np.round(values, _DIGITS) + 0.0  # no negative zeros


def by_sum(scene: Scene, score: AdditiveScore, probabilities: dict[Label, float] | None) -> Influence:
    """A score that is a sum over words: the rest of the sum decides what an occurrence changes."""
    d = len(score.sizes)
    effects, errors, adds, wholes, doubts = np.zeros((5, d))
    rests = left_out(score, scene.keep)
    for which, places in rests.variables.alike():
        units, law = rests.variables.units[which], binomial(places.shape[1] - 2, scene.keep)
        means, widths = rests.means[places], rests.widths[places]
        effects[units] = np.diff(means) @ law
        errors[units] = (widths[:, 1:] + widths[:, :-1]) @ law
        adds[units] = np.diff(rests.variables.values[places]) @ law
        wholes[units], doubts[units] = means[:, -1] - means[:, 0], widths[:, -1] + widths[:, 0]
    names = [scene.words[members[0]] for members in scene.units.members]
    words = dict(zip(names, zip(wholes.tolist(), doubts.tolist(), strict=True), strict=True))
    full = float(score.score(score.sizes[None])[0])
    share = None if probabilities is None else probabilities.get(scene.label)
    scale: Scale = "score"
    if share is not None and abs(float(logistic(np.array(full))) - share) < _SAME:
        scale = "log-odds"
    none = np.zeros(d)
    scores = [(scene.label, adds, none)]
    scores += [(c, -adds, none) for c in scene.classes or () if c != scene.label]
    return scene.spell(effects, errors, words, scores, scale)


def by_leaves(scene: Scene, boxes: LeafBoxes) -> Influence:
    """A decision tree: its leaves' chances with an occurrence more and with one less."""
    sizes = scene.units.sizes
    chances = LeafChances(boxes, sizes, scene.keep)
    effects, words = np.zeros(len(sizes)), dict.fromkeys(scene.groups(), (0.0, 0.0))
    for place, j in enumerate(chances.asked):
        kept = np.zeros((2, len(chances.asked)), dtype=np.int64)
        kept[:, place] = 1, sizes[j]
        once, whole = chances.precision(kept)
        effects[j] = once - _without(boxes, sizes, j, 1, scene.keep)
        gone = _without(boxes, sizes, j, int(sizes[j]), scene.keep)
        words[scene.words[scene.units.members[j][0]]] = float(whole - gone), 0.0
    return scene.spell(effects, np.zeros(len(sizes)), words, [], None)


def _without(boxes: LeafBoxes, sizes: Counts, unit: int, often: int, keep: float) -> float:
    """The chance of the label with so many occurrences of a unit gone for good."""
    fewer = sizes.copy()
    fewer[unit] -= often
    chances = LeafChances(boxes, fewer, keep)
    return float(chances.precision(np.zeros((1, len(chances.asked)), dtype=np.int64))[0])


def _every_row(sizes: Counts) -> Counts:
    shape = tuple((sizes + 1).tolist())
    return np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1)


def by_table(scene: Scene, reading: Reading) -> Influence:
    """Every sample there is, all queried already or free."""
    counts = _every_row(scene.units.sizes)
    holds = np.concatenate([reading.holds(counts[p]) for p in pieces(*counts.shape)])
    chances = None if reading.algebra else class_chances(reading, counts)
    weights = sample_weights(counts, scene.units.sizes, scene.keep)
    y, names = answered(scene, holds, chances)
    found = table_slopes(counts, weights, y, scene.units.sizes, scene.keep)
    words = {w: (_effect(scene, group, counts, weights, y[:, 0]), 0.0) for w, group in scene.groups().items()}
    scores = [(name, found[:, t], 0 * found[:, t]) for t, name in enumerate(names, start=1)]
    told = scores or class_scores(scene, reading)
    return scene.spell(found[:, 0], 0 * found[:, 0], words, told, "log-odds" if scores else "score")


def by_asked(scene: Scene, asked: Counts, holds: Bools, chances: Floats | None) -> Influence:
    """Some of few texts were queried, as the search picked them; the others are predicted from these."""
    counts = _every_row(scene.units.sizes).astype(asked.dtype)
    weights = sample_weights(counts, scene.units.sizes, scene.keep)
    y, names = answered(scene, holds, chances)
    sizes, keep, still_open = scene.units.sizes, scene.keep, len(counts) - len(asked)
    held, doubt = imputed(asked, y[:, :1], counts, within=(0.0, 1.0))
    # Texts that were not queried are off by the fit's error, and not independently of each other.
    share = max(2 * np.sqrt(still_open), still_open) / len(counts)
    error = doubt * share
    effects = table_slopes(counts, weights, held, sizes, keep)[:, 0]
    words = {}
    for word, group in scene.groups().items():
        value = _effect(scene, group, counts, weights, held[:, 0])
        words[word] = value, error * 2.0 ** (len(group) - 1)
    scores = []
    for t, name in enumerate(names, start=1):
        odds, unsure = imputed(asked, y[:, t : t + 1], counts, within=(-_ODDS, _ODDS))
        slope = table_slopes(counts, weights, odds, sizes, keep)[:, 0]
        scores.append((name, slope, np.full(len(sizes), unsure * share)))
    errors = np.full(len(sizes), error)
    return scene.spell(effects, errors, words, scores, "log-odds", len(asked) if still_open else 0)


def class_scores(scene: Scene, reading: Reading) -> list[tuple[Label, Floats, Floats]]:
    """What each unit adds to the score of each class, less the mean over classes, where scores are linear."""
    inside = reading.inside
    slopes = None if inside is None or inside.class_slopes is None else inside.class_slopes()
    if slopes is None or scene.classes is None:
        return []
    centred = slopes - slopes.mean(axis=0)
    return [(c, row, 0 * row) for c, row in zip(scene.classes, centred, strict=True)]


def _effect(scene: Scene, group: list[int], counts: Counts, weights: Floats, y: Floats) -> float:
    have = counts[:, group]
    whole = (have == scene.units.sizes[group]).all(axis=1)
    return word_effect(whole, (have == 0).all(axis=1), weights, y)


def answered(scene: Scene, holds: Bools, chances: Floats | None) -> tuple[Floats, list[Label]]:
    """(n, 1 + k) whether the label held, and the log-odds of each class; and the classes."""
    if chances is None or scene.classes is None:
        return holds.astype(np.float64)[:, None], []
    share = np.clip(chances, 1e-12, 1 - 1e-12)
    return np.column_stack([holds, np.log(share) - np.log1p(-share)]), list(scene.classes)


def class_chances(reading: Reading, counts: Counts) -> Floats | None:
    """Class probabilities of samples that were queried: the oracle remembers them."""
    return None if reading.chances is None or not reading.repeatable else reading.chances(counts)
