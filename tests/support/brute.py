"""Brute force: the definitions, computed the slow way, to judge everything else by."""

from itertools import combinations, product

import numpy as np

from kedge import tokenize
from kedge.perturb import Masking
from kedge.text.document import Document


def precision(text, label, predict, positions, *, tokens=None, keep=0.5, mask="UNK"):
    """Prec(A) by asking about every subset of the other positions, on real masked texts."""
    document = Document(text, tokens or tokenize.words(text))
    b = len(document)
    free = [k for k in range(b) if k not in positions]
    rows, weights = [], []
    for coins in product([False, True], repeat=len(free)):
        kept = np.ones(b, dtype=bool)
        kept[free] = coins
        rows.append(kept)
        weights.append(np.prod([keep if c else 1 - keep for c in coins]))
    answers = predict(Masking(mask=mask).writer(document)(np.array(rows)))
    return float(sum(w for w, answer in zip(weights, answers, strict=True) if answer == label))


def shortest(text, label, predict, *, tokens=None, threshold=0.95, keep=0.5, mask="UNK"):
    """Algorithm 1 on positions: (A2's length, A3's precision, A3's members), by brute force."""
    b = len(tokens or tokenize.words(text))
    for length in range(1, b + 1):
        found = {
            a: precision(text, label, predict, a, tokens=tokens, keep=keep, mask=mask)
            for a in combinations(range(b), length)
        }
        reached = {a: p for a, p in found.items() if p >= threshold - 1e-12}
        if reached:
            best = max(reached.values())
            return length, best, {a for a, p in reached.items() if p >= best - 1e-9}
    raise AssertionError
