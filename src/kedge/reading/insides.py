"""What is known of a model's inside on one document, whichever way the model declares it."""

from collections.abc import Callable
from functools import partial

import numpy as np

from kedge.model.model import Model
from kedge.model.scores.additive import AdditiveScore
from kedge.model.scores.chain import ChainScore
from kedge.model.scores.inside import Inside
from kedge.perturb import Masking, Perturbation
from kedge.reading.masks import masks_cleanly
from kedge.text.document import Document
from kedge.text.units import Units, interchangeable
from kedge.typing import Bools, Counts, Label

__all__ = ["NOT_CLEAN", "NOT_PLACED", "inside_of", "settled_score"]

# What is said where the inside cannot be used.
NOT_CLEAN = (
    "Masking a word may change how this model reads the others (it has a custom preprocessor, tokenizer or "
    "pattern, or reads neighbours that masking brings together), so kedge treats it as a black box."
)
NOT_PLACED = (
    "The model's preprocessing changes words, so that its own words cannot be located in the text; kedge "
    "split the text itself and treats the model as a black box."
)


def inside_of(model: Model, document: Document, perturbation: Perturbation) -> Inside | None:
    """The model's inside on a document in its own words; None where masked texts must be queried."""
    if type(perturbation) is not Masking:  # a subclass may write anything in place of a word
        return None
    if model.opened is not None:
        return model.opened(document, perturbation)
    if model.from_counts is not None and masks_cleanly(model, document, perturbation):
        return _by_words(model, document)
    return None


def settled_score(
    score: AdditiveScore | ChainScore, inside: Inside, label: Label
) -> Callable[[Counts], Bools]:
    """Counts to whether the label holds, by the score; what only the model's rounding decides is queried."""
    if not score.error:
        return score.holds
    near = 2 * score.error + 1e-12 * score.magnitude

    def holds(counts: Counts) -> Bools:
        held = score.holds(counts)
        close = np.flatnonzero(~(np.abs(score.score(counts)) > near))
        if len(close):
            held[close] = inside.predict(counts[close]).hold(label)
        return held

    return holds


def _by_words(model: Model, document: Document) -> Inside:
    """A model that sees nothing but counts of words: its occurrences of a word are interchangeable."""
    assert model.from_counts is not None  # noqa: S101  (the caller has looked)
    units = interchangeable(document, model.reads or (lambda _: True))
    words = units.words(document)
    if model.matters is not None and len(units):
        matter = model.matters(words, units.sizes)
        if matter.any():  # else the label is certain, and any word will do
            units = Units(tuple(group for group, yes in zip(units.members, matter, strict=True) if yes))
            words = [word for word, yes in zip(words, matter, strict=True) if yes]
    sizes = units.sizes
    given = words, sizes
    return Inside(
        units,
        model.from_counts(words),
        additive=model.additive and partial(model.additive, *given),
        normalised=model.normalised and partial(model.normalised, words),
        leads=model.leads and partial(model.leads, *given),
        algebra=model.algebra and partial(model.algebra, *given),
        leaves=model.leaves and partial(model.leaves, *given),
        class_slopes=model.class_slopes and partial(model.class_slopes, words),
        gradient=model.gradient and partial(model.gradient, *given),
    )
