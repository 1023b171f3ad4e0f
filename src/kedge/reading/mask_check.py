"""What a model says about the mask itself, before anything is asked about the words.

A mask is to remove a word. One that the model reads puts another word in its place, and the words of an
anchor must then outvote it. So the model is asked about the text with every word masked, about the bare
mask, and about the text with every word removed: where these differ, the mask speaks. A tokenizer's mask that
speaks gives way to removal: a network that was trained without it has made a word of it.
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
from kedge.utils.sentences import Option, Sentence

__all__ = ["MaskCheck", "check_mask", "heard"]

# A probability that moves by a tenth is worth a word; less is within what any few words do.
_SPEAKS = 0.1
# The check takes up to three questions. Where they are dear, the words come first.
_DEAR = 30


@dataclass(frozen=True)
class MaskCheck:
    """How words are to be masked, what to tell the user, and the answers that are known by now."""

    perturbation: Perturbation
    notes: tuple[str, ...] = ()
    answers: tuple[tuple[str, Predictions], ...] = ()


def check_mask(
    model: Model, document: Document, given: Perturbation, label: Label, oracle: Oracle
) -> MaskCheck:
    """Ask a model that reads texts about the mask: one question for removal, three for any other.

    Parameters
    ----------
    model, document, label
        Who is asked, about what.
    given
        The perturbation as the user gave it. Where that leaves the mask open, a model whose own mask
        speaks gets nothing in its place, and one that cannot answer for a text without words UNK in place of
        nothing.
    oracle
        Counts the questions. With few of them left nothing is asked.
    """
    perturbation = fit_mask(given, model)
    if not isinstance(perturbation, Masking) or oracle.remaining < _DEAR:
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
        return MaskCheck(perturbation)  # the search will tell, if such a text comes up
    answers = {text: asked.of(row) for row, text in enumerate(texts)}
    said = _said_by_mask(texts, answers, mask, label)
    if said and model.mask and not chosen:
        note = Sentence(f"{said} So words are removed instead; ", Option("mask", mask), " uses it anyway.")
        return MaskCheck(replace(perturbation, mask=""), (note,), tuple(answers.items()))
    return MaskCheck(perturbation, _notes(said), tuple(answers.items()))


def heard(inside: Inside, perturbation: Perturbation, label: Label) -> tuple[str, ...]:
    """What a mask says to a model whose inside is known: no question is needed."""
    if inside.bare is None or not isinstance(perturbation, Masking):
        return ()
    nothing = np.zeros((1, len(inside.units)), dtype=np.int64)
    answers = {"masked": inside.predict(nothing), "removed": inside.bare()}
    return _notes(_said_by_mask(list(answers), answers, perturbation.written, label))


def _written(masking: Masking, document: Document, kept: Bools) -> str:
    return masking.writer(document)(kept[None])[0]


def _check_removal(
    model: Model, perturbation: Masking, empty: str, oracle: Oracle, *, chosen: bool
) -> MaskCheck:
    """Nothing cannot speak, but a model may have no answer for it."""
    try:
        asked = oracle.ask(model.predict, [empty])
    except ModelRaised as error:
        reason = type(error.__cause__).__name__ if error.__cause__ is not None else "an error"
        what = f"The model raised {reason} when asked about {empty!r:.60}, the text with every word removed"
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


def _said_by_mask(texts: list[str], answers: dict[str, Predictions], mask: str, label: Label) -> str:
    """A sentence about a mask that speaks; "" if it does not."""
    throughout, empty = texts[0], texts[-1]
    without = answers[empty]
    # The bare mask is compared where removal leaves nothing but blanks: else signs speak, too.
    suspects = [throughout] if empty.strip() else [throughout, mask]
    moves = {text: _said(answers[text], label) - _said(without, label) for text in suspects}
    loud = max(moves, key=lambda text: abs(moves[text]))
    if abs(moves[loud]) < _SPEAKS:
        return ""
    side = "towards" if moves[loud] > 0 else "away from"
    where = "with every word masked" if loud == throughout else "for the mask alone"
    return (
        f"The mask {mask!r} itself pushes the model {side} the label {label!r}: {where} "
        f"{_shown(answers[loud], label)}, with every word removed {_shown(without, label)}."
    )


def _said(answer: Predictions, label: Label) -> float:
    """The label's probability, and 1 more where it holds, so that a change of the answer always counts."""
    return float(answer.hold(label)[0]) + _chance(answer, label)


def _chance(answer: Predictions, label: Label) -> float:
    """The label's probability; 0 for a model that gives none."""
    odds = answer.log_odds(label)
    return 0.0 if odds is None else float(1 / (1 + np.exp(-odds[0])))


def _shown(answer: Predictions, label: Label) -> str:
    if answer.probabilities is not None:
        return f"its probability is {_chance(answer, label):.3f}"
    return "it holds" if answer.hold(label)[0] else "it does not hold"
