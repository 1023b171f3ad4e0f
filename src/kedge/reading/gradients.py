"""The gradient of a model of texts, averaged over masks: what the precision of an anchor sees."""

from collections.abc import Callable

import numpy as np

from kedge.model.model import Model
from kedge.perturb import Masking, Perturbation
from kedge.reading.oracle import Oracle
from kedge.text.document import Document
from kedge.typing import Counts, Floats, Label

__all__ = ["text_gradient"]

# Random masks over which it is averaged, beside the document itself: each word is kept in about half of them.
_MASKS = 11


def text_gradient(
    model: Model, document: Document, perturbation: Perturbation, free: Counts, label: Label, oracle: Oracle
) -> Callable[[], Floats] | None:
    """(free,) what each word adds to the label's log-odds, on the mean of a few masks; None without slopes.

    At the document alone it is the paper's conjecture for differentiable models (section 6). An anchor is
    judged where half of the other words are gone, so that the slopes there say more.
    """
    slopes = model.slopes
    if slopes is None or not isinstance(perturbation, Masking) or not perturbation.written:
        return None

    def gradient() -> Floats:
        coins = np.random.default_rng(0).random((_MASKS, len(document))) < perturbation.keep
        kept = np.concatenate([np.ones((1, len(document)), dtype=bool), coins])
        kept |= ~np.isin(np.arange(len(document)), free)  # protected words stay
        texts, spans = perturbation.placed(document, kept)
        by_text = slopes(texts, spans, label)
        oracle.backward += len(texts)
        there = np.isfinite(by_text)
        mean: Floats = np.where(there, by_text, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        return mean[free]

    return gradient
