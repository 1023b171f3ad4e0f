"""The one way in: any classifier becomes a ``Model``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kedge.errors import ModelError, OptionError
from kedge.model.answers.naming import numbered, rename
from kedge.model.answers.outputs import OUTPUTS, Outputs, read_outputs
from kedge.model.black_box import callable_model, estimator_model
from kedge.model.bound_methods import best_of, read_owner
from kedge.model.columns import Row, reads_tables, refuse_tables
from kedge.model.model import Model, Predictions, python_label
from kedge.model.networks.embeddings import embedding_model, is_embedding
from kedge.model.networks.torch import TorchModel, is_torch_module, read_torch
from kedge.model.networks.transformers import is_transformers, transformers_model
from kedge.model.pairs import joined_pair
from kedge.model.rules import Rule, rule_model
from kedge.model.sklearn.fitted import repeat, state_of
from kedge.model.sklearn.pipeline import is_pipeline, pipeline_model, row_model
from kedge.model.weights import WordWeights, weights_model
from kedge.typing import Label
from kedge.utils.sentences import Option

__all__ = ["as_model"]


def as_model(model: Any, *, outputs: Outputs = "auto", classes: Sequence[Label] | None = None) -> Model:
    """Recognise a classifier.

    Parameters
    ----------
    model
        A callable from a list of texts to labels or numbers, a fitted scikit-learn pipeline on raw
        text, one of its methods, a fitted (vectorizer, classifier) pair, a transformers
        text-classification pipeline or (model, tokenizer) pair, a (SentenceTransformer, classifier) pair,
        a SetFit model, anything else whose ``predict`` takes texts, a rule, word weights
        (``kedge.WordWeights``), or a ``Model`` (see ``kedge.torch_model``).
    outputs
        What a callable's numbers mean, where that is ambiguous: ``"labels"``, ``"probabilities"``,
        ``"scores"`` or ``"multilabel"``.
    classes
        Names for the columns of a callable's numbers, or for labels that are numbers: the first is
        for 0, or for the first of the model's own classes.
    """
    if outputs not in OUTPUTS:
        raise OptionError(Option("outputs", outputs), f" is not known; choose one of {', '.join(OUTPUTS)}.")
    if isinstance(model, type):
        raise ModelError(f"{model.__name__} is a class; pass a fitted model of this class.")
    if isinstance(model, (tuple, list)) and not is_transformers(model) and not is_embedding(model):
        model = joined_pair(model)
    columns = False  # whether classes= names the columns of a method's numbers
    again = partial(as_model, model, outputs=outputs, classes=classes)
    if (owner := read_owner(model, outputs)) is not None:
        columns = model.__name__ != "predict"
        model, outputs = owner, "auto"
    if is_pipeline(best := best_of(model)):
        return replace(_pipeline(model, best, outputs, classes, columns=columns), remake=again)
    if (recognised := _value(model, classes) or _network(model, classes)) is not None:
        if outputs != "auto":
            raise OptionError(Option("outputs"), f" says what a function returns; {recognised.name} knows.")
        return recognised if isinstance(model, Model) else replace(recognised, remake=again)
    if callable(model) and not callable(getattr(model, "predict_proba", None)):
        return callable_model(model, outputs, classes)
    if callable(getattr(model, "predict", None)):
        read = _row(model, outputs, classes) if isinstance(model, Row) else None
        return estimator_model(model, outputs, classes) if read is None else replace(read, remake=again)
    raise ModelError(f"An object of type {type(model).__name__} cannot be explained; {_remedy(model)}.")


def _remedy(model: Any) -> str:
    """What to pass instead of something that is no classifier."""
    if isinstance(model, str):
        return (
            "pass the model itself, then the text; a model in a file is loaded first, with joblib.load(path) "
            "or whatever saved it"
        )
    if isinstance(model, Mapping):
        return "the weights of words are passed as kedge.WordWeights(weights)"
    if callable(getattr(model, "transform", None)):
        return (
            "it makes numbers of texts, and a classifier reads them: pass the pair (vectorizer, classifier)"
        )
    return (
        "pass a function from a list of texts to labels or probabilities, a fitted scikit-learn Pipeline on "
        "raw text, or a kedge rule"
    )


def _value(model: Any, classes: Sequence[Label] | None) -> Model | None:
    """Kedge's own: a model, a rule, word weights, a torch module with its vectoriser."""
    if isinstance(model, TorchModel):
        return read_torch(model if classes is None else replace(model, classes=tuple(classes)))
    labels: Sequence[Label] | None
    # Exactly these types: a subclass may answer differently, so it is queried as it is.
    if type(model) is Rule:
        found, labels = rule_model(model), (0, 1)
    elif type(model) is WordWeights:
        found, labels = weights_model(model), model.classes
    elif isinstance(model, Model):
        remake = None if model.is_current else model.remake
        found, labels = model if remake is None else remake(), None
    else:
        return None
    return found if classes is None else rename(found, numbered(classes, labels))


