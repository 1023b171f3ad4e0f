"""Sums over windows of neighbours, small enough for every sample to be added up."""

from types import SimpleNamespace

import numpy as np

from kedge.model.scores.chain import ChainScore
from kedge.text.units import Units


def made_chain(seed, links, longest, *, whole=False):
    """A score whose full document keeps the label; whole numbers have ties."""
    rng = np.random.default_rng(seed)
    while True:
        windows = [(i,) for i in range(links)]
        for n in range(2, longest + 1):
            windows += [tuple(range(i, i + n)) for i in range(links - n + 1) if rng.random() < 0.6]
        weights = rng.normal(size=len(windows))
        bias = float(rng.normal() * 2)
        if whole:
            weights, bias = np.rint(2 * weights), float(round(bias))
        strict = bool(rng.random() < 0.5)
        sizes = np.ones(links, dtype=np.int64)
        rounding = None if whole else 1e-12
        score = ChainScore(bias, tuple(windows), weights, sizes, strict, rounding)
        if score.score(np.ones((1, links), dtype=np.int64))[0] > 0:
            return score


def chain_reading(score, keep=0.5):
    """As much of a reading as what evaluates and searches chains looks at."""
    units = Units(tuple((i,) for i in range(len(score.sizes))))
    return SimpleNamespace(chain=score, keep=keep, units=units)


def all_precisions(score, keep=0.5):
    """Anchor to precision, from every sample."""
    links = len(score.sizes)
    rows = np.arange(1 << links)[:, None] >> np.arange(links)[::-1] & 1
    table = score.holds(rows).astype(np.float64).reshape((2,) * links)

    def precision(anchor):
        left = table
        for link in range(links):
            left = left[1] if link in anchor else (1 - keep) * left[0] + keep * left[1]
        return float(left)

    return precision
