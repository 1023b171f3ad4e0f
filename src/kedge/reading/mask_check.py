"""Whether the mask itself moves the model, checked before any word is.

A mask is to remove a word. One that the model reads puts another word in its place, and the words of an
anchor must then outvote it. So the model is queried with every word masked, with the bare mask, and with
every word removed: where its answers differ, the mask has an effect of its own. A tokenizer's mask with
such an effect gives way to removal: a network that was trained without it has made a word of it.
"""

from dataclasses import dataclass, replace

import numpy as np

from kedge.errors import ModelRaised
from kedge.model.model import Model, Predictions
from kedge.model.scores.inside import Inside
from kedge.perturb import Masking, Perturbation
from kedge.perturb.masking import UNKNOWN
from kedge.reading.mask_choice import fit_mask
from kedge.reading.oracle import Oracle
from kedge.text.document import Document
from kedge.typing import Bools, Label
from kedge.utils.numerics import logistic
from kedge.utils.sentences import Option, Sentence

__all__ = ["MaskCheck", "check_mask", "mask_notes"]

# A probability that moves by a tenth is worth a note; less is within what any few words do.
_NOTABLE = 0.1
# The check takes up to three queries. With fewer left than this the words come first.
_SCARCE = 30


@dataclass(frozen=True)
class MaskCheck:
    """How words are to be masked, what to tell the user, and the answers that are known by now."""

    perturbation: Perturbation
    notes: tuple[str, ...] = ()
    answers: tuple[tuple[str, Predictions], ...] = ()


def check_mask(
    model: Model, document: Document, given: Perturbation, label: Label, oracle: Oracle
) -> MaskCheck:
    """Query a model of texts about its mask: once for removal, up to three times for any other.

    Parameters
    ----------
    model, document, label
        Which model is queried, with what.
    given
        The perturbation as the user gave it. Where that leaves the mask open, a model whose own mask
        has an effect gets removal instead, and one that cannot answer for a text without words gets UNK.
    oracle
        Counts the queries. With few of them left nothing is checked.
    """
    perturbation = fit_mask(given, model)
    if not isinstance(perturbation, Masking) or oracle.remaining < _SCARCE:
        return MaskCheck(perturbation)
    chosen = isinstance(given, Masking) and given.mask is not None
    kept = perturbation.protected(document)
    empty = _written(replace(perturbation, mask=""), document, kept)
    mask = perturbation.written
    if not mask:
        return _check_removal(model, perturbation, empty, oracle, chosen=chosen)
    texts = list(dict.fromkeys([_written(perturbation, document, kept), mask, empty]))
    try:
        asked = oracle.ask(model.predict, texts)
    except ModelRaised:
        return MaskCheck(perturbation)  # the search will raise it, if such a text comes up
    answers = {text: asked.of(row) for row, text in enumerate(texts)}
    said = _effect_of_mask(texts, answers, mask, label)
    if said and model.mask and not chosen:
        note = Sentence(f"{said} So words are removed instead; ", Option("mask", mask), " uses it anyway.")
        return MaskCheck(replace(perturbation, mask=""), (note,), tuple(answers.items()))
    return MaskCheck(perturbation, _notes(said), tuple(answers.items()))


def mask_notes(inside: Inside, perturbation: Perturbation, label: Label) -> tuple[str, ...]:
    """What to tell the user of a mask's effect on a model whose inside is known: no query is needed."""
    if inside.bare is None or not isinstance(perturbation, Masking):
        return ()
    nothing = np.zeros((1, len(inside.units)), dtype=np.int64)
    answers = {"masked": inside.predict(nothing), "removed": inside.bare()}
    return _notes(_effect_of_mask(list(answers), answers, perturbation.written, label))


def _written(masking: Masking, document: Document, kept: Bools) -> str:
    return masking.writer(document)(kept[None])[0]


def _check_removal(
    model: Model, perturbation: Masking, empty: str, oracle: Oracle, *, chosen: bool
) -> MaskCheck:
    """Removal has no mask to look at, but a model may have no answer for a text without words."""
    try:
        asked = oracle.ask(model.predict, [empty])
    except ModelRaised as error:
        reason = type(error.__cause__).__name__ if error.__cause__ is not None else "an error"
        what = f"The model raised {reason} on {empty!r:.60}, the text with every word removed"
        if chosen:
            raise ModelRaised(
                f"{what}; let it answer for such texts, or say ", Option("mask", "UNK"), "."
            ) from error
        note = f"{what}; words are replaced by {UNKNOWN} instead."
        return MaskCheck(replace(perturbation, mask=UNKNOWN), (note,))
    return MaskCheck(perturbation, answers=((empty, asked),))


def _notes(said: str) -> tuple[str, ...]:
    """What to tell the user of a mask that stays."""
    if not said:
        return ()
    removes = f"{said} Words are measured against the mask; "
    return (Sentence(removes, Option("mask", ""), " removes them instead."),)


def _effect_of_mask(texts: list[str], answers: dict[str, Predictions], mask: str, label: Label) -> str:
    """A sentence about the effect of a mask; "" if it has none."""
    throughout, empty = texts[0], texts[-1]
    without = answers[empty]
    # The bare mask is compared where removal leaves nothing but blanks: else punctuation counts, too.
    suspects = [throughout] if empty.strip() else [throughout, mask]
    moves = {text: _level(answers[text], label) - _level(without, label) for text in suspects}
    largest = max(moves, key=lambda text: abs(moves[text]))
    if abs(moves[largest]) < _NOTABLE:
        return ""
    side = "towards" if moves[largest] > 0 else "away from"
    where = "with every word masked" if largest == throughout else "for the mask alone"
    return (
        f"The mask {mask!r} itself pushes the model {side} the label {label!r}: {where} "
        f"{_shown(answers[largest], label)}, with every word removed {_shown(without, label)}."
    )


def _level(answer: Predictions, label: Label) -> float:
    """The label's probability, and 1 more where it holds, so that a change of the answer always counts."""
    return float(answer.hold(label)[0]) + _chance(answer, label)


def _chance(answer: Predictions, label: Label) -> float:
    """The label's probability; 0 for a model that gives none."""
    odds = answer.log_odds(label)
    return 0.0 if odds is None else float(logistic(odds[0]))


def _shown(answer: Predictions, label: Label) -> str:
    if answer.probabilities is not None:
        return f"its probability is {_chance(answer, label):.3f}"
    return "it holds" if answer.hold(label)[0] else "it does not hold"
