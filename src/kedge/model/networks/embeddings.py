"""Sentence embeddings with a linear head: (SentenceTransformer, LogisticRegression) pairs, and SetFit models.

They are queried as their users do it. Their gradient goes through the head and the encoder to the words.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kedge.errors import ModelError, OptionError
from kedge.model.answers.outputs import read_outputs
from kedge.model.model import Model, Predictions, python_label
from kedge.model.networks.slopes import has_slopes, log_odds, word_slopes
from kedge.model.networks.tokenizers import mask_of, note_of_cut
from kedge.typing import Floats, Label, Span
from kedge.utils.eval_mode import evaluating
from kedge.utils.sentences import Option

__all__ = ["embedding_model", "is_embedding"]


@dataclass(frozen=True)
class _Parts:
    """An encoder, its head, and how the two are queried for labels or probabilities."""

    encoder: Any
    head: Any
    ask: Callable[[list[str]], Any]
    probabilities: bool
    classes: tuple[Label, ...] | None
    normalised: bool
    name: str


def is_embedding(model: Any) -> bool:
    """Whether this is a SetFit model, or an encoder of sentence-transformers with a head (not imported)."""
    if isinstance(model, (tuple, list)):
        return len(model) == 2 and sum(map(_encodes, model)) == 1
    return _is_a(model, "setfit", "SetFitModel")


def embedding_model(given: Any, names: Sequence[Label] | None = None) -> Model:
    """Sentence embeddings with a head as a model of raw text; ``names`` replace those of its labels."""
    parts = _setfit(given) if not isinstance(given, (tuple, list)) else _pair(given)
    classes = parts.classes
    if names is not None:
        if classes is not None and len(names) != len(classes):
            raise OptionError(
                Option("classes"), f" has {len(names)} names, but the model has {len(classes)} labels."
            )
        classes = tuple(names)
    encoder, tokenizer, network = parts.encoder, _tokenizer(parts.encoder), _network(parts.encoder)
    longest = getattr(encoder, "max_seq_length", None)

    def predict(texts: Sequence[str]) -> Predictions:
        with evaluating(encoder):
            raw = parts.ask(list(texts))
        return read_outputs(raw, len(texts), "probabilities" if parts.probabilities else "labels", classes)

    if network is None or tokenizer is None:
        return Model(predict, parts.name)
    mask = mask_of(tokenizer)
    model = Model(
        predict,
        parts.name,
        mask=mask,
        notes_for=lambda text: note_of_cut(tokenizer, text, longest),
    )
    linear = _linear(parts.head)
    if linear is None or classes is None or not has_slopes(network, tokenizer):
        return model

    def slopes(text: str, spans: Sequence[Span], label: Label, shares: Floats) -> Floats:
        place = classes.index(label)

        def odds(encoded: Any) -> Any:
            return log_odds(_scores(encoder, linear, encoded, normalised=parts.normalised), place)

        with evaluating(encoder):
            return word_slopes(network, tokenizer, odds, text, spans, shares, mask=mask, longest=longest)

    return replace(model, slopes=slopes)


def _pair(given: Sequence[Any]) -> _Parts:
    encoder, head = given if _encodes(given[0]) else reversed(given)
    how = next((n for n in ("predict_proba", "predict") if callable(getattr(head, n, None))), None)
    if how is None:
        raise ModelError(
            f"A {type(head).__name__} behind a {type(encoder).__name__} does not classify; pass the pair "
            "(encoder, classifier)."
        )
    classify = getattr(head, how)

    def ask(texts: list[str]) -> Any:
        return classify(encoder.encode(texts, show_progress_bar=False))

    known = getattr(head, "classes_", None)
    classes = None if known is None else tuple(python_label(label) for label in known)
    name = f"{type(encoder).__name__} + {type(head).__name__}"
    return _Parts(encoder, head, ask, how == "predict_proba", classes, normalised=False, name=name)


def _setfit(model: Any) -> _Parts:
    head = model.model_head
    if getattr(model, "multi_target_strategy", None) is not None:
        raise ModelError(
            "A SetFit model of several labels at once is passed as a function: lambda texts: "
            "model.predict_proba(texts, as_numpy=True), with outputs='multilabel'."
        )

    def ask(texts: list[str]) -> Any:
        return model.predict_proba(texts, as_numpy=True, show_progress_bar=False)

    known: Any = model.labels
    if known is None:
        known = getattr(head, "classes_", None)
    if known is None and (linear := _linear(head)) is not None:
        known = range(len(linear[1]))
    classes = None if known is None else tuple(python_label(label) for label in known)
    normalised = bool(getattr(model, "normalize_embeddings", False))
    return _Parts(model.model_body, head, ask, True, classes, normalised, type(model).__name__)


def _is_a(thing: Any, package: str, name: str) -> bool:
    return any(c.__module__.split(".")[0] == package and c.__name__ == name for c in type(thing).__mro__)


def _encodes(thing: Any) -> bool:
    return _is_a(thing, "sentence_transformers", "SentenceTransformer")


def _tokenizer(encoder: Any) -> Any:
    return getattr(encoder, "tokenizer", None)


def _network(encoder: Any) -> Any:
    """The transformer inside an encoder, None where it begins with something else."""
    return getattr(encoder[0], "auto_model", None)


def _linear(head: Any) -> tuple[Floats, Floats] | None:
    """(k, d) coefficients and (k,) intercepts of a linear head, k = 1 for two classes; None if it is none."""
    if hasattr(head, "coef_") and hasattr(head, "intercept_"):
        coef, intercept = np.asarray(head.coef_), np.atleast_1d(head.intercept_)
    elif hasattr(head, "linear"):  # SetFit's own
        coef = head.linear.weight.detach().double().cpu().numpy()
        intercept = head.linear.bias.detach().double().cpu().numpy()
    else:
        return None
    return (coef, intercept) if coef.ndim == 2 and len(coef) == len(intercept) else None


def _scores(encoder: Any, linear: tuple[Floats, Floats], encoded: Any, *, normalised: bool) -> Any:
    """(k,) the head's scores of one text, differentiable; of two classes both."""
    import torch

    embedding = encoder(dict(encoded))["sentence_embedding"][0]
    if normalised:
        embedding = torch.nn.functional.normalize(embedding, dim=0)
    coef, intercept = (torch.as_tensor(part).to(embedding) for part in linear)
    scores = coef @ embedding + intercept
    return torch.stack([torch.zeros_like(scores[0]), scores[0]]) if len(scores) == 1 else scores
