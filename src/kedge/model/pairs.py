"""Parts of a classifier that belong together: a vectoriser and what it was fitted with."""

from collections.abc import Sequence
from typing import Any

from kedge.errors import ModelError
from kedge.model.networks.torch import is_torch_module, torch_model

__all__ = ["joined_pair"]


def joined_pair(parts: Sequence[Any]) -> Any:
    """A fitted vectoriser and classifier, in either order, as the pipeline of the two.

    More steps are welcome in the order of a pipeline; a torch module may stand for the classifier.
    """
    steps = list(parts)
    if len(steps) == 2 and _predicts(steps[0]) and not _predicts(steps[1]):
        steps.reverse()
    *before, final = steps or [None]
    if before and all(callable(getattr(step, "transform", None)) for step in before):
        if is_torch_module(final) and len(before) == 1:
            return torch_model(final, before[0])
        if callable(getattr(final, "predict", None)):
            from sklearn.pipeline import make_pipeline

            return make_pipeline(*steps)
    kinds = ", ".join(type(part).__name__ for part in parts)
    raise ModelError(
        f"A {type(parts).__name__} of ({kinds}) cannot be explained; pass a fitted (vectorizer, classifier) "
        "pair, or a (model, tokenizer) pair of transformers."
    )


def _predicts(part: Any) -> bool:
    return is_torch_module(part) or callable(getattr(part, "predict", None))
