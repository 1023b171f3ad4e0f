"""The one door: whatever classifier the user has becomes a ``Model``."""

from collections.abc import Callable, Sequence
from typing import Any

from kedge.errors import ModelError, ModelRaised, OptionError
from kedge.model.model import Model, Predictions
from kedge.model.outputs import OUTPUTS, Outputs, read_outputs
from kedge.model.rules import Rule, rule_model
from kedge.model.sklearn import is_pipeline, pipeline_model
from kedge.model.torch import TorchModel, read_torch
from kedge.model.transformers import is_transformers, transformers_model
from kedge.model.weights import WordWeights, weights_model
from kedge.typing import Label

__all__ = ["as_model"]


def as_model(model: Any, *, outputs: Outputs = "auto", classes: Sequence[Label] | None = None) -> Model:
    """Recognise a classifier.

    Parameters
    ----------
    model
        A callable from a list of texts to labels or numbers, a fitted scikit-learn pipeline on raw
        text, a transformers text-classification pipeline or (model, tokenizer) pair, anything else
        whose ``predict`` takes texts, a rule, word weights (``kedge.WordWeights``), or a ``Model`` (see
        ``kedge.torch_model``).
    outputs
        What a callable's numbers mean, where that is ambiguous: ``"labels"``, ``"probabilities"``,
        ``"scores"`` or ``"multilabel"``.
    classes
        Names for the columns of a callable's numbers.
    """
    if outputs not in OUTPUTS:
        raise OptionError(f"outputs={outputs!r} is not known; choose one of {', '.join(OUTPUTS)}.")
    if (pipeline := _pipeline(model, outputs, classes)) is not None:
        return pipeline
    if (recognised := _value(model) or _network(model)) is not None:
        if outputs != "auto" or classes is not None:
            raise OptionError(f"outputs= and classes= say what a function returns; {recognised.name} knows.")
        return recognised
    if callable(model):
        return _callable_model(model, outputs, classes)
    if callable(getattr(model, "predict", None)):
        return _estimator_model(model, outputs, classes)
    raise ModelError(
        f"An object of type {type(model).__name__} cannot be explained; pass a function from a list of texts "
        "to labels or probabilities, a fitted scikit-learn Pipeline on raw text, or a kedge rule."
    )


def _value(model: Any) -> Model | None:
    """Kedge's own: a model, a rule, word weights, a torch module with its vectoriser."""
    if isinstance(model, Model):
        return model
    # The very types: a subclass may answer in another way, and is asked as it stands.
    if type(model) is Rule:
        return rule_model(model)
    if type(model) is WordWeights:
        return weights_model(model)
    return read_torch(model) if isinstance(model, TorchModel) else None


def _pipeline(model: Any, outputs: Outputs, classes: Sequence[Label] | None) -> Model | None:
    """A scikit-learn pipeline, or a grid search over pipelines."""
    best = model if is_pipeline(model) else getattr(model, "best_estimator_", None)
    if not is_pipeline(best):
        return None
    if classes is not None and outputs != "multilabel":
        raise OptionError("A pipeline names its own classes; classes= is for outputs='multilabel' only.")
    return pipeline_model(best, outputs, classes)


def _network(model: Any) -> Model | None:
    """A transformers classifier; a bare torch module is refused."""
    if is_transformers(model):
        return transformers_model(model)
    if is_torch_module(model):
        raise ModelError(
            f"A torch module ({type(model).__name__}) does not read text; pass "
            "kedge.torch_model(module, vectorizer), or a function from a list of texts to its outputs."
        )
    return None


def is_torch_module(model: Any) -> bool:
    """Whether this is a torch module, told without importing torch."""
    return any(c.__module__.startswith("torch.nn") and c.__name__ == "Module" for c in type(model).__mro__)


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
