"""The gradient of scikit-learn's MLPClassifier, which does not give one itself."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kedge.model.model import python_label
from kedge.model.sklearn.words.features import Features
from kedge.typing import Floats, Label
from kedge.utils.numerics import logistic

__all__ = ["is_mlp", "mlp_gradient"]

# The hidden layers' activations as scikit-learn names them, and their derivatives in terms of their values.
_SLOPES: dict[str, Callable[[Floats], Floats]] = {
    "identity": np.ones_like,
    "logistic": lambda a: a * (1 - a),
    "tanh": lambda a: 1 - a**2,
    "relu": lambda a: (a > 0).astype(np.float64),
}


_ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "identity": lambda z: z,
    "logistic": logistic,
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0),
}


def is_mlp(final: Any) -> bool:
    """Whether this is scikit-learn's own multi-layer perceptron with one label per text."""
    kind = type(final)
    own = kind.__module__.startswith("sklearn.") and kind.__name__ == "MLPClassifier"
    return own and final.out_activation_ in {"logistic", "softmax"} and final.classes_.ndim == 1


def mlp_gradient(features: Features, final: Any, x: Any, words: Sequence[str], label: Label) -> Floats:
    """(d,) derivative of the label's log-odds by each word's input, times its IDF.

    ``x`` (1, V) is the document's row of features. The paper takes the gradient of the predicted
    class's probability p; that of its log-odds is the same divided by p (1 - p), and ranks alike.
    """
    values = [np.asarray(x.todense() if hasattr(x, "todense") else x, dtype=np.float64)]
    for layer, (weights, bias) in enumerate(zip(final.coefs_, final.intercepts_, strict=True)):
        z = values[-1] @ weights + bias
        last = layer == len(final.coefs_) - 1
        values.append(z if last else _ACTIVATIONS[final.activation](z))
    back = _log_odds_slope(values[-1], [python_label(c) for c in final.classes_.tolist()], label)
    for layer in range(len(final.coefs_) - 1, -1, -1):
        back = back @ final.coefs_[layer].T
        if layer:
            back = back * _SLOPES[final.activation](values[layer])
    columns = features.columns(words)
    gradient: Floats = back[0, columns] * features.scale(columns)
    return gradient


def _log_odds_slope(z: Floats, classes: list[Label], label: Label) -> Floats:
    """Derivative of ln p/(1-p) of the label by the outputs z (1, k); one output stands for two classes."""
    place = classes.index(label)
    if z.shape[1] == 1:
        return np.array([[1.0 if place == 1 else -1.0]])
    others = np.delete(np.arange(len(classes)), place)
    slope = np.zeros_like(z)
    slope[0, place] = 1.0
    rest = np.exp(z[0, others] - z[0, others].max())
    slope[0, others] = -rest / rest.sum()
    return slope
