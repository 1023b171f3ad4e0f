"""Torch modules over a scikit-learn vectoriser: the networks of the paper, and anything shaped like them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.errors import MissingDependency, ModelError, OptionError
from kedge.model.answers.outputs import read_outputs
from kedge.model.model import Model, Predictions
from kedge.model.sklearn.fitted import state_of
from kedge.model.sklearn.locating import is_local, keeps_apart, locate_words
from kedge.model.sklearn.words.features import count_features, features_of, finds_words
from kedge.typing import Counts, Floats, Label
from kedge.utils.eval_mode import evaluating
from kedge.utils.numerics import logistic
from kedge.utils.sentences import Option

__all__ = ["TorchModel", "is_torch_module", "read_torch", "torch_model"]

# What a module's numbers may be said to mean.
_OUTPUTS = ("auto", "scores", "probabilities")
# Rows of float32 softmax outputs sum to one within a few 1e-6; anything beyond 1e-3 is not rounding.
_SUM = 1e-3


@dataclass(frozen=True)
class TorchModel:
    """A torch module and its vectoriser: what ``torch_model`` gives and ``as_model`` understands."""

    module: Any
    vectorizer: Any
    classes: tuple[Label, ...] | None = None
    outputs: str = "auto"


def torch_model(
    module: Any, vectorizer: Any, *, classes: Sequence[Label] | None = None, outputs: str = "auto"
) -> TorchModel:
    """A torch module that classifies a vectoriser's rows, as a model of raw text.

    Parameters
    ----------
    module
        From a float tensor (n, V) to scores (logits or log-probabilities) or probabilities, (n, k); or
        to one number per text, (n,) or (n, 1), for the second of two classes. It is queried in
        evaluation mode, on the device and in the precision of its parameters.
    vectorizer
        A fitted CountVectorizer or TfidfVectorizer of single words.
    classes
        Names of the classes in the order of the columns; 0..k-1 without them.
    outputs
        ``"scores"``, ``"probabilities"``, or ``"auto"`` for two columns and more, where rows that are
        positive and sum to one are probabilities.
    """
    torch = _torch()
    if not isinstance(module, torch.nn.Module):
        raise ModelError(f"torch_model needs a torch.nn.Module, got a {type(module).__name__}.")
    if outputs not in _OUTPUTS:
        raise OptionError(Option("outputs", outputs), f" is not known; choose one of {', '.join(_OUTPUTS)}.")
    if not hasattr(vectorizer, "vocabulary_"):
        raise ModelError(
            f"torch_model needs a fitted CountVectorizer or TfidfVectorizer, but this "
            f"{type(vectorizer).__name__} has no vocabulary; call vectorizer.fit(texts) first."
        )
    return TorchModel(module, vectorizer, None if classes is None else tuple(classes), outputs)


def read_torch(given: TorchModel) -> Model:
    """A torch module over a vectoriser as a model of raw text."""
    torch = _torch()
    module, vectorizer, classes, outputs = given.module, given.vectorizer, given.classes, given.outputs

    def forward(x: Any, *, slope: bool = False) -> Any:
        rows = np.asarray(x.todense() if hasattr(x, "todense") else x)
        first = next(module.parameters(), None)
        where = {} if first is None else {"device": first.device, "dtype": first.dtype}
        tensor = torch.as_tensor(rows, **where)
        with evaluating(module):
            if slope:
                tensor.requires_grad_(requires_grad=True)
                return tensor, module(tensor)
            with torch.inference_mode():
                return module(tensor)

    def answer(x: Any) -> Predictions:
        numbers = np.asarray(forward(x).detach().cpu().numpy(), dtype=np.float64)
        return read_outputs(_probabilities(numbers, outputs), x.shape[0], "probabilities", classes)

    def predict(texts: Sequence[str]) -> Predictions:
        return answer(vectorizer.transform(texts))

    def parts() -> tuple[object, ...]:
        return state_of([vectorizer])  # the module's numbers are read again for every document

    name = f"{type(vectorizer).__name__} + {type(module).__name__}"
    features = features_of([vectorizer])
    if features is None or not finds_words(vectorizer) or tuple(vectorizer.ngram_range) != (1, 1):
        return Model(predict, name, parts=parts)

    def from_counts(words: Sequence[str]) -> Callable[[Counts], Predictions]:
        columns = features.columns(words)
        return lambda counts: answer(count_features(vectorizer, columns, counts))

    def gradient(words: Sequence[str], counts: Counts, label: Label) -> Floats:
        columns = features.columns(words)
        tensor, out = forward(count_features(vectorizer, columns, counts[None]), slope=True)
        k = 2 if out.ndim == 1 or out.shape[1] == 1 else out.shape[1]
        names = tuple(range(k)) if classes is None else tuple(classes)
        _log_odds(out, names.index(label), outputs).backward()
        slope = tensor.grad[0].double().cpu().numpy()
        by_word: Floats = slope[columns] * features.scale(columns)
        return by_word

    return Model(
        predict,
        name,
        tokenize=lambda text: locate_words(vectorizer, text),
        keeps_apart=lambda text: keeps_apart(vectorizer, text),
        local=is_local(vectorizer),
        reads=vectorizer.vocabulary_.__contains__,
        from_counts=from_counts,
        gradient=gradient,
        parts=parts,
    )


def is_torch_module(model: Any) -> bool:
    """Whether this is a torch module, without importing torch."""
    return any(c.__module__.startswith("torch.nn") and c.__name__ == "Module" for c in type(model).__mro__)


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingDependency(
            "This needs torch, which is not installed; install it with: pip install 'kedge[torch]'."
        ) from None
    return torch


def _are_probabilities(numbers: Floats, outputs: str) -> bool:
    """Whether the module's numbers are probabilities already."""
    if outputs != "auto":
        return outputs == "probabilities"
    if numbers.ndim == 1 or numbers.shape[1] == 1:
        raise ModelError(
            "The module gives one number per text, which can be read in two ways: say ",
            Option("outputs", "scores"),
            " if positive means the second class, or ",
            Option("outputs", "probabilities"),
            ".",
        )
    return bool((numbers >= 0).all() and np.abs(numbers.sum(axis=1) - 1).max() <= _SUM)


def _probabilities(numbers: Floats, outputs: str) -> Floats:
    """Class probabilities, whatever form the module gives them in."""
    from scipy.special import softmax

    if _are_probabilities(numbers, outputs):
        return numbers
    if numbers.ndim == 1 or numbers.shape[1] == 1:
        return logistic(numbers)
    # Of log-probabilities the softmax is the probabilities themselves.
    return np.asarray(softmax(numbers, axis=1), dtype=np.float64)


def _log_odds(out: Any, place: int, outputs: str) -> Any:
    """The label's log-odds of one row, differentiable."""
    import torch

    numbers = out.detach().cpu().numpy()
    if numbers.ndim == 1 or numbers.shape[1] == 1:
        z = torch.logit(out.reshape(-1)[0]) if outputs == "probabilities" else out.reshape(-1)[0]
        return z if place == 1 else -z
    z = torch.log(out[0]) if _are_probabilities(numbers, outputs) else out[0]
    others = torch.cat([z[:place], z[place + 1 :]])
    return z[place] - torch.logsumexp(others, dim=0)
