"""A model's declared inside against its own answers, once per explainer.

An exact answer rests on what the conversion of a model says of its inside. A wrong declaration
would make every such answer wrong, so before the first one a few masked texts are put to the model
itself, and every declared capability must give the same labels. This is a check of the explainer,
not of the document: its questions are not counted as queries of the explanation.
"""

import numpy as np

from kedge.errors import ModelError
from kedge.model.model import Model
from kedge.oracle import Oracle
from kedge.reading import Reading
from kedge.typing import Bools, Counts

__all__ = ["verify"]

# Masked texts asked about, besides the one with every word removed: enough to see a wrong weight,
# and still a single batch.
_TEXTS = 5


def verify(model: Model, reading: Reading) -> None:
    """Compare labels from counts with labels of texts; refuse a model that contradicts itself."""
    rng = np.random.default_rng(0)
    masks = rng.random((_TEXTS + 1, len(reading.document))) < 0.5
    masks[-1] = False
    masks |= reading.perturbation.protected(reading.document)
    counts = np.stack([masks[:, list(group)].sum(axis=1) for group in reading.units.members], axis=1)
    texts = reading.perturbation.writer(reading.document, rng)(masks)
    truth = Oracle().ask(model.predict, texts).hold(reading.label)
    for name, answer, sure in _declared(model, reading, counts):
        wrong = np.flatnonzero((answer != truth) & sure)
        if len(wrong):
            raise ModelError(
                f"The model contradicts what is known of its inside: by its {name} the text "
                f"{_short(texts[wrong[0]])!r} {'has' if answer[wrong[0]] else 'does not have'} the label "
                f"{reading.label!r}, by its own prediction it {'has' if truth[wrong[0]] else 'has not'}. "
                "Pass a plain function, kedge.explain(lambda texts: pipeline.predict(texts), text), to "
                "have it treated as a black box, and please report this."
            )


def _declared(model: Model, reading: Reading, counts: Counts) -> list[tuple[str, Bools, Bools]]:
    """Each capability's name, its labels for the counts, and where it claims to know."""
    sure = np.ones(len(counts), dtype=bool)
    declared = []
    if model.from_counts is not None:
        words = [reading.document.tokens[group[0]].word for group in reading.units.members]
        predict = model.from_counts(words)
        declared.append(("word counts", predict(counts).hold(reading.label), sure))
        ask = lambda rows: predict(rows).hold(reading.label)  # noqa: E731
        algebra = model.algebra and model.algebra(words, reading.label, ask)
        if algebra is not None:
            declared.append(("weights", algebra(counts), sure))
    if reading.additive is not None:
        score = reading.additive
        close = np.abs(score.score(counts)) <= 2 * score.error + 1e-12 * score.magnitude
        declared.append(("score", score.holds(counts), ~close))
    if reading.leaves is not None:
        declared.append(("leaves", reading.leaves.holds(counts), sure))
    return declared


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
