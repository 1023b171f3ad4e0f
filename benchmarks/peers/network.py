"""A small torch network on TF-IDF rows, as a scikit-learn classifier whose weights are plain arrays."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

Weights = dict[str, Any]

HIDDEN, EPOCHS, BATCH, RATE = 32, 8, 32, 3e-3


def module_of(weights: Weights) -> Any:
    """The torch module: words to ``HIDDEN`` rectified units to two scores."""
    import torch

    layers = torch.nn.Sequential(
        torch.nn.Linear(weights["0.weight"].shape[1], HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 2)
    )
    layers.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
    return layers.eval()


def train_weights(rows: Any, labels: Any) -> Weights:
    """Train on sparse rows with Adam; same seed, same weights."""
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    layers = torch.nn.Sequential(
        torch.nn.Linear(rows.shape[1], HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 2)
    )
    optimizer = torch.optim.Adam(layers.parameters(), lr=RATE)
    rng = np.random.default_rng(0)
    for _ in range(EPOCHS):
        order = rng.permutation(rows.shape[0])
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            inputs = torch.tensor(rows[batch].toarray(), dtype=torch.float32)
            loss = torch.nn.functional.cross_entropy(layers(inputs), torch.tensor(labels[batch]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return {name: value.numpy() for name, value in layers.state_dict().items()}


def read_weights(path: Path) -> Weights:
    """Weights that were saved with ``numpy.savez``."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


class Network(ClassifierMixin, BaseEstimator):
    """The module on a vectoriser's rows, with a classifier's methods; trained unless it is given weights."""

    def __init__(self, weights: Weights | None = None) -> None:
        self.weights = weights

    def fit(self, rows: Any, labels: Any) -> "Network":
        """Train, or take the weights that were given."""
        import torch

        torch.set_num_threads(1)
        self.classes_ = np.array([0, 1])
        self.weights_ = train_weights(rows, np.asarray(labels)) if self.weights is None else self.weights
        self.module = module_of(self.weights_)
        return self

    def predict_proba(self, rows: Any) -> Any:
        """(n, 2) probabilities."""
        import torch

        with torch.inference_mode():
            inputs = torch.as_tensor(rows.toarray(), dtype=torch.float32)
            return self.module(inputs).softmax(dim=1).numpy()

    def predict(self, rows: Any) -> Any:
        """(n,) labels."""
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]
