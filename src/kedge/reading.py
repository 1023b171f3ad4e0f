"""A model's reading of one document: all that evaluators and searches ever see.

The model is asked about the document once, which settles the label. After that everything is a
question about counts of units: does the label still hold when these many of each are kept?
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kedge.clean import masks_cleanly, refuse_known_mask
from kedge.document import Document
from kedge.errors import LabelError, TextError
from kedge.model.additive import AdditiveScore, NormalisedScore
from kedge.model.leaves import LeafBoxes
from kedge.model.model import Model, Predictions
from kedge.oracle import Memory, Oracle, row_keys, text_keys
from kedge.perturb import Masking, Perturbation
from kedge.tokenize import Tokenizer, words
from kedge.typing import Bools, Counts, Floats, Kept, Label
from kedge.units import Units, interchangeable, one_per_position

__all__ = ["Reading", "read", "read_document"]

# Sampled counts are made and asked about in pieces of at most this many cells (n x d), so that
# memory does not grow with the number of samples times the length of the document.
CELLS = 1 << 20

_NOT_CLEAN = (
    "Masking a word of this text changes which other words the model finds, so the model is asked about "
    "masked texts."
)
_NOT_PLACED = (
    "The model's own words cannot be placed in the text, because its preprocessing changes them; the "
    "text was split by kedge and the model is asked about masked texts."
)


@dataclass(frozen=True)
class Reading:
    """One model's view of one document.

    Parameters
    ----------
    document, units, label
        What is read, in which units, and the label to keep.
    perturbation
        How positions outside an anchor are removed.
    holds
        (n, d) counts to (n,) whether the label holds.
    log_odds
        (n, d) counts to (n,) log-odds of the label, for a model that gives probabilities.
    oracle
        Whom the questions go to; its count of queries is the explanation's.
    repeatable
        The same counts always get the same answer, so that enumeration is possible.
    algebra
        ``holds`` costs arithmetic only, no call of the user's model.
    counted
        The model is asked about rows of counts, not about texts.
    additive, normalised, leaves, gradient
        The model's inside, where it can be read (see ``Model``).
    probabilities
        The model's class probabilities for the document, when known.
    notes
        What the user should know about how the document was read.
    answers
        ``holds`` and ``log_odds`` (NaN without probabilities) in one question.
    """

    document: Document
    units: Units
    label: Label
    perturbation: Perturbation
    holds: Callable[[Counts], Bools]
    log_odds: Callable[[Counts], Floats] | None
    oracle: Oracle
    repeatable: bool = True
    algebra: bool = False
    counted: bool = False
    additive: AdditiveScore | None = None
    normalised: NormalisedScore | None = None
    leaves: LeafBoxes | None = None
    gradient: Callable[[], Floats] | None = None
    probabilities: dict[Label, float] | None = None
    notes: tuple[str, ...] = field(default=())
    answers: Callable[[Counts], tuple[Bools, Floats]] | None = None

    @property
    def keep(self) -> float:
        """The probability that an occurrence outside the anchor stays."""
        return self.perturbation.keep

    def sample(self, kept: Kept, n: int, rng: np.random.Generator) -> Counts:
        """(n, d) counts of ``n`` perturbed samples given an anchor."""
        return self.perturbation.draw(self.units.sizes, self.units.counts(kept), n, rng)

    def sample_each(self, anchors: Sequence[Kept], n: int, rng: np.random.Generator) -> Counts:
        """(k * n, d) counts of ``n`` perturbed samples given each of k anchors, in their order.

        Units are kept independently of each other: all are drawn in one go as if nothing were sure,
        and those of each anchor again.
        """
        if len(anchors) == 1:
            return self.sample(anchors[0], n, rng)
        sizes = self.units.sizes
        drawn = self.perturbation.draw(sizes, np.zeros_like(sizes), len(anchors) * n, rng)
        counts = drawn.reshape(len(anchors), n, len(sizes))
        pairs = [(i, unit, often) for i, kept in enumerate(anchors) for unit, often in Counter(kept).items()]
        if pairs:
            at, units, sure = np.array(pairs, dtype=np.int64).T
            whole = sure == sizes[units]
            counts[at[whole], :, units[whole]] = sure[whole, None]
            if not whole.all():
                at, units, sure = at[~whole], units[~whole], sure[~whole]
                counts[at, :, units] = self.perturbation.draw(sizes[units], sure, n, rng).T
        return drawn


def read_document(model: Model, text: str, tokenizer: Tokenizer | None) -> tuple[Document, bool]:
    """The document in the units the model reads, and whether these are the model's own."""
    if not isinstance(text, str):
        raise TextError(f"The text must be a string, got {type(text).__name__}.")
    text = str.__str__(text)  # a plain one, of a numpy string or a member of a string enumeration
    if not text.strip():
        raise TextError("The text is empty; there is nothing to explain.")
    own = model.tokenize(text) if tokenizer is None and model.tokenize is not None else None
    tokens = own if own is not None else (tokenizer or words)(text)
    document = Document(text, tokens)
    if not len(document):
        raise TextError(
            "The model's analyzer finds no word in the text; there is nothing to explain."
            if own is not None
            else "The text has no words; there is nothing to explain."
        )
    return document, own is not None


