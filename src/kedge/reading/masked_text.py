"""One text with some of its words removed, as it would be sent to the model."""

from collections.abc import Callable, Iterable
from contextlib import suppress

import numpy as np

from kedge.errors import LabelError, OptionError
from kedge.model.model import Model
from kedge.perturb import Perturbation
from kedge.reading.mask_choice import fit_mask
from kedge.reading.reading import Reading
from kedge.text.document import Document

__all__ = ["perturbation_in_use", "text_without"]


def perturbation_in_use(given: Perturbation, model: Model, read: Callable[[], Reading]) -> Perturbation:
    """How a model's words are removed: as the user said, or as fits it.

    Whether a model's own mask is used is known once the text is ``read``; it is taken to be where the text
    has several labels, for each of which that may be different.
    """
    fitted = fit_mask(given, model)
    if model.mask and fitted is not given:
        with suppress(LabelError):
            return read().perturbation
    return fitted


def text_without(
    document: Document, removed: Iterable[int], perturbation: Perturbation, rng: np.random.Generator
) -> str:
    """The text of a document without the words at these positions."""
    gone = set(removed)
    if gone - set(range(len(document))):
        raise OptionError(
            f"There is no position {max(gone)}; the text has {len(document)} words, numbered from 0."
        )
    kept = np.array([[k not in gone for k in range(len(document))]])
    return perturbation.writer(document, rng)(kept)[0]
