"""Methods of models that can be read: ``pipeline.predict_proba`` says no more than the pipeline itself.

The ``predict`` of a rule stays a function: rules are there to try things out, black boxes included.
"""

import inspect
from typing import Any

from kedge.model.answers.outputs import Outputs
from kedge.model.sklearn.fitted import as_written
from kedge.model.sklearn.heads.linear import head_of
from kedge.model.sklearn.pipeline import is_pipeline, pipeline_model
from kedge.model.weights import WordWeights

__all__ = ["best_of", "read_owner"]

# What a method returns, so that another meaning of the user's is respected.
_MEANS: dict[str, Outputs] = {
    "predict": "labels",
    "predict_proba": "probabilities",
    "predict_log_proba": "scores",
    "decision_function": "scores",
}
_SEARCHES = frozenset({"GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"})


def best_of(model: Any) -> Any:
    """The pipeline that a search over pipelines found best, and uses; else the model as it is.

    The very types: a subclass may answer in another way.
    """
    kind = type(model)
    if kind.__module__.startswith("sklearn.model_selection.") and kind.__name__ in _SEARCHES:
        best = getattr(model, "best_estimator_", None)
        if is_pipeline(best) and as_written(model):
            return best
    return model


def read_owner(method: Any, outputs: Outputs) -> Any | None:
    """The model whose method this is, if reading that model answers as the method does; else None."""
    if not inspect.ismethod(method) or method.__name__ not in _MEANS:
        return None
    owner, name = method.__self__, method.__name__
    if outputs not in {"auto", _MEANS[name]} or name in vars(owner) or not _own(method):
        return None
    if type(owner) is WordWeights:
        return owner
    pipeline = best_of(owner)
    return owner if is_pipeline(pipeline) and _same_labels(pipeline, name) else None


def _own(method: Any) -> bool:
    """Whether the method is as its class was written: not one that was put there later."""
    written = inspect.getattr_static(type(method.__self__), method.__name__, None)
    function = getattr(written, "fn", written)  # scikit-learn's methods that are there if they can be
    home = next((c for c in type(method.__self__).__mro__ if method.__name__ in vars(c)), None)
    return function is method.__func__ and home is not None and function.__module__ == home.__module__


def _same_labels(pipeline: Any, name: str) -> bool:
    """Whether the largest of the method's numbers is what ``predict`` says."""
    final = pipeline.steps[-1][1]
    if name == "predict":
        return True
    if name == "decision_function":
        return head_of(final) is not None
    # Where probabilities come from elsewhere than labels, the model has none to show (see `pipeline_model`).
    return pipeline_model(pipeline).predict([""]).probabilities is not None
