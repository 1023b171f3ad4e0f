"""A model of two answers made of a model of many: one label against another, or against all the rest.

Everything after it sees a model of two classes, whatever it is made of; what can be read of the pair is read.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kedge.errors import LabelError
from kedge.model.model import Model, Predictions
from kedge.model.scores.inside import Inside
from kedge.model.scores.leaves import LeafBoxes
from kedge.perturb import Masking
from kedge.text.document import Document
from kedge.typing import Bools, Counts, Label
from kedge.utils.sentences import Option

__all__ = ["between", "one_or_rest", "rest_of", "the_one", "the_pair"]

Rows = Callable[[Counts], Bools]
"""Rows of counts to whether a label holds."""

_READ = ("additive", "normalised", "algebra", "leaves", "class_slopes", "gradient", "slopes")


def rest_of(label: Label) -> str:
    """What a model of one label against the rest calls the rest."""
    return f"not {label}"


def between(model: Model, label: Label, other: Label) -> Model:
    """The model's preference between two labels, whatever it thinks of the others."""
    read: dict[str, Any] = dict.fromkeys((*_READ, "leads"))
    if model.between is not None:
        read |= model.between(label, other)
    return _two(model, lambda given: the_pair(given, label, other), read)


def the_pair(given: Predictions, label: Label, other: Label) -> Predictions:
    """The answers of a model that knows two labels only: of larger probability, or else score."""
    if given.strengths is None or given.classes is None:
        raise LabelError(
            Option("against"),
            " compares the probabilities of two labels, so it needs a model that gives probabilities (or "
            "scores) of exclusive classes, such as pipeline.predict_proba.",
        )
    pair = sorted((label, other), key=given.column)
    both = given.strengths[:, [given.column(name) for name in pair]]
    if given.probabilities is None:
        return _labelled(both[:, 1] > both[:, 0], pair, None)
    total = both.sum(axis=1, keepdims=True)
    shares = np.divide(both, total, out=np.full_like(both, 0.5), where=total > 0)
    return _labelled(both[:, 1] > both[:, 0], pair, shares)


def one_or_rest(model: Model, label: Label) -> Model:
    """The model reduced to one question: whether a text has this label."""

    def leaves(words: Sequence[str], sizes: Counts, asked: Label) -> LeafBoxes | None:
        assert model.leaves is not None  # noqa: S101  (declared only where it is there)
        boxes = model.leaves(words, sizes, label)
        return boxes if boxes is None or asked == label else replace(boxes, label=~boxes.label)

    def algebra(words: Sequence[str], sizes: Counts, asked: Label, ask: Rows) -> Rows | None:
        assert model.algebra is not None  # noqa: S101
        return _not(partial(model.algebra, words, sizes), label, asked, ask)

    def opened(found: Inside) -> dict[str, Any]:
        inside = found.algebra
        return {"algebra": inside and (lambda asked, ask: _not(inside, label, asked, ask))}

    read: dict[str, Any] = dict.fromkeys(_READ)
    read["leaves"] = model.leaves and leaves
    read["algebra"] = model.algebra and algebra
    return _two(model, lambda given: the_one(given, label), read, opened)


def _not(algebra: Callable[[Label, Rows], Rows | None], label: Label, asked: Label, ask: Rows) -> Rows | None:
    """Whether a label holds, or that it does not, by arithmetic."""
    if asked == label:
        return algebra(label, ask)
    holds = algebra(label, lambda counts: ~ask(counts))
    return None if holds is None else lambda counts: ~holds(counts)


def the_one(given: Predictions, label: Label) -> Predictions:
    """The answers of a model that knows one label, and that it is another."""
    shares = None
    if given.probabilities is not None and given.classes is not None and label in given.classes:
        mine = given.probabilities[:, given.classes.index(label)]
        shares = np.column_stack([1 - mine, mine])
    return _labelled(given.hold(label), [rest_of(label), label], shares)


def _labelled(second: Bools, names: Sequence[Label], shares: Any) -> Predictions:
    both = np.empty(2, dtype=object)
    both[:] = names
    return Predictions(both[second.astype(np.int64)], tuple(names), shares)


def _two(
    model: Model,
    told: Callable[[Predictions], Predictions],
    read: dict[str, Any],
    reads: Callable[[Inside], dict[str, Any]] | None = None,
) -> Model:
    """The same model with other answers, and with what can be read of these: of all texts, or of one."""
    from_words, from_counts, opened = model.from_words, model.from_counts, model.opened

    def counted(words: Sequence[str]) -> Callable[[Counts], Predictions]:
        assert from_counts is not None  # noqa: S101
        answer = from_counts(words)
        return lambda counts: told(answer(counts))

    def inside(document: Document, perturbation: Masking) -> Inside | None:
        assert opened is not None  # noqa: S101
        found = opened(document, perturbation)
        if found is None:
            return None
        bare = found.bare
        changes = {} if reads is None else reads(found)
        return Inside(
            found.units,
            lambda counts: told(found.predict(counts)),
            bare=bare and (lambda: told(bare())),
            **changes,
        )

    return replace(
        model,
        predict=lambda texts: told(model.predict(texts)),
        from_words=from_words and (lambda documents: told(from_words(documents))),
        from_counts=from_counts and counted,
        opened=opened and inside,
        own=None,  # the user's object knows no such question
        remake=None,
        **read,
    )
