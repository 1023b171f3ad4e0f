"""Measuring what each word does: read off the model where it can be read, else from what was queried already.

A search draws samples with nothing kept in any case, for the baseline or to learn from. They say of every
word what it does, with an error; more samples are left to the user.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from kedge.errors import OutOfTime
from kedge.evaluators.enumeration import table_size
from kedge.reading.reading import Reading
from kedge.results.influence import Influence
from kedge.results.lazy import LazyInfluence
from kedge.search.strategy import Found
from kedge.studies.effects import Scene, by_asked, by_leaves, by_sum, by_table, class_chances
from kedge.studies.sampled_effects import FEWEST, by_arithmetic, by_samples
from kedge.typing import Bools, Counts, Floats
from kedge.utils.deadline import TimeIsUp
from kedge.utils.numerics import pieces

__all__ = ["influence_of", "measure_influence"]

# Samples that cost arithmetic only: a standard error of about 0.015.
_FREE = 4096
# When the time for an exact answer is up, so many samples are left.
_HURRIED = 400
# For a black box, the time limit is looked at after so many samples.
_AT_A_TIME = 256


def measure_influence(reading: Reading, found: Found) -> LazyInfluence | None:
    """The influence of every word, from what is known of the model or was queried in the search.

    None where the search drew no samples that say anything.
    """
    scene = Scene.of(reading)
    if (inside := _inside(reading, scene)) is not None:
        return LazyInfluence(inside)
    if found.asked is not None:
        return LazyInfluence(partial(by_asked, scene, *found.asked, class_chances(reading, found.asked[0])))
    if found.evaluator.name == "enumeration":
        # The answers are dropped together with the reading, so this is worked out now.
        return (
            LazyInfluence(lambda: by_table(scene, reading))
            if reading.algebra
            else LazyInfluence.of(by_table(scene, reading))
        )
    if reading.holds_without_queries is not None:
        return LazyInfluence(lambda: by_arithmetic(scene, reading, _FREE, np.random.default_rng(0)))
    seen = found.evaluator.seen(())
    if seen is None or len(seen[0]) < FEWEST:
        return None
    counts, holds = seen
    small = counts.astype(np.min_scalar_type(int(reading.units.sizes.max())))  # kept with the result
    return LazyInfluence(partial(by_samples, scene, small, holds, class_chances(reading, counts)))


def influence_of(reading: Reading, samples: int, rng: np.random.Generator) -> Influence:
    """The influence of every word: exact where the model can be read, else from this many new samples."""
    scene = Scene.of(reading)
    if (inside := _inside(reading, scene)) is not None:
        try:
            return inside()
        except TimeIsUp:
            return by_arithmetic(scene, reading, _HURRIED, rng)
    if reading.repeatable and table_size(reading) <= samples:
        found = by_table(scene, reading)
        # An exact value rests on answers that repeat, as an exact anchor does.
        return found if reading.check_repeats() else replace(found, exact=False, samples=table_size(reading))
    if reading.holds_without_queries is not None:
        return by_arithmetic(scene, reading, samples, rng)
    counts, holds, odds = _sampled(reading, samples, rng)
    unheard = reading.repeatable or reading.log_odds is None  # else the class probabilities are lost
    return by_samples(scene, counts, holds, class_chances(reading, counts), None if unheard else odds)


def _sampled(reading: Reading, samples: int, rng: np.random.Generator) -> tuple[Counts, Bools, Floats]:
    """New samples and what the model says of them: as many as there is time for."""
    small = np.min_scalar_type(int(reading.units.sizes.max()))
    found: list[tuple[Counts, Bools, Floats]] = []
    try:
        for piece in pieces(samples, 1, _AT_A_TIME):
            counts = reading.sample((), piece.stop - piece.start, rng)
            found.append((counts.astype(small), *reading.answers(counts)))
    except (OutOfTime, TimeIsUp):
        if not found:
            raise
    counts, holds, odds = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return counts, holds, odds


def _inside(reading: Reading, scene: Scene) -> Callable[[], Influence] | None:
    """The influence read off a model: exact."""
    if reading.additive is not None:
        return partial(by_sum, scene, reading.additive, reading.probabilities)
    return None if reading.leaves is None else partial(by_leaves, scene, reading.leaves)