def _pipeline(
    given: Any, pipeline: Any, outputs: Outputs, classes: Sequence[Label] | None, *, columns: bool
) -> Model:
    """A scikit-learn pipeline, or the one that a search over pipelines found."""
    refuse_tables(pipeline)
    final = pipeline.steps[-1][1]
    if not hasattr(final, "predict"):
        raise ModelError(f"This pipeline ends with {type(final).__name__}, not with a classifier; add one.")
    if outputs not in {"auto", "labels"}:
        return pipeline_model(pipeline, outputs, classes)
    return _named(pipeline_model(pipeline, outputs), given, pipeline, classes, columns=columns)


def _row(row: Row, outputs: Outputs, classes: Sequence[Label] | None) -> Model:
    """A model of tables on one row; read where it is a scikit-learn pipeline that can be."""
    pipeline, found = best_of(row.model), None
    if is_pipeline(pipeline) and reads_tables(pipeline) and outputs == "auto":
        found = row_model(pipeline, row.table, row.column, row.put)
    if found is None:
        return replace(estimator_model(row, outputs, classes), name=row.name)
    return replace(_named(found, row, pipeline, classes, columns=False), name=row.name)


def _named(
    found: Model, given: Any, pipeline: Any, classes: Sequence[Label] | None, *, columns: bool
) -> Model:
    """What was read of a pipeline, with the answers of what was given, and with names for its classes."""
    parts = found.parts or tuple

    def own(texts: Sequence[str]) -> Predictions:
        return read_outputs(given.predict(list(texts)), len(texts), "labels")

    repeats = repeat(step for _, step in pipeline.steps if not isinstance(step, str))
    found = replace(found, own=own, repeats=repeats)
    if given is not pipeline:
        found = replace(found, parts=lambda: (*state_of([given]), *parts()))
    if classes is None:
        return found
    known: Any = getattr(pipeline, "classes_", None)
    labels = [python_label(label) for label in known] if getattr(known, "ndim", 0) == 1 else None
    return rename(found, numbered(classes, labels, columns=columns))


def _network(model: Any, classes: Sequence[Label] | None) -> Model | None:
    """A transformers classifier, sentence embeddings with a head; a bare torch module is refused."""
    if is_transformers(model):
        return transformers_model(model, classes)
    if is_embedding(model):
        return embedding_model(model, classes)
    if any(c.__module__ == "spacy.language" and c.__name__ == "Language" for c in type(model).__mro__):
        raise ModelError(
            "A spaCy pipeline gives documents, not labels; pass lambda texts: "
            "[doc.cats for doc in nlp.pipe(texts)]."
        )
    if is_torch_module(model):
        raise ModelError(
            f"A torch module ({type(model).__name__}) does not read text; pass "
            "kedge.torch_model(module, vectorizer), or a function from a list of texts to its outputs."
        )
    return None
