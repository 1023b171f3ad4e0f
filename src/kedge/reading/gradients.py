"""The gradient of a model of texts, averaged from mask to words: what the precision of an anchor sees."""

from collections.abc import Callable

import numpy as np

from kedge.model.model import Model
from kedge.perturb import Masking, Perturbation
from kedge.reading.oracle import Oracle
from kedge.text.document import Document
from kedge.typing import Counts, Floats, Label

__all__ = ["text_gradient"]

# Places at which it is taken. In each every word is there to another share, each time in another order.
_PLACES = 12


def text_gradient(
    model: Model, document: Document, perturbation: Perturbation, free: Counts, label: Label, oracle: Oracle
) -> Callable[[], Floats] | None:
    """(free,) what each word adds to the label's log-odds, on the mean of a few places; None without slopes.

    At the document alone it is the paper's conjecture for differentiable models (section 6). But an anchor is
    judged where half of the other words are gone, and from a word to the mask is a long way, on which slopes
    change. So they are taken where each word is there in part: over all places, in all parts alike.
    Where words are removed, too, the way is that from the mask: what a word adds is about the same.
    """
    slopes = model.slopes
    if slopes is None or not isinstance(perturbation, Masking):
        return None

    def gradient() -> Floats:
        steps = np.tile((np.arange(_PLACES) + 0.5) / _PLACES, (len(document), 1))
        shares = np.random.default_rng(0).permuted(steps, axis=1).T
        shares[:, ~np.isin(np.arange(len(document)), free)] = 1.0  # protected words stay
        spans = [(token.start, token.stop) for token in document.tokens]
        by_place = slopes(document.text, spans, label, shares)
        oracle.backward += len(shares)
        mean: Floats = by_place.mean(axis=0)[free]
        return mean

    return gradient
