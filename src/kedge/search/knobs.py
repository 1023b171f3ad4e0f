"""The knob that several strategies share: which evaluation function judges the anchors."""

from typing import Any

import numpy as np

from kedge.errors import OptionError
from kedge.evaluators import Additive, Chained, Empirical, Enumeration, Evaluator, Gaussian, Leaves
from kedge.evaluators.affordable import enumerable
from kedge.evaluators.enumeration import table_size
from kedge.evaluators.gaussian import has_gaussian
from kedge.reading.reading import Reading
from kedge.search.strategy import EvaluatorName
from kedge.utils.sentences import Option, Sentence

__all__ = ["check_at_least", "check_evaluator", "evaluator_obstacle", "make_evaluator"]


def check_evaluator(strategy: Any, allowed: tuple[EvaluatorName, ...]) -> None:
    """Refuse an evaluator that a strategy cannot work with."""
    if strategy.evaluator not in allowed:
        raise OptionError(
            f"The method {strategy.name!r} takes ",
            Option("evaluator"),
            f" {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}, not {strategy.evaluator!r}.",
            value=strategy.evaluator,
        )


def check_at_least(name: str, value: object, least: int = 1) -> None:
    """Refuse anything but a whole number of at least ``least``."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or int(value) < least:  # type: ignore[call-overload]
        raise OptionError(
            Option(name), f" must be a whole number of at least {least}, got {value!r}.", value=value
        )


def evaluator_obstacle(name: EvaluatorName, reading: Reading) -> str | None:
    """Why a reading has no such evaluator; None where it has."""
    if name == "gaussian" and not has_gaussian(reading):
        return Sentence(
            "with ",
            Option("evaluator", "gaussian"),
            " needs a linear model of two classes on word counts or TF-IDF; use ",
            Option("evaluator", "auto"),
        )
    if name == "exact" and not _computable(reading):
        size = table_size(reading)
        number = f"{size:,}" if size < 1 << 40 else "countless"
        return Sentence(
            "with ",
            Option("evaluator", "exact"),
            f" would take {number} queries for this document, more than is allowed",
        )
    return None


def make_evaluator(name: EvaluatorName, reading: Reading, rng: np.random.Generator) -> Evaluator:
    """The evaluator of that name, ``"auto"`` being the most exact there is."""
    if name == "gaussian":
        return Gaussian(reading)
    if name != "empirical":
        if enumerable(reading):
            return Enumeration(reading)
        if reading.leaves is not None:
            return Leaves(reading)
        if reading.additive is not None:
            return Additive(reading)
        if reading.chain is not None:
            return Chained(reading)
    return Empirical(reading, rng)


def _computable(reading: Reading) -> bool:
    inside = (reading.leaves, reading.additive, reading.chain)
    return any(known is not None for known in inside) or enumerable(reading)
