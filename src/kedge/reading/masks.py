"""Whether a mask removes a word and does nothing else.

Counts of words stand for masked texts only where the model finds in those exactly the words that were
kept. That must follow from the model's own steps, for every mask there is: a few masks that were tried
say nothing about the others. Elsewhere the model is queried with the texts themselves.
"""

from kedge.errors import OptionError
from kedge.model.model import Model
from kedge.perturb import Masking
from kedge.perturb.pieces import masked_pieces, pieces_of
from kedge.text.document import Document
from kedge.utils.sentences import Option

__all__ = ["masks_cleanly", "refuse_known_mask"]


def masks_cleanly(model: Model, document: Document, perturbation: Masking) -> bool:
    """Whether it is known that removing words leaves exactly the others, as the model itself finds them."""
    apart = model.keeps_apart
    if apart and apart(document.text) and apart(perturbation.written):
        return True
    if not model.local or not perturbation.written:  # a removed word takes a blank with it
        return False
    pieces = pieces_of(document)
    return pieces is not None and all(_cleanly(model, piece, perturbation) for piece in pieces)


def _cleanly(model: Model, piece: Document, perturbation: Masking) -> bool:
    """Whether the model finds in a piece, under every mask, the words that were kept."""
    assert model.tokenize is not None  # noqa: S101  (the units are the model's own)
    reads = model.reads or (lambda _: True)
    for kept, text in masked_pieces(piece, perturbation):
        found = model.tokenize(text)
        stay = [t.word for t, here in zip(piece.tokens, kept, strict=True) if here and reads(t.word)]
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
            f"The model has the word {known[0]!r} of the mask {mask!r} in its vocabulary, so masking would "
            "add a word instead of removing one; choose another ",
            Option("mask"),
            ".",
        )
