"""What a fitted scikit-learn estimator consists of: whether what was read of it is still true."""

import inspect
from collections.abc import Iterable, Sequence
from itertools import pairwise
from types import FunctionType
from typing import Any

import numpy as np

__all__ = ["all_as_written", "all_finite", "as_written", "makes_dense", "repeat", "state_of"]

# Where TfidfVectorizer keeps its weights, a ridge its classes, boosting its trees and first score, or what
# CatBoost makes again with its trees.
_MADE_OF = frozenset(
    {
        "_tfidf", "_label_binarizer", "_predictors", "_baseline_prediction", "_Booster",
        "_prediction_values_change",
    }
)  # fmt: skip
_SIMPLE = frozenset({str, int, float, bool, type(None)})
_NUMBERS = _SIMPLE | {np.int64}
_CONTAINERS = frozenset({list, tuple, dict, np.ndarray})
# Words, or numbers, of a longer list are a vocabulary, which is looked into for every document.
_FEW = 64
# What a selector chose its columns by.
_CHOSEN_BY = frozenset({"scores_", "pvalues_"})


def state_of(estimators: Iterable[Any]) -> tuple[object, ...]:
    """The estimators, those inside them, and the very objects that are their parameters and attributes now.

    A refit, ``set_params`` or another step, however deep inside, puts other objects there. Numbers that
    change inside an array are not seen here: they are read again for every document.
    """
    found: list[object] = []
    waiting, seen = list(estimators), set[int]()
    for estimator in waiting:  # which grows on the way
        if id(estimator) in seen:
            continue
        seen.add(id(estimator))
        found.append(estimator)
        for name, value in getattr(estimator, "__dict__", {}).items():
            # What an estimator notes for itself comes and goes, but for what some are made of.
            if name[0] == "_" and name not in _MADE_OF:
                continue
            found += (name, value)
            kind = type(value)
            if kind in _CONTAINERS:
                parts = _flat(value)
                found += parts
                waiting += [part for part in parts if _is_estimator(type(part))]
            elif kind not in _SIMPLE and _is_estimator(kind):
                waiting.append(value)
    return tuple(found)


def _flat(value: Any) -> list[Any]:
    """What a list, a dict or an array of objects holds, with what its own lists hold; no vocabularies."""
    if type(value) is np.ndarray:
        objects: list[Any] = value.ravel().tolist() if value.dtype == object else []
        return objects
    held = value.values() if type(value) is dict else value
    if len(held) > _FEW and type(next(iter(held))) in _NUMBERS:  # not copied: it is long
        return []
    parts = list(held)
    return [*parts, *(one for part in parts if type(part) in _CONTAINERS for one in _flat(part))]


def _is_estimator(kind: type) -> bool:
    """Whether objects of a type have parameters and attributes to look at."""
    return hasattr(kind, "get_params") or (kind.__module__[:8] == "sklearn." and kind.__dictoffset__ != 0)


def repeat(estimators: Iterable[Any]) -> bool:
    """Whether the same question is known to get the same answer: nothing but scikit-learn's own is inside.

    A class or a function of the user's anywhere inside may toss coins.
    """
    for estimator in estimators:
        if makes_dense(estimator):
            continue
        inside = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
        for part in (estimator, *inside):
            if isinstance(part, type) or _scores(part):  # a type of numbers
                continue
            own = type(part).__module__.startswith("sklearn.")
            if callable(part) or (hasattr(part, "get_params") and not own):
                return False
    return True


def _scores(part: Any) -> bool:
    """Whether this is a function by which a selector of scikit-learn chose its columns, once."""
    return isinstance(part, FunctionType) and part.__module__.startswith("sklearn.feature_selection.")


def all_finite(state: Sequence[object]) -> bool:
    """Whether every number that answers are made of is finite: those in the arrays of a ``state_of``.

    A selector's scores are not: they chose its columns, and are no number where a column never changes.
    """
    named = ((name, part) for name, part in pairwise(state) if isinstance(part, np.ndarray))
    chosen = ((isinstance(name, str) and name in _CHOSEN_BY, part) for name, part in named)
    arrays = (part for by, part in chosen if part.dtype.kind == "f" and not by)
    return all(np.isfinite(array).all() for array in arrays)


def makes_dense(step: Any) -> bool:
    """Whether a step is ``FunctionTransformer(lambda x: x.toarray())``, by the function's own code."""
    from sklearn.preprocessing import FunctionTransformer

    if type(step) is not FunctionTransformer or step.kw_args:
        return False
    code, known = getattr(step.func, "__code__", None), (lambda x: x.toarray()).__code__
    if code is None or (code.co_flags ^ known.co_flags) & ~inspect.CO_NESTED:  # defined wherever
        return False
    parts = ("co_code", "co_names", "co_argcount", "co_freevars")
    return all(getattr(code, part) == getattr(known, part) for part in parts)


def as_written(estimator: Any) -> bool:
    """Whether the methods of an estimator are those of its class: none was replaced later."""
    own = getattr(estimator, "__dict__", {})
    return not any(callable(getattr(type(estimator), name, None)) for name in own)


def all_as_written(estimator: Any) -> bool:
    """The same of an estimator and of those inside it."""
    return all(as_written(part) for part in state_of([estimator]) if _is_estimator(type(part)))
