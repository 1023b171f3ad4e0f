"""Ensembles of trees behind n-grams, characters, hashes and unions, cut down to what a document touches."""

from collections.abc import Callable

import numpy as np

from kedge.model.scores.cutting import cut_down
from kedge.model.scores.ensemble import Touched
from kedge.model.sklearn.trees.boosted import Boosted
from kedge.model.sklearn.trees.ensembles import tree_labels
from kedge.model.sklearn.windows.occurrences import Windows
from kedge.model.sklearn.windows.parts import Part
from kedge.typing import Bools, Counts, Label

__all__ = ["Algebra", "tree_algebra"]

Algebra = Callable[[Label, Callable[[Counts], Bools]], Callable[[Counts], Bools] | None]


def tree_algebra(boosted: Boosted, windows: Windows, part: Part) -> Algebra | None:
    """Labels of an ensemble from rows of counts; None where its features cannot be followed."""
    if part.signed or part.single or not np.isfinite(part.offset).all():
        return None
    columns = part.columns.tolist()
    fixed = {} if part.background is None else dict(enumerate(part.background.tolist()))
    touched = Touched(lambda counts: np.asarray(part.values(windows.rows(counts))))
    cut = cut_down(
        boosted.trees, columns, touched, boosted.start, {k: x for k, x in fixed.items() if x != 0.0}
    )

    def algebra(label: Label, ask: Callable[[Counts], Bools]) -> Callable[[Counts], Bools] | None:
        return tree_labels(boosted, cut, label, ask) if label in boosted.classes else None

    return algebra
