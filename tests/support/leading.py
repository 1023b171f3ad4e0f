"""Random leads over rivals, small enough to be enumerated."""

import numpy as np

from kedge.model.scores.leads import Leads


def random_leads(rng, *, rivals=1, words=6, normed=None):
    """Leads of one of many kinds over words that occur once or a few times."""
    d = int(rng.integers(1, words + 1))
    sizes = rng.integers(1, 3 if d > 4 else 5, d)
    steps = np.arange(int(sizes.max()) + 1, dtype=float)
    kind = rng.integers(3)
    if kind == 1:  # sublinear
        steps = np.append(0.0, 1.0 + np.log(steps[1:]))
    elif kind == 2:  # binary
        steps = np.minimum(steps, 1.0)
    scale = np.exp(rng.normal(size=d)) + 0.1
    weights = rng.normal(size=(d, rivals)) * rng.choice([0.1, 1.0, 3.0])
    bias = rng.normal(size=rivals) * rng.choice([0.0, 0.3, 1.0, 3.0])
    normed = bool(rng.integers(3)) if normed is None else normed
    strict = rng.random(rivals) < 0.5
    return Leads(bias, weights, scale[:, None] * steps, sizes.astype(np.int64), normed, strict, 1e-13)


def random_anchor(rng, sizes):
    """How many of each word are kept: none, as a rule."""
    return np.array([rng.integers(0, m + 1) if rng.random() < 0.3 else 0 for m in sizes], dtype=np.int64)
