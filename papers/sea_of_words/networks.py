"""The networks of the paper: feed-forward ReLU on TF-IDF, trained here, seeded and kept on disk.

TF-IDF without normalisation on the 1,000 most frequent words, two log-softmax outputs, Adam on the
full batch, the best epoch on the held-out part kept: the authors' own recipes, initialisation, seed
and split, so that the networks come out close to theirs. One has a recipe of its own: see ``RECIPES``.
"""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import kedge

from .setting import SEED, split

__all__ = ["LAYERS", "Network", "logistic_accuracy", "network"]

FEATURES = 1_000

# Hidden widths: linear layers are one more.
LAYERS = {
    "3 layers": (500, 100),
    "10 layers": tuple(range(900, 0, -100)),
    "20 layers": (1_000, *range(950, 0, -50)),
}

# Adam's rate and weight decay, epochs, and steps in each epoch, as in the authors' training scripts.
# IMDB is ten times the size of the others: an epoch is ten steps of the same size there, as many steps
# in all. With 20 layers it then stays constant; that network starts from He's initialisation instead
# of torch's, with smaller steps on batches of 50.
RECIPES = {
    ("3 layers", "restaurants"): (1e-3, 1e-1, 1_000, 1),
    ("3 layers", "yelp"): (1e-2, 1e-2, 1_000, 1),
    ("3 layers", "imdb"): (1e-3, 1e-1, 50, 10),
    ("10 layers", "restaurants"): (1e-4, 1e-4, 100, 1),
    ("10 layers", "yelp"): (1e-3, 1e-5, 100, 1),
    ("10 layers", "imdb"): (1e-2, 1e-5, 20, 10),
    ("20 layers", "restaurants"): (1e-3, 1e-10, 200, 1),
    ("20 layers", "yelp"): (1e-3, 1e-8, 200, 1),
    ("20 layers", "imdb"): (3e-4, 1e-12, 3, 150),
}
HE = ("20 layers", "imdb")
# Once a network does better than guessing, a better epoch is waited for so long.
GUESSING, WAIT = 0.7, 50


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
    module = _module(LAYERS[layers], he=(layers, data) == HE)
    recipe = RECIPES[layers, data]
    facts = repr((data, layers, share, recipe, SEED, len(train), torch.__version__))
    path = store / f"network-{sha256(facts.encode()).hexdigest()[:16]}.pt"
    if not path.is_file():
        torch.save(_trained(module, train, labels, test, truth, recipe, share), path)
    module.load_state_dict(torch.load(path, weights_only=True))
    with torch.inference_mode():
        accuracy = float((module(test).argmax(1) == truth).float().mean())
    return Network(vectorizer, module, accuracy)


@cache
def logistic_accuracy(data: str) -> float:
    """What a logistic model reaches on the same words: the yardstick of the networks."""
    part = split(data)
    vectorizer = TfidfVectorizer(norm=None, max_features=FEATURES)
    head = LogisticRegression(solver="liblinear").fit(vectorizer.fit_transform(part.train), part.train_labels)
    return float(head.score(vectorizer.transform(part.test), part.test_labels))


def _module(hidden: Sequence[int], *, he: bool) -> Any:
    import torch
    from torch import nn

    widths = (FEATURES, *hidden)
    torch.manual_seed(SEED)
    blocks = [m for a, b in pairwise(widths) for m in (nn.Linear(a, b), nn.ReLU())]
    for block in blocks if he else ():
        if isinstance(block, nn.Linear):
            nn.init.kaiming_normal_(block.weight, nonlinearity="relu")
    return nn.Sequential(*blocks, nn.Linear(widths[-1], 2), nn.LogSoftmax(dim=1))


def _trained(
    module: Any,
    train: Any,
    labels: Any,
    test: Any,
    truth: Any,
    recipe: tuple[float, float, int, int],
    share: float,
) -> dict[str, Any]:
    """State of the best epoch on the held-out part, as the authors choose it."""
    import torch
    from torch import nn

    rate, decay, epochs, batches = recipe
    optimiser = torch.optim.Adam(module.parameters(), lr=rate, weight_decay=decay)
    loss = nn.NLLLoss()
    rng = np.random.default_rng(SEED)
    best, at, state = -1.0, 0, {}
    for epoch in range(max(1, round(share * epochs))):
        mixed = np.arange(len(train)) if batches == 1 else rng.permutation(len(train))
        for rows in np.array_split(mixed, batches):
            optimiser.zero_grad()
            loss(module(train[rows]), labels[rows]).backward()
            optimiser.step()
        with torch.inference_mode():
            accuracy = float((module(test).argmax(1) == truth).float().mean())
        if accuracy > best:
            best, at = accuracy, epoch
            state = {k: v.clone() for k, v in module.state_dict().items()}
        if best > GUESSING and epoch - at >= WAIT:
            break
    return state
