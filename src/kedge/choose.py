"""Which evaluator and which search: the most exact way that the model and the budget allow."""

from dataclasses import dataclass

import numpy as np

from kedge.errors import OptionError
from kedge.oracle import RECHECKED
from kedge.precision import Additive, Empirical, Enumeration, Gaussian, Leaves, Precision
from kedge.precision.enumeration import table_size
from kedge.reading import Reading
from kedge.search import Beam, Counted, Gradient, Search, branch, exhaustive, lazy, linear, tree
from kedge.typing import Kept

__all__ = ["METHODS", "PRECISIONS", "Way", "choose", "enumerable", "question_budget"]

METHODS = ("auto", "exhaustive", "ranked", "branch", "guided", "gradient", "beam")
PRECISIONS = ("auto", "exact", "gaussian", "empirical")

# Rows of counts that a model may be asked about for an exact answer: about a second for a forest.
COUNT_BUDGET = 1 << 14
# Rows of counts when that is plain arithmetic: about as long.
ALGEBRA_BUDGET = 1 << 17
# Texts that a black box may be asked about for an exact answer: what a sampled search spends.
TEXT_BUDGET = 1 << 11
# The share of all texts that the lazy search asks about, on documents of seven or eight words.
LAZY = 0.6


@dataclass(frozen=True)
class Way:
    """How an explanation will be found."""

    name: str
    precision: Precision
    search: Search
    notes: tuple[str, ...] = ()


def choose(method: str, precision: str, reading: Reading, rng: np.random.Generator) -> Way:
    """Resolve the names the user gave for this very document."""
    if precision in {"auto", "exact"} and (way := _inside(method, reading)) is not None:
        return way
    _refuse(method, precision)
    if precision == "gaussian":
        approximate = Gaussian(reading)
        few = method == "exhaustive" or (method == "auto" and table_size(reading) <= COUNT_BUDGET)
        name, search = ("exhaustive", exhaustive) if few else ("beam", Beam())
        return Way(f"{name} (gaussian)", approximate, search, approximate.notes)
    if method == "auto" and precision == "auto" and (short := _short_cut(reading, rng)) is not None:
        return short
    if method == "auto":
        few = precision == "auto" and enumerable(reading) and (reading.counted or _few_texts(reading, 1.0))
        method = "exhaustive" if few or precision == "exact" else "guided"
    if method == "guided":
        from kedge.search.guided import Guided

        return Way("guided", Empirical(reading, rng), Guided())
    if method == "beam" and precision in {"auto", "empirical"}:
        return Way("beam", Empirical(reading, rng, share=True), Beam())
    name, evaluator = _evaluator(precision, reading, rng)
    searches: dict[str, Search] = {"exhaustive": exhaustive, "gradient": Gradient(), "beam": Beam()}
    return Way(f"{method} ({name})", evaluator, searches[method])


def _refuse(method: str, precision: str) -> None:
    """Refuse what the document's model cannot do, or what contradicts itself."""
    if method in {"ranked", "branch"}:
        needed = "linear in the word counts" if method == "ranked" else "a sum over words, or a decision tree"
        raise OptionError(
            f"method={method!r} needs a model whose score is {needed}, and its exact precision; use "
            "method='auto'."
        )
    if method == "guided" and precision not in {"auto", "empirical"}:
        raise OptionError(
            f"method='guided' proves its answer with samples of the model and has no use for "
            f"precision={precision!r}; leave precision= out."
        )
    if method == "gradient" and precision == "gaussian":
        raise OptionError("method='gradient' takes precision='auto', 'exact' or 'empirical', not 'gaussian'.")


def _inside(method: str, reading: Reading) -> Way | None:
    """The exact search for a model whose inside is known, if ``method`` allows one."""
    score = reading.additive
    if score is not None and score.linear and method in {"auto", "ranked"}:
        return Way("ranked (convolution)", Additive(reading), linear)
    if reading.leaves is not None and method in {"auto", "branch"}:
        return Way("branch (leaves)", Leaves(reading), tree)
    # A small table of all samples is quicker than branches.
    if score is not None and (method == "branch" or (method == "auto" and not enumerable(reading))):
        return Way("branch (convolution)", Additive(reading), branch)
    return None


def _short_cut(reading: Reading, rng: np.random.Generator) -> Way | None:
    """Samples where they cost arithmetic only; few texts asked about as needed; None: neither."""
    if reading.algebra and not enumerable(reading):
        return Way("ranked (sampled counts)", Empirical(reading, rng), Counted())
    if not reading.counted and reading.keep == 0.5 and enumerable(reading) and _few_texts(reading, LAZY):
        return Way("exhaustive (as needed)", Enumeration(reading), lazy)
    return None


def _few_texts(reading: Reading, share: float) -> bool:
    """Whether asking about a share of all texts is no more than the guided search would ask.

    On a short document that is a pool and the shortest proof.
    """
    pool = 1.3 * len(reading.units) + 16 if reading.log_odds is not None else 192
    return share * table_size(reading) <= pool + 67


def question_budget(reading: Reading) -> int:
    """How many questions an exact answer may cost: arithmetic is cheap, counts less so, texts are not."""
    if reading.algebra:
        return ALGEBRA_BUDGET
    return COUNT_BUDGET if reading.counted else TEXT_BUDGET


def enumerable(reading: Reading, kept: Kept = ()) -> bool:
    """Whether every sample given an anchor can be asked about within reason and the user's limit."""
    size = table_size(reading, kept)
    if not reading.repeatable or size > question_budget(reading):
        return False
    if reading.counted:
        return reading.algebra or size <= reading.oracle.remaining
    # The document itself is known; the first few texts may be asked about twice.
    return size - 1 <= reading.oracle.remaining - RECHECKED


def _number(size: int) -> str:
    return f"{size:,}" if size < 1 << 40 else "countless"


def _evaluator(precision: str, reading: Reading, rng: np.random.Generator) -> tuple[str, Precision]:
    if precision != "empirical":
        if enumerable(reading):
            return "enumeration", Enumeration(reading)
        if reading.leaves is not None:
            return "leaves", Leaves(reading)
        if reading.additive is not None:
            return "convolution", Additive(reading)
    if precision == "exact":
        raise OptionError(
            f"An exact precision would need {_number(table_size(reading))} questions on this document, more "
            "than is allowed; use precision='auto' or 'empirical'."
        )
    return "sampled", Empirical(reading, rng)
