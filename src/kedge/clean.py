"""Whether a mask removes a word and does nothing else.

Counts of words stand for masked texts only where the model finds in those exactly the words that were
kept: here that is known from the model, or tried out.
"""

import numpy as np

from kedge.document import Document
from kedge.errors import OptionError
from kedge.model.model import Model
from kedge.perturb import Masking, Perturbation

__all__ = ["masks_cleanly", "refuse_known_mask"]


def masks_cleanly(
    model: Model, document: Document, perturbation: Perturbation, rng: np.random.Generator
) -> bool:
    """Whether removing words leaves exactly the others, as the model itself finds them.

    Every second word is masked, then every other one, so that each word has been kept between masks
    and masked between words; then each half of the text; then halves at random. Counts stand for texts
    only where the model then finds the kept words.
    """
    apart = model.keeps_apart
    if isinstance(perturbation, Masking) and apart and apart(document.text) and apart(perturbation.mask):
        return True
    assert model.tokenize is not None  # noqa: S101  (the units are the model's own)
    reads = model.reads or (lambda _: True)
    places, coins = np.arange(len(document)), np.random.default_rng(0)
    half = np.stack([places % 2 == 0, places < len(document) / 2, *(coins.random((2, len(document))) < 0.5)])
    kept = np.concatenate([half, ~half])
    for row, text in zip(kept.tolist(), perturbation.writer(document, rng)(kept), strict=True):
        found = model.tokenize(text)
        stay = [t.word for t, here in zip(document.tokens, row, strict=True) if here and reads(t.word)]
        if found is None or [t.word for t in found if reads(t.word)] != stay:
            return False
    return True


def refuse_known_mask(model: Model, mask: str) -> None:
    """A mask the model reads would not remove a word but put another in its place."""
    if model.tokenize is None or model.reads is None:
        return
    known = [t.word for t in model.tokenize(mask) or () if model.reads(t.word)]
    if known:
        raise OptionError(
            f"The mask {mask!r} reads as {known[0]!r}, which is in the model's vocabulary, so masking with "
            "it would add a word instead of removing one; choose another with "
            "perturbation=kedge.Masking(mask=...)."
        )
