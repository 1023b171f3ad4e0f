"""The one door: whatever classifier the user has becomes a ``Model``."""

from collections.abc import Callable, Sequence
from typing import Any

from kedge.errors import ModelError, ModelRaised, OptionError
from kedge.model.model import Model, Predictions
from kedge.model.outputs import OUTPUTS, Outputs, read_outputs
from kedge.model.rules import Rule, rule_model
from kedge.model.sklearn import is_pipeline, pipeline_model
from kedge.typing import Label

__all__ = ["as_model"]


def as_model(model: Any, *, outputs: Outputs = "auto", classes: Sequence[Label] | None = None) -> Model:
    """Recognise a classifier.

    Parameters
    ----------
    model
        A callable from a list of texts to labels or numbers, a fitted scikit-learn pipeline on raw
        text, anything else whose ``predict`` takes texts, a rule, or a ``Model``.
    outputs
        What a callable's numbers mean, where that is ambiguous: ``"labels"``, ``"probabilities"``,
        ``"scores"`` or ``"multilabel"``.
    classes
        Names for the columns of a callable's numbers.
    """
    if outputs not in OUTPUTS:
        raise OptionError(f"outputs={outputs!r} is not known; choose one of {', '.join(OUTPUTS)}.")
    if isinstance(model, Model):
        return model
    if isinstance(model, Rule):
        return rule_model(model)
    if is_pipeline(model):
        return pipeline_model(model, outputs)
    if is_pipeline(getattr(model, "best_estimator_", None)):  # a grid search over pipelines
        return pipeline_model(model.best_estimator_, outputs)
    if callable(model):
        return _callable_model(model, outputs, classes)
    if callable(getattr(model, "predict", None)):
        return _estimator_model(model, outputs, classes)
    raise ModelError(
        f"A {type(model).__name__} cannot be explained; pass a function from a list of texts to labels "
        "or probabilities, a fitted scikit-learn Pipeline on raw text, or a kedge rule."
    )


def _callable_model(
    function: Callable[[list[str]], Any], outputs: Outputs, classes: Sequence[Label] | None
) -> Model:
    def predict(texts: Sequence[str]) -> Predictions:
        return read_outputs(function(list(texts)), len(texts), outputs, classes)

    return Model(predict, name=getattr(function, "__name__", type(function).__name__))


def _estimator_model(estimator: Any, outputs: Outputs, classes: Sequence[Label] | None) -> Model:
    """An object with ``predict``, asked as it stands: an ensemble of pipelines, say."""
    kind = type(estimator).__name__

    def predict(texts: Sequence[str]) -> Predictions:
        try:
            raw = estimator.predict(list(texts))
        except Exception as error:
            raise ModelRaised(
                f"{kind}.predict raised {type(error).__name__} on a list of texts; pass a scikit-learn "
                "Pipeline that starts with its vectoriser, or a function from a list of texts to labels."
            ) from error
        return read_outputs(raw, len(texts), outputs, classes)

    return Model(predict, name=kind)