def read(
    model: Model,
    document: Document,
    *,
    own_units: bool,
    split_by_user: bool,
    perturbation: Perturbation,
    label: Label | None,
    oracle: Oracle,
    rng: np.random.Generator,
    known: Predictions | None = None,
) -> Reading:
    """Ask the model about the document (unless its answer is ``known``), and prepare what follows."""
    if isinstance(perturbation, Masking):
        refuse_known_mask(model, perturbation.mask)
    first = oracle.ask(model.predict if known is None else lambda _: known, [document.text])
    label = _label(first, label)
    if own_units and model.from_counts is not None and perturbation.removes:
        if masks_cleanly(model, document, perturbation, rng):
            return _count_reading(model, document, perturbation, label, first, oracle)
        reading = _text_reading(model, document, perturbation, label, first, oracle, rng)
        return replace(reading, notes=(*reading.notes, _NOT_CLEAN))
    reading = _text_reading(model, document, perturbation, label, first, oracle, rng)
    if own_units or model.tokenize is None or split_by_user:
        return reading
    return replace(reading, notes=(*reading.notes, _NOT_PLACED))


def _label(first: Predictions, label: Label | None) -> Label:
    """The label to explain: the model's own, or the user's if it holds."""
    if first.labels is None:
        holding = [c for c in first.classes or () if first.hold(c)[0]]
        known = ", ".join(map(repr, holding)) or "none"
        if label is None:
            raise LabelError(
                f"A multi-label model needs label=; the labels that hold for this text are: {known}."
            )
        if label not in holding:
            first.hold(label)  # an unknown label is refused by name
            raise LabelError(
                f"The label {label!r} does not hold for this text, so there is nothing that keeps it; "
                f"the labels that hold are: {known}."
            )
        return label
    predicted: Label = first.labels[0]
    if label is not None and label != predicted:
        raise LabelError(
            f"The model labels this text {predicted!r}, not {label!r}; an anchor says what keeps a label "
            f"that holds, so leave label= out or ask about {predicted!r}."
        )
    return predicted


def _count_reading(
    model: Model,
    document: Document,
    perturbation: Perturbation,
    label: Label,
    first: Predictions,
    oracle: Oracle,
) -> Reading:
    """A model that counts words: no text is built any more."""
    assert model.from_counts is not None  # noqa: S101  (the caller has looked)
    units = interchangeable(document, model.reads or (lambda _: True))
    if not len(units):
        raise TextError(
            f"No word of the text (it has {len(document)}) is in the model's vocabulary; its label "
            f"{label!r} does not depend on them."
        )
    own_words = [document.tokens[group[0]].word for group in units.members]
    memory = Memory(oracle, model.from_counts(own_words), label, recheck=False)

    def ask(counts: Counts) -> Bools:
        return memory(counts, row_keys(counts))[0]

    algebra = model.algebra and model.algebra(own_words, label, ask)
    return Reading(
        document,
        units,
        label,
        perturbation,
        holds=algebra or ask,
        log_odds=None if first.probabilities is None else lambda counts: memory(counts, row_keys(counts))[1],
        oracle=oracle,
        algebra=algebra is not None,
        counted=True,
        additive=model.additive and model.additive(own_words, units.sizes, label),
        normalised=model.normalised and model.normalised(own_words, label),
        leaves=model.leaves and model.leaves(own_words, units.sizes, label),
        gradient=None
        if (gradient := model.gradient) is None
        else lambda: gradient(own_words, units.sizes, label),
        probabilities=first.distribution(),
        notes=model.notes,
        answers=lambda counts: memory(counts, row_keys(counts)),
    )


def _text_reading(
    model: Model,
    document: Document,
    perturbation: Perturbation,
    label: Label,
    first: Predictions,
    oracle: Oracle,
    rng: np.random.Generator,
) -> Reading:
    """A model that can only be asked about texts: every position is a unit."""
    free = np.flatnonzero(~perturbation.protected(document))
    if not len(free):
        raise TextError("Every word of the text is protected; there is nothing to explain.")
    units = one_per_position(document)
    if len(free) < len(document):
        units = Units(tuple((int(k),) for k in free))
    write = perturbation.writer(document, rng)
    memory = Memory(oracle, model.predict, label, recheck=True)
    memory.remember(document.text, first)
    rows = max(1, CELLS // len(document))

    def ask(counts: Counts) -> tuple[Bools, Floats]:
        answers = []
        for start in range(0, len(counts), rows):
            part = counts[start : start + rows]
            kept = np.ones((len(part), len(document)), dtype=bool)
            kept[:, free] = part > 0
            texts = write(kept)
            answers.append(memory(texts, text_keys(texts)))
        if not answers:
            return np.zeros(0, dtype=bool), np.zeros(0)
        return np.concatenate([a[0] for a in answers]), np.concatenate([a[1] for a in answers])

    return Reading(
        document,
        units,
        label,
        perturbation,
        holds=lambda counts: ask(counts)[0],
        log_odds=None if first.probabilities is None else lambda counts: ask(counts)[1],
        oracle=oracle,
        repeatable=perturbation.repeatable,
        probabilities=first.distribution(),
        notes=model.notes,
        answers=ask,
    )
