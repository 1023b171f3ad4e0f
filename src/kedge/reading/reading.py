"""A model's reading of one document: all that evaluators and searches ever see.

The model is queried with the document once, which settles the label. After that everything is a
question about counts of units: does the label still hold when these many of each are kept?
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from kedge.errors import TextError
from kedge.model.model import Model, Predictions
from kedge.model.scores.additive import AdditiveScore, NormalisedScore
from kedge.model.scores.chain import ChainScore
from kedge.model.scores.inside import Inside
from kedge.model.scores.leads import Leads
from kedge.model.scores.leaves import LeafBoxes
from kedge.perturb import Masking, Perturbation
from kedge.reading.expected import Expected
from kedge.reading.gradients import text_gradient
from kedge.reading.insides import NOT_CLEAN, NOT_PLACED, inside_of, settled_score
from kedge.reading.labels import label_source, label_to_explain
from kedge.reading.mask_check import check_mask, mask_notes
from kedge.reading.mask_choice import fit_mask
from kedge.reading.masks import refuse_known_mask
from kedge.reading.oracle import Memory, Oracle, RowMemory, text_keys
from kedge.text.document import Document
from kedge.text.inputs import one_text
from kedge.text.scripts import splitting_note
from kedge.text.tokenize import Tokenizer, words
from kedge.text.units import Units, one_per_position
from kedge.typing import Bools, Counts, Floats, Kept, Label
from kedge.utils.numerics import pieces

__all__ = ["Reading", "read", "read_document"]


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
    answers
        ``holds`` and ``log_odds`` (NaN without probabilities) in one query.
    chances
        (n, d) counts to (n, k) class probabilities, for a model that gives them; the classes are those of
        ``probabilities``.
    oracle
        Makes the queries; its count of them is the explanation's.
    repeatable
        The same counts always get the same answer, so that enumeration is possible.
    algebra
        ``holds`` costs arithmetic only, no call of the user's model.
    inside
        The model's inside, where it is known: it is queried with rows of counts, not with texts.
    additive, chain, normalised, leads, leaves, gradient
        The parts of the inside for this label (see ``Inside``).
    prior
        What was learned of the units' influence on the label from other documents.
    probabilities
        The model's class probabilities for the document, when known.
    notes
        What the user should know about how the document was read.
    begun
        What a strategy has worked out already, together with other documents.
    check_repeats
        Refuses a model that does not repeat itself; says whether there was room to query it again.
    """

    document: Document
    units: Units
    label: Label
    perturbation: Perturbation
    holds: Callable[[Counts], Bools]
    log_odds: Callable[[Counts], Floats] | None
    answers: Callable[[Counts], tuple[Bools, Floats]]
    oracle: Oracle
    chances: Callable[[Counts], Floats] | None = None
    repeatable: bool = True
    algebra: bool = False
    inside: Inside | None = None
    additive: AdditiveScore | None = None
    chain: ChainScore | None = None
    normalised: NormalisedScore | None = None
    leads: Leads | None = None
    leaves: LeafBoxes | None = None
    gradient: Callable[[], Floats] | None = None
    prior: Expected | None = None
    probabilities: dict[Label, float] | None = None
    notes: tuple[str, ...] = field(default=())
    check_repeats: Callable[[], bool] = field(default=lambda: True)
    begun: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def counted(self) -> bool:
        """Whether the model is queried with rows of counts, not with texts."""
        return self.inside is not None

    @property
    def keep(self) -> float:
        """The probability that an occurrence outside the anchor stays."""
        return self.perturbation.keep

    @property
    def holds_without_queries(self) -> Callable[[Counts], Bools] | None:
        """``holds`` without a query that counts, where the model's inside decides; else None."""
        score = self.additive or self.chain
        if score is not None:
            return score.holds if self.inside is None else settled_score(score, self.inside, self.label)
        if self.leaves is not None:
            return self.leaves.holds
        return self.holds if self.algebra else None

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
    text = one_text(text)
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
    """Query the model with the document (unless its answer is ``known``), and prepare what follows."""
    fitted = fit_mask(perturbation, model)
    if isinstance(fitted, Masking) and (fitted is perturbation or model.mask is not None):
        refuse_known_mask(model, fitted.written)  # else it was chosen because the model does not know it
    first = oracle.ask(label_source(model, document, known, own_units=own_units), [document.text])
    label = label_to_explain(first, label)
    if own_units and perturbation.removes and (model.from_counts or model.opened):
        inside = inside_of(model, document, fitted)
        if inside is not None:
            return _count_reading(model, inside, document, fitted, label, first, oracle)
        reading = _text_reading(model, document, perturbation, label, first, oracle, rng)
        return replace(reading, notes=(*reading.notes, NOT_CLEAN))
    reading = _text_reading(model, document, perturbation, label, first, oracle, rng)
    if not own_units and not split_by_user:
        reading = replace(reading, notes=(*reading.notes, *splitting_note(document.text)))
    if own_units or model.tokenize is None or split_by_user:
        return reading
    return replace(reading, notes=(*reading.notes, NOT_PLACED))


