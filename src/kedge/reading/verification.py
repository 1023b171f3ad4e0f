"""Check what was read of a model against its own answers.

An exact answer rests on what the conversion of a model says of its inside. A wrong declaration
would make every such answer wrong, so before the first one (``verify``) a few masked texts are predicted by
the user's own object, and every declared capability must give the same labels. This is a check of the
model, not of the document: its queries are not counted as those of the explanation. For every document what
was read must give the label that the model gave (``confirm``).
"""

import numpy as np

from kedge.errors import ModelError
from kedge.model.model import Model
from kedge.reading.oracle import Oracle
from kedge.reading.reading import Reading
from kedge.typing import Bools, Counts
from kedge.utils.messages import shorten

__all__ = ["confirm", "verify"]

# Masked texts queried, besides the one with every word removed: enough to see a wrong weight,
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
    truth = Oracle().ask(model.own or model.predict, texts).hold(reading.label)
    declared = _declared(reading, counts)
    if model.own is not None:
        steps = Oracle().ask(model.predict, texts).hold(reading.label)
        declared.append(("steps", steps, np.ones(len(texts), dtype=bool)))
    for name, answer, sure in declared:
        wrong = np.flatnonzero((answer != truth) & sure)
        if len(wrong):
            raise _contradiction(name, texts[wrong[0]], reading, holds=bool(answer[wrong[0]]))


def confirm(reading: Reading) -> None:
    """Refuse a reading by whose inside the document has another label than the model gave it."""
    counts = reading.units.sizes[None]
    for name, answer, sure in _inside(reading, counts):
        if sure[0] and not answer[0]:
            raise _contradiction(name, reading.document.text, reading, holds=False)


def _contradiction(name: str, text: str, reading: Reading, *, holds: bool) -> ModelError:
    return ModelError(
        f"The model contradicts kedge's reading of it: by its {name} the text {shorten(text)!r} "
        f"{'has' if holds else 'does not have'} the label {reading.label!r}, by its own prediction it "
        f"{'does not' if holds else 'does'}. Pass a plain function, kedge.explain(lambda texts: "
        "pipeline.predict(texts), text), to treat it as a black box, and please report this."
    )


def _declared(reading: Reading, counts: Counts) -> list[tuple[str, Bools, Bools]]:
    """Each capability's name, its labels for the counts, and where it claims to know."""
    sure = np.ones(len(counts), dtype=bool)
    declared = []
    inside = reading.inside
    if inside is not None:
        declared.append(("word counts", inside.predict(counts).hold(reading.label), sure))
        ask = lambda rows: inside.predict(rows).hold(reading.label)  # noqa: E731
        algebra = inside.algebra and inside.algebra(reading.label, ask)
        if algebra is not None:
            declared.append(("weights", algebra(counts), sure))
    return declared + _inside(reading, counts)


def _inside(reading: Reading, counts: Counts) -> list[tuple[str, Bools, Bools]]:
    """The same of what the reading itself holds."""
    declared = []
    if reading.additive is not None:
        score = reading.additive
        values = score.score(counts)
        close = np.abs(values) <= 2 * score.error + 1e-12 * score.magnitude
        declared.append(("score", values > 0 if score.strict else values >= 0, ~close))
    if reading.chain is not None:
        chain = reading.chain
        declared.append(("n-grams", chain.holds(counts), np.abs(chain.score(counts)) > 2 * chain.error))
    if reading.leads is not None:
        leads = reading.leads
        clear: Bools = np.abs(leads.leads(counts)).min(axis=1) > 2 * leads.error
        declared.append(("leads", leads.holds(counts), clear))
    if reading.leaves is not None:
        declared.append(("leaves", reading.leaves.holds(counts), np.ones(len(counts), dtype=bool)))
    return declared
