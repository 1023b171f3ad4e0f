"""Which evaluator and which search: the most exact way that the model and the budget allow."""

from dataclasses import dataclass

import numpy as np

from kedge.errors import OptionError
from kedge.precision import Empirical, Enumeration, Precision
from kedge.precision.enumeration import table_size
from kedge.reading import Reading
from kedge.search import Beam, Guided, Search, exhaustive

__all__ = ["METHODS", "PRECISIONS", "Way", "choose"]

METHODS = ("auto", "exhaustive", "guided", "beam")
PRECISIONS = ("auto", "exact", "empirical")

# Rows of counts that a model may be asked about for an exact answer: about a second for a forest.
COUNT_BUDGET = 1 << 14
# Texts that a black box may be asked about for an exact answer: what a sampled search spends.
TEXT_BUDGET = 1 << 11


@dataclass(frozen=True)
class Way:
    """How an explanation will be found."""

    name: str
    precision: Precision
    search: Search


def choose(method: str, precision: str, reading: Reading, rng: np.random.Generator) -> Way:
    """Resolve the names the user gave for this very document."""
    if method == "auto":
        method = "exhaustive" if enumerable(reading) and precision != "empirical" else "guided"
    if method == "guided":
        return Way("guided", Empirical(reading, rng), Guided())
    if method == "exhaustive":
        name, evaluator = _evaluator(precision, reading, rng)
        return Way(f"exhaustive ({name})", evaluator, exhaustive)
    if precision in {"auto", "empirical"}:
        return Way("beam", Empirical(reading, rng, share=True), Beam())
    name, evaluator = _evaluator(precision, reading, rng)
    return Way(f"beam ({name})", evaluator, Beam())


def enumerable(reading: Reading) -> bool:
    """Whether every possible sample can be asked about within reason and the user's limit."""
    budget = COUNT_BUDGET if reading.units.sizes.max() > 1 or reading.algebra else TEXT_BUDGET
    return reading.repeatable and table_size(reading) <= min(budget, reading.oracle.remaining)


def _evaluator(precision: str, reading: Reading, rng: np.random.Generator) -> tuple[str, Precision]:
    if precision == "exact" and not enumerable(reading):
        raise OptionError(
            f"An exact precision would need {table_size(reading):,} questions on this document, more than is "
            "allowed; use precision='auto' or 'empirical'."
        )
    if precision != "empirical" and enumerable(reading):
        return "enumeration", Enumeration(reading)
    return "sampled", Empirical(reading, rng)
