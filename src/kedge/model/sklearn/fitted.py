"""What a fitted scikit-learn estimator consists of: whether what was read of it is still true."""

import inspect
from collections.abc import Iterable
from types import FunctionType
from typing import Any

__all__ = ["as_written", "makes_dense", "repeat", "state_of"]

# Where TfidfVectorizer keeps its weights, and boosting its trees, or what CatBoost makes anew with its trees.
_MADE_OF = frozenset({"_tfidf", "_predictors", "_Booster", "_prediction_values_change"})


def state_of(estimators: Iterable[Any]) -> tuple[object, ...]:
    """The estimators, and the very objects that are their parameters and fitted attributes now.

    A refit, ``set_params`` or another step puts other objects there. Numbers that change inside an array are
    not seen here: they are read anew for every document.
    """
    found: list[object] = []
    for estimator in estimators:
        found.append(estimator)
        for name, value in vars(estimator).items() if hasattr(estimator, "__dict__") else ():
            # What an estimator notes for itself comes and goes, but for what some are made of.
            if not name.startswith("_") or name in _MADE_OF:
                found += (name, value)
    return tuple(found)


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


def makes_dense(step: Any) -> bool:
    """Whether a step is ``FunctionTransformer(lambda x: x.toarray())``, told by the function's own code."""
    from sklearn.preprocessing import FunctionTransformer

    if type(step) is not FunctionTransformer or step.kw_args:
        return False
    code, known = getattr(step.func, "__code__", None), (lambda x: x.toarray()).__code__
    if code is None or (code.co_flags ^ known.co_flags) & ~inspect.CO_NESTED:  # defined wherever
        return False
    parts = ("co_code", "co_names", "co_argcount", "co_freevars")
    return all(getattr(code, part) == getattr(known, part) for part in parts)


def as_written(estimator: Any) -> bool:
    """Whether the methods of an estimator are those of its class: none was put in place of one later."""
    own = vars(estimator) if hasattr(estimator, "__dict__") else {}
    return not any(callable(getattr(type(estimator), name, None)) for name in own)
