"""Every strategy there is, and the order in which ``auto`` considers them."""

import ast
from dataclasses import fields, replace
from typing import Any, get_args

from kedge.errors import OptionError
from kedge.reading.reading import Reading
from kedge.search.beam import Beam
from kedge.search.exact.branch import Branch
from kedge.search.exact.chain import Chain
from kedge.search.exact.counted import Counted
from kedge.search.exact.lazy import Lazy
from kedge.search.exact.leading import Leading
from kedge.search.exact.ranked import Ranked
from kedge.search.exact.tree import Tree
from kedge.search.exhaustive import Exhaustive
from kedge.search.gradient import Gradient
from kedge.search.guided.guided import Guided
from kedge.search.strategy import EvaluatorName, Strategy
from kedge.utils.sentences import Option

__all__ = [
    "AUTO",
    "EVALUATORS",
    "METHODS",
    "as_strategy",
    "choose_strategy",
    "spell",
    "spelling",
    "strategies_for",
]

# The first that can be used on a reading and suits it.
AUTO: tuple[Strategy, ...] = (
    Ranked(),  # linear scores: exact
    Tree(),  # decision trees and rules: exact
    Branch(),  # other sums over words: exact
    Chain(),  # sums over neighbours: exact
    Leading(),  # the l2 norm, several classes: exact as a rule
    Counted(),  # samples that cost arithmetic only: certified
    Lazy(),  # a few words, any model: exact
    Exhaustive(),  # few enough samples to query all: exact
    Guided(),  # anything: certified
)
# What ``auto`` becomes where an evaluator is given by name.
BY_EVALUATOR: dict[EvaluatorName, tuple[Strategy, ...]] = {
    "auto": AUTO,
    "exact": (Ranked(), Tree(), Branch(), Chain(), Leading(samples=0), Exhaustive(evaluator="exact")),
    "gaussian": (Exhaustive(evaluator="gaussian"), Beam(evaluator="gaussian")),
    "empirical": (Guided(),),
}
EVALUATORS: tuple[EvaluatorName, ...] = get_args(EvaluatorName)
_NAMED: dict[str, Any] = {s.name: type(s) for s in (*AUTO, Gradient(), Beam())}
METHODS = ("auto", *_NAMED)
"""The short forms of ``method=``."""


def strategies_for(
    method: "str | Strategy | tuple[str | Strategy, ...]", evaluator: EvaluatorName = "auto"
) -> tuple[Strategy, ...]:
    """The strategies that ``method=`` and ``evaluator=`` ask for, in the order they are tried."""
    if method == "auto":
        return BY_EVALUATOR[evaluator]
    if method == ():
        raise OptionError(Option("method"), " must have at least one strategy, got none.", value=method)
    several = tuple(map(as_strategy, method if isinstance(method, tuple) else (method,)))
    strategy = several[0]
    if evaluator == "auto":
        return several
    if not isinstance(method, str) or not hasattr(strategy, "evaluator"):
        raise OptionError(
            Option("evaluator", evaluator),
            " is not used by ",
            Option("method", method),
            "; leave it out, or use one of the "
            f"strategies that have it, such as kedge.Exhaustive(evaluator={evaluator!r}).",
        )
    return (replace(strategy, evaluator=evaluator),)  # type: ignore[type-var]


def choose_strategy(strategies: tuple[Strategy, ...], reading: Reading) -> Strategy:
    """The first that can be used and suits, else the first that can be used; else a refusal."""
    usable = None
    for strategy in strategies:
        if strategy.obstacle(reading) is None:
            if strategy.suits(reading):
                return strategy
            usable = usable or strategy
    if usable is not None:
        return usable
    last = strategies[-1]
    raise OptionError(
        Option("method", last.name),
        " ",
        last.obstacle(reading) or "",
        "; use ",
        Option("method", "auto"),
        ".",
    )


def as_strategy(method: "str | Strategy") -> Strategy:
    """A strategy, from a strategy or from its spelling.

    >>> as_strategy("beam(width=4)")
    Beam(width=4, delta=0.1, evaluator='empirical', tolerance=0.15, margin=0.05, batch=10)
    """
    if not isinstance(method, str):
        if all(hasattr(method, name) for name in ("name", "obstacle", "suits")) and callable(method):
            return method
        raise OptionError(
            Option("method"),
            f" must be a name or a strategy such as kedge.Beam(width=4), got {type(method).__name__}.",
            value=method,
        )
    name, knobs = spelling(method)
    if name not in _NAMED:
        raise OptionError(
            Option("method", method),
            f" is not known; choose one of {', '.join(METHODS)}, or a strategy such as kedge.Beam(width=4).",
        )
    kind = _NAMED[name]
    known = [f.name for f in fields(kind)]
    if unknown := sorted(set(knobs) - set(known)):
        there = f"it has {', '.join(known)}" if known else "it has none"
        raise OptionError(f"The method {name!r} has no parameter {unknown[0]!r}; {there}.", option="method")
    strategy: Strategy = kind(**knobs)
    return strategy


def spell(strategy: Strategy) -> str:
    """A strategy as a string: what ``method=`` takes to make it again.

    >>> spell(Beam()), spell(Exhaustive(samples=50, shortlist=True))
    ('beam', 'exhaustive(samples=50, shortlist=True)')
    """
    knobs = fields(strategy) if type(strategy) in _NAMED.values() else ()  # type: ignore[arg-type]
    changed = [f"{f.name}={v!r}" for f in knobs if (v := getattr(strategy, f.name)) != f.default]
    return f"{strategy.name}({', '.join(changed)})" if changed else strategy.name


def spelling(spelled: str) -> tuple[str, dict[str, Any]]:
    """The name and the knobs of a spelled strategy; a name alone, or a user's own, has no knobs.

    >>> spelling("exhaustive(samples=50)")
    ('exhaustive', {'samples': 50})
    """
    if "(" not in spelled or spelled.partition("(")[0] not in _NAMED:
        return spelled, {}
    try:
        call = ast.parse(spelled, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            return call.func.id, {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    raise OptionError(Option("method", spelled), " cannot be read; write it as in beam(width=4).")
