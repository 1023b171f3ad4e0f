"""Which mask removes a word, and does nothing else, for this very model. ``docs/masks.md`` has the reasons.

- A model that declares its mask gets it: a transformer's tokenizer has one.
- A model with a known vocabulary gets the paper's UNK, a word outside of it.
- Any other model gets none, so that words are removed: features of characters, hashed words and
  unknown functions may read every mask.
"""

from dataclasses import replace
from functools import lru_cache

from kedge.model.model import Model
from kedge.perturb import Masking, Perturbation
from kedge.perturb.masking import UNKNOWN
from kedge.text.document import Document

__all__ = ["fit_mask", "known_words", "mask_of"]


def mask_of(model: Model) -> str:
    """The mask that fits a model; ``""`` stands for removal."""
    if model.mask is not None:
        return model.mask
    outside = model.tokenize is not None and model.reads is not None and not known_words(model, UNKNOWN)
    return UNKNOWN if outside else ""


def known_words(model: Model, mask: str) -> list[str]:
    """The words of a mask that are in the model's vocabulary, as far as it has one."""
    if model.tokenize is None or model.reads is None:
        return []
    return list(filter(model.reads, Document(mask, model.tokenize(mask) or ()).words))


def fit_mask(perturbation: Perturbation, model: Model) -> Perturbation:
    """The perturbation with its mask chosen for the model, where the user chose none."""
    if isinstance(perturbation, Masking) and perturbation.mask is None:
        return _masked(perturbation, mask_of(model))
    return perturbation


@lru_cache(maxsize=64)
def _masked(perturbation: Masking, mask: str) -> Masking:
    """The same perturbation with a mask."""
    return replace(perturbation, mask=mask)
