"""From a text to what flips its label: the whole path of ``Explainer.flip``."""

import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kedge.errors import LabelError, OptionError, OutOfTime
from kedge.model.contrast import one_or_rest, rest_of, the_one
from kedge.model.model import Model, Predictions
from kedge.model.source import Converted
from kedge.perturb import Perturbation
from kedge.pipeline import Query, Setup, open_reading
from kedge.reading.oracle import Memory, Oracle, text_keys
from kedge.reading.reading import Reading
from kedge.results.flip import Flip
from kedge.studies.flips import lose_label, word_effects
from kedge.studies.replacing import Replacing
from kedge.text.anchor import Anchor
from kedge.text.inputs import one_text
from kedge.typing import Label
from kedge.utils.sentences import Option

__all__ = ["FlipQuery", "flip_label"]


@dataclass(frozen=True)
class FlipQuery:
    """A text whose label is to change: from which label, to which, and by which replacements."""

    text: str
    label: Label | None = None
    to: Label | None = None
    replace: Perturbation | None = None

    def __post_init__(self) -> None:
        if self.replace is not None and not all(hasattr(self.replace, x) for x in ("writer", "protected")):
            raise OptionError(
                Option("replace"), " takes a perturbation such as kedge.Neighbours(...), or nothing."
            )


def flip_label(wanted: FlipQuery, setup: Setup) -> Flip:
    """Find what flips a label, and query the model with the changed text."""
    started = time.perf_counter()
    model = setup.converted.model
    first = Oracle().ask(model.predict, [one_text(wanted.text)])  # counted when the reading is opened
    query, goal = Query(wanted.text, wanted.label, first), None
    if wanted.to is not None:
        _check(first, wanted.to)
        if len(first.classes or ()) != 2:
            goal = wanted.to
            setup = replace(setup, converted=Converted(one_or_rest(model, goal), setup.converted.checked))
            query = Query(wanted.text, rest_of(goal), the_one(first, goal))
    reading, rng = open_reading(query, setup)
    label = reading.label if goal is None or first.labels is None else first.labels[0]
    if wanted.replace is None:
        change = _by_removal(reading, goal, rng)
    else:
        change = _by_replacement(reading, setup.converted.model, wanted.replace, rng)
    after = None if change.text is None else _asked_about(change.text, reading.oracle, model)
    if after is not None and _keeps(after, label, wanted.to):
        change, after = replace(_NOTHING, notes=(_TAKEN_BACK,)), None
    document, anchor = reading.document, Anchor(change.positions)
    return Flip(
        text=document.text,
        label=label,
        to=wanted.to,
        new_label=None if after is None else _label_of(after, wanted.to),
        words=anchor.words(document),
        positions=anchor.positions,
        spans=anchor.spans(document),
        replacements=change.replacements,
        status=change.status,
        minimality=change.minimality,
        after=change.text,
        probabilities=_pairs(first),
        probabilities_after=None if after is None else _pairs(after),
        method=change.method,
        model=model.name,
        perturbation=reading.perturbation.name if wanted.replace is None else wanted.replace.name,
        queries=reading.oracle.queries,
        tokens=tuple((t.start, t.stop) for t in document.tokens),
        seconds=time.perf_counter() - started,
        notes=(*reading.notes, *change.notes),
    )


def _asked_about(text: str, oracle: Oracle, model: Model) -> Predictions | None:
    """What the model says of the changed text; None where there is no query or time left for it."""
    try:
        # The last query, to be answered however late it is.
        return oracle.ask(model.predict, [text], report=False) if oracle.remaining >= 1 else None
    except OutOfTime:
        return None


def _check(first: Predictions, to: Label) -> None:
    """Refuse a label that the model does not have, or that the text has already."""
    if first.classes is not None:
        first.column(to)
    if bool(first.hold(to)[0]):
        raise LabelError(
            f"The text already has the label {to!r}; give another as ", Option("to"), ", or leave it out."
        )


@dataclass(frozen=True)
class _Change:
    """What a search gives: the changed text, and what is known of it."""

    positions: tuple[int, ...] = ()
    text: str | None = None
    replacements: tuple[str, ...] | None = None
    status: Literal["exact", "verified", "not_found"] = "not_found"
    minimality: Literal["smallest", "irreducible", "open"] = "open"
    method: str = "asking"
    notes: tuple[str, ...] = ()


_NOTHING = _Change()
_TAKEN_BACK = (
    "By kedge's reading of the model the label would change, but the model itself did not change it."
)


def _by_removal(reading: Reading, goal: Label | None, rng: np.random.Generator) -> _Change:
    """The fewest words removed."""
    found = lose_label(reading, goal, rng)
    if found.cut is None:
        return replace(_NOTHING, method=found.method, notes=found.notes)
    positions = sorted(
        k
        for members, gone in zip(reading.units.members, found.cut.removed.tolist(), strict=True)
        for k in members[:gone]
    )
    kept = np.ones((1, len(reading.document)), dtype=bool)
    kept[0, positions] = False
    text = reading.perturbation.writer(reading.document, rng)(kept)[0]
    proven, irreducible = found.cut.proven, found.cut.irreducible
    return _Change(
        tuple(positions),
        text,
        status="exact" if proven else "verified",
        minimality="smallest" if proven else "irreducible" if irreducible else "open",
        method=found.method,
        notes=found.notes,
    )


def _by_replacement(
    reading: Reading, model: Model, perturbation: Perturbation, rng: np.random.Generator
) -> _Change:
    """Few words replaced."""
    memory = Memory(reading.oracle, model.predict, reading.label, recheck=False)
    replacing = Replacing(reading.document, perturbation, lambda texts: memory(texts, text_keys(texts)), rng)
    chosen = replacing(word_effects(reading, rng))
    if chosen is None:
        return _NOTHING
    places = tuple(sorted(chosen))
    words = tuple(chosen[k] for k in places)
    text = replacing.written(chosen)
    return _Change(places, text, words, status="verified", minimality="irreducible")


def _keeps(after: Predictions, label: Label, to: Label | None) -> bool:
    return bool(after.hold(label)[0]) if to is None else not bool(after.hold(to)[0])


def _label_of(after: Predictions, to: Label | None) -> Label | None:
    """What the model says now; of a multi-label model the requested label."""
    return to if after.labels is None else after.labels[0]


def _pairs(predictions: Predictions) -> tuple[tuple[Label, float], ...] | None:
    shares = predictions.distribution()
    return None if shares is None else tuple(shares.items())
