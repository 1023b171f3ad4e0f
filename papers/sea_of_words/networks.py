"""The networks of the paper: feed-forward ReLU on TF-IDF, trained here, seeded and kept on disk.

TF-IDF without normalisation on the 1,000 most frequent words, two log-softmax outputs, Adam, the best
epoch kept, as the authors do. They train on the full batch for 200 to 1,000 epochs; here small
batches reach the same accuracy in a fraction of the time.
"""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

import kedge

from .setting import SEED, split

__all__ = ["LAYERS", "Network", "network"]

FEATURES = 1_000

# Hidden widths: linear layers are one more.
LAYERS = {
    "3 layers": (500, 100),
    "10 layers": tuple(range(900, 0, -100)),
    "20 layers": (1_000, *range(950, 0, -50)),
}

# Passes over the training part, rows per step, and Adam's rate and weight decay.
EPOCHS = {"restaurants": 12, "yelp": 10, "imdb": 3}
BATCH = 50
RATE = 3e-4
DECAY = 1e-4


class Network:
    """A trained network with its vectoriser, and what the experiments ask of it.

    Parameters
    ----------
    vectorizer
        Fitted on the training part.
    module
        The torch module, from TF-IDF to log-probabilities.
    accuracy
        On the held-out part.
    """

    def __init__(self, vectorizer: TfidfVectorizer, module: Any, accuracy: float) -> None:
        self.vectorizer, self.module, self.accuracy = vectorizer, module.eval(), accuracy

    def probabilities(self, texts: Sequence[str]) -> Any:
        """(n, 2) class probabilities."""
        return self._forward(self.vectorizer.transform(list(texts)).toarray())

    def _forward(self, features: Any) -> Any:
        import torch

        with torch.inference_mode():
            return self.module(torch.as_tensor(features, dtype=torch.float32)).exp().double().numpy()

    def weights(self, text: str) -> dict[str, float]:
        """Derivative of the predicted class's probability by each word's TF-IDF, times its IDF."""
        import torch

        words = self.vectorizer.build_analyzer()(text)
        at = self.vectorizer.vocabulary_
        features = torch.tensor(
            self.vectorizer.transform([text]).toarray(), dtype=torch.float32, requires_grad=True
        )
        self.module(features).exp().max().backward()
        gradient = features.grad.numpy()[0].astype(float) * self.vectorizer.idf_
        return {w: float(gradient[at[w]]) if w in at else 0.0 for w in words}

    def model(self) -> kedge.Model:
        """As kedge sees it: it reads counts of the words of its vocabulary, and nothing else."""
        return kedge.as_model(kedge.torch_model(self.module, self.vectorizer))


@cache
def network(data: str, layers: str, share: float, store: Path) -> Network:
    """A trained network, from the disk if it was trained before."""
    import torch

    part = split(data)
    vectorizer = TfidfVectorizer(norm=None, max_features=FEATURES)
    train = torch.tensor(vectorizer.fit_transform(part.train).toarray(), dtype=torch.float32)
    test = torch.tensor(vectorizer.transform(part.test).toarray(), dtype=torch.float32)
    labels, truth = torch.tensor(part.train_labels), torch.tensor(part.test_labels)
    module = _module(LAYERS[layers])
    recipe = repr(
        (data, layers, share, EPOCHS[data], BATCH, RATE, DECAY, SEED, len(train), torch.__version__)
    )
    path = store / f"network-{sha256(recipe.encode()).hexdigest()[:16]}.pt"
    if not path.is_file():
        epochs = max(2, round(EPOCHS[data] * share))
        torch.save(_trained(module, train, labels, test, truth, epochs), path)
    module.load_state_dict(torch.load(path, weights_only=True))
    with torch.inference_mode():
        accuracy = float((module(test).argmax(1) == truth).float().mean())
    return Network(vectorizer, module, accuracy)


def _module(hidden: Sequence[int]) -> Any:
    import torch
    from torch import nn

    widths = (FEATURES, *hidden)
    torch.manual_seed(SEED)
    blocks = [m for a, b in pairwise(widths) for m in (nn.Linear(a, b), nn.ReLU())]
    for block in blocks:
        if isinstance(block, nn.Linear):
            # He's initialisation: with torch's own a network of 20 layers starts out constant.
            nn.init.kaiming_normal_(block.weight, nonlinearity="relu")
    return nn.Sequential(*blocks, nn.Linear(widths[-1], 2), nn.LogSoftmax(dim=1))


def _trained(module: Any, train: Any, labels: Any, test: Any, truth: Any, epochs: int) -> dict[str, Any]:
    """State of the best epoch on the held-out part, as the authors choose it."""
    import torch
    from torch import nn

    optimiser = torch.optim.Adam(module.parameters(), lr=RATE, weight_decay=DECAY)
    loss = nn.NLLLoss()
    rng = np.random.default_rng(SEED)
    best, state = -1.0, {}
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(train)), max(1, len(train) // BATCH)):
            optimiser.zero_grad()
            loss(module(train[rows]), labels[rows]).backward()
            optimiser.step()
        with torch.inference_mode():
            accuracy = float((module(test).argmax(1) == truth).float().mean())
        if accuracy > best:
            best, state = accuracy, {k: v.clone() for k, v in module.state_dict().items()}
    return state
