"""How hard a removal a label survives that needs no word, and which words carry it then.

From the ``keep`` of the options down to the first at which a word is needed. Every step makes its own
claims, exact or certified; those that rest on samples share delta.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from kedge.errors import OutOfQueries
from kedge.reading.oracle import Oracle
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.results.removal import Removal
from kedge.search.empty import empty_precision
from kedge.search.keep_zero import shortest_at_keep_zero
from kedge.search.strategies import AUTO, choose_strategy
from kedge.search.strategy import Found, Goal
from kedge.typing import Kept, Minimality, Status

__all__ = ["CLAIMS", "LEVELS", "can_be_harder", "harder_removals", "is_free", "without_questions"]

LEVELS = (0.25, 0.1, 0.05, 0.0)
"""The probabilities that a word stays, below that of the options."""
CLAIMS = 3
"""Claims that may rest on samples and share delta: that no word is needed, the anchor at first, and that at
the last level. That no word is needed is one claim at all levels: a level is claimed only where all
before it were, so that a false claim begins with the first level at which it is false."""


def can_be_harder(reading: Reading) -> bool:
    """Whether the perturbation has a ``keep`` that can be changed."""
    law: Any = reading.perturbation
    return is_dataclass(law) and any(f.name == "keep" for f in fields(law))


def is_free(reading: Reading, found: Found) -> bool:
    """Whether harder removals cost no query: the model is read, or every sample of it is known."""
    return reading.holds_without_queries is not None or found.evaluator.name == "enumeration"


def without_questions(reading: Reading) -> Reading:
    """The same reading, unable to query the model; where all samples are known, that is never needed."""
    holds = reading.holds_without_queries
    if reading.algebra or holds is None:
        return replace(reading, log_odds=None, oracle=Oracle())
    # Scores that only the model's own rounding decides stay open: it cannot be queried.
    return replace(reading, holds=holds, log_odds=None, oracle=Oracle(0))


def harder_removals(
    reading: Reading, baseline: Interval, goal: Goal, seed: int, *, proven: bool = False, again: bool = False
) -> Iterator[Removal]:
    """The label's needs at ever harder removals, down to the first at which it needs a word.

    Parameters
    ----------
    reading
        The document, at the ``keep`` of the options.
    baseline
        What is known of the baseline there.
    goal
        The threshold, and the delta that one claim gets.
    seed
        Of the samples, where there are any.
    proven
        Whether the baseline is free of sampling error.
    again
        Whether its claim is proved again, at the delta of the goal; the estimate stays what it is.
    """
    rng = np.random.default_rng([seed, 3])
    first, sure = reading, True
    try:
        known, exact = empty_precision(reading, goal, rng) if again else (baseline, proven)
        if again and known is not None:
            known = known._replace(mean=min(max(baseline.mean, known.low), known.high))
        while known is not None and _holds_up(known, goal):
            claimed = bool(known.reaches(goal.threshold)) and (sure or exact)
            sure &= claimed
            yield _no_word(reading, known, claimed=claimed, exact=exact)
            harder = next((keep for keep in LEVELS if 0 < keep < reading.keep), None)
            if harder is None:
                if reading.repeatable:  # else the words that stand for others are left to chance
                    yield _without_chance(reading, goal, rng)
                return
            reading = replace(reading, perturbation=replace(reading.perturbation, keep=harder))  # type: ignore[type-var]
            known, exact = empty_precision(reading, goal, rng)
        if known is not None and reading is not first:  # at the first the explanation itself is the answer
            found = choose_strategy(AUTO, reading)(reading, goal, rng)
            told = (found.interval, found.status, found.minimality)
            yield _anchored(reading, reading.keep, known, found.kept, *told)
    except OutOfQueries:
        return  # as far as the queries went


def _holds_up(known: Interval, goal: Goal) -> bool:
    """Whether no word is needed, surely or as far as is known."""
    return known.mean >= goal.threshold and known.reaches(goal.threshold) is not False


def _no_word(reading: Reading, known: Interval, *, claimed: bool, exact: bool) -> Removal:
    status: Status = "estimated" if not claimed else "exact" if exact else "certified"
    return Removal(reading.keep, known, (), (), (), known, status, "shortest" if claimed else "open")


def _without_chance(reading: Reading, goal: Goal, rng: np.random.Generator) -> Removal:
    """With every other word gone: the words that have the label by themselves."""
    held = bool(reading.holds(np.zeros((1, len(reading.units)), dtype=np.int64))[0])
    baseline = Interval.exactly(float(held))
    if held:
        return Removal(0.0, baseline, (), (), (), baseline, "exact", "shortest")
    kept, status, minimality = shortest_at_keep_zero(reading, goal, rng)
    return _anchored(reading, 0.0, baseline, kept, Interval.exactly(1.0), status, minimality)


def _anchored(
    reading: Reading,
    keep: float,
    baseline: Interval,
    kept: Kept,
    interval: Interval,
    status: Status,
    minimality: Minimality,
) -> Removal:
    document, anchor = reading.document, reading.units.anchor(kept)
    words, spans = anchor.words(document), anchor.spans(document)
    return Removal(keep, baseline, words, anchor.positions, spans, interval, status, minimality)