def _count_reading(
    model: Model,
    inside: Inside,
    document: Document,
    perturbation: Perturbation,
    label: Label,
    first: Predictions,
    oracle: Oracle,
) -> Reading:
    """A model whose inside is known: no text is built from here on."""
    units = inside.units
    if not len(units):
        raise TextError(
            f"No word of the text is in the model's vocabulary, so its label {label!r} does not depend on "
            "what the text says."
        )
    memory = Memory(oracle, inside.predict, label, recheck=False, repeats=model.repeats)
    rows = RowMemory(memory)
    algebra = inside.algebra and inside.algebra(label, rows.holds)
    additive = inside.additive and inside.additive(label)
    return Reading(
        document,
        units,
        label,
        perturbation,
        holds=algebra or rows.holds,
        log_odds=None if first.probabilities is None else rows.log_odds,
        chances=None if first.probabilities is None else rows.chances,
        oracle=oracle,
        algebra=algebra is not None,
        inside=inside,
        additive=additive,
        chain=inside.chain and inside.chain(label),
        normalised=inside.normalised and inside.normalised(label),
        # A sum over words needs nothing else.
        leads=inside.leads(label) if inside.leads is not None and additive is None else None,
        leaves=inside.leaves and inside.leaves(label),
        gradient=inside.gradient and partial(inside.gradient, label),
        probabilities=first.distribution(),
        notes=(*model.notes_about(document.text), *mask_notes(inside, perturbation, label)),
        answers=rows.answers,
        check_repeats=memory.ask_again,
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
    """A model that is queried with texts: every position is a unit."""
    check = check_mask(model, document, perturbation, label, oracle)
    perturbation = check.perturbation
    free = np.flatnonzero(~perturbation.protected(document))
    if not len(free):
        raise TextError("Every word of the text is protected; there is nothing to explain.")
    units = one_per_position(document)
    units = units if len(free) == len(document) else Units(tuple((int(k),) for k in free))
    write = perturbation.writer(document, rng)
    memory = Memory(oracle, model.predict, label, recheck=True, repeats=model.repeats)
    for text, answer in ((document.text, first), *check.answers):
        memory.remember(text, answer)

    def written(counts: Counts) -> Iterator[list[str]]:
        for piece in pieces(len(counts), len(document)):
            part = counts[piece]
            kept = np.ones((len(part), len(document)), dtype=bool)
            kept[:, free] = part > 0
            yield write(kept)

    def ask(counts: Counts) -> tuple[Bools, Floats]:
        answers = [memory(texts, text_keys(texts)) for texts in written(counts)]
        holds, odds = zip(*answers, strict=True) if answers else (((),), ((),))
        return np.concatenate(holds).astype(bool), np.concatenate(odds).astype(np.float64)

    def chances(counts: Counts) -> Floats:
        return np.concatenate([memory.chances(texts, text_keys(texts)) for texts in written(counts)])

    return Reading(
        document,
        units,
        label,
        perturbation,
        holds=lambda counts: ask(counts)[0],
        log_odds=None if first.probabilities is None else lambda counts: ask(counts)[1],
        chances=None if first.probabilities is None else chances,
        oracle=oracle,
        repeatable=perturbation.repeatable,
        probabilities=first.distribution(),
        notes=(*model.notes_about(document.text), *check.notes),
        answers=ask,
        check_repeats=memory.ask_again,
        gradient=text_gradient(model, document, perturbation, free, label, oracle),
    )
