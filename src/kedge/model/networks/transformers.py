"""Transformers text classifiers: pipelines, and pairs of a model and its tokenizer.

Anchors are made of words; word pieces stay the model's own affair. Texts go to the model in batches,
on the device it is on.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kedge.errors import ModelError, OptionError
from kedge.model.answers.outputs import read_outputs
from kedge.model.model import Model, Predictions
from kedge.model.networks.slopes import has_slopes, log_odds, word_slopes
from kedge.model.networks.tokenizers import mask_of, note_of_cut
from kedge.typing import Floats, Label, Span
from kedge.utils.eval_mode import evaluating
from kedge.utils.numerics import logistic
from kedge.utils.sentences import Option

__all__ = ["is_transformers", "transformers_model"]

# A tokenizer that knows no limit says so by an astronomic number.
_NO_LIMIT = 1_000_000


def _is_a(thing: Any, name: str) -> bool:
    """Whether a class of this name from the transformers library is among the thing's classes."""
    return any(
        c.__module__.split(".")[0] == "transformers" and c.__name__ == name for c in type(thing).__mro__
    )


def is_transformers(model: Any) -> bool:
    """Whether this is a pipeline, model or (model, tokenizer) pair of transformers (not imported)."""
    if isinstance(model, tuple) and len(model) == 2:
        return _is_a(model[0], "PreTrainedModel")
    return _is_a(model, "Pipeline") or _is_a(model, "PreTrainedModel")


def transformers_model(given: Any, names: Sequence[Label] | None = None) -> Model:
    """A transformers text classifier as a model of raw text; ``names`` replace those of its labels."""
    if _is_a(given, "PreTrainedModel"):
        raise ModelError(
            f"A {type(given).__name__} alone does not read text; pass the pair (model, tokenizer), or a "
            "text-classification pipeline."
        )
    if isinstance(given, tuple):
        network, tokenizer = given
    elif _is_a(given, "TextClassificationPipeline"):
        network, tokenizer = given.model, given.tokenizer
    else:
        raise ModelError(
            f"A {type(given).__name__} does not classify texts; pass a text-classification pipeline."
        )
    config = network.config
    if "ForSequenceClassification" not in type(network).__name__:
        raise ModelError(
            f"{type(network).__name__} does not classify texts; load it with "
            "AutoModelForSequenceClassification."
        )
    classes = [config.id2label[i] for i in range(config.num_labels)] if names is None else list(names)
    if len(classes) != config.num_labels:
        raise OptionError(
            Option("classes"), f" has {len(classes)} names, but the model has {config.num_labels} labels."
        )
    several = config.problem_type == "multi_label_classification" or config.num_labels == 1
    longest = _longest(tokenizer, config)

    def predict(texts: Sequence[str]) -> Predictions:
        scores = _logits(network, tokenizer, list(texts), longest)
        if several:
            return read_outputs(logistic(scores), len(texts), "multilabel", classes)
        scores = scores - scores.max(axis=1, keepdims=True)
        share = np.exp(scores)
        return read_outputs(share / share.sum(axis=1, keepdims=True), len(texts), "probabilities", classes)

    mask = mask_of(tokenizer)

    def slopes(text: str, spans: Sequence[Span], label: Label, shares: Floats) -> Floats:
        place = classes.index(label)

        def odds(encoded: Any) -> Any:
            scores = network(**encoded).logits[0]
            return scores[place] if several else log_odds(scores, place)

        with evaluating(network):
            return word_slopes(network, tokenizer, odds, text, spans, shares, mask=mask, longest=longest)

    return Model(
        predict,
        type(network).__name__,
        slopes=slopes if has_slopes(network, tokenizer) else None,
        mask=mask,
        notes_for=lambda text: note_of_cut(tokenizer, text, longest),
    )


def _longest(tokenizer: Any, config: Any) -> int | None:
    """How many word pieces the network takes, where that is limited."""
    limit = tokenizer.model_max_length
    if limit < _NO_LIMIT:
        return int(limit)
    places = getattr(config, "max_position_embeddings", None)
    return None if places is None or places < 1 else int(places)


def _logits(network: Any, tokenizer: Any, texts: list[str], longest: int | None) -> Floats:
    import torch

    encoded = tokenizer(
        texts, padding=True, truncation=longest is not None, max_length=longest, return_tensors="pt"
    ).to(network.device)
    with evaluating(network), torch.inference_mode():
        logits = network(**encoded).logits
    return np.asarray(logits.float().cpu().numpy(), dtype=np.float64)
