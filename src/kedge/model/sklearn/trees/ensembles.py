"""Ensembles of trees, cut down to the words of a document."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kedge.model.scores.cutting import cut_down
from kedge.model.scores.ensemble import Ensemble
from kedge.model.scores.ensemble import Features as Table
from kedge.model.sklearn.trees.boosted import Boosted
from kedge.model.sklearn.trees.checksum import trees_checksum
from kedge.model.sklearn.trees.from_catboost import catboost_trees
from kedge.model.sklearn.trees.from_lightgbm import lightgbm_trees
from kedge.model.sklearn.trees.from_scikit import forest, gradient_boosting, histogram_boosting, lone_tree
from kedge.model.sklearn.trees.from_xgboost import xgboost_trees
from kedge.model.sklearn.words.features import Features
from kedge.typing import Bools, Counts, Label

__all__ = ["cut_capabilities", "reads_trees", "tree_labels"]


# The very types whose trees are read, by module and name: none is imported for that.
_KNOWN: dict[tuple[str, str], Callable[[Any, bool], Boosted | None]] = {
    ("sklearn.tree._classes", "DecisionTreeClassifier"): lambda final, _: lone_tree(final),
    ("sklearn.tree._classes", "ExtraTreeClassifier"): lambda final, _: lone_tree(final),
    ("sklearn.ensemble._forest", "RandomForestClassifier"): lambda final, _: forest(final),
    ("sklearn.ensemble._forest", "ExtraTreesClassifier"): lambda final, _: forest(final),
    ("sklearn.ensemble._gb", "GradientBoostingClassifier"): lambda final, _: gradient_boosting(final),
    (
        "sklearn.ensemble._hist_gradient_boosting.gradient_boosting",
        "HistGradientBoostingClassifier",
    ): lambda final, _: histogram_boosting(final),
    ("xgboost.sklearn", "XGBClassifier"): lambda final, dense: xgboost_trees(final, dense=dense),
    ("lightgbm.sklearn", "LGBMClassifier"): lambda final, _: lightgbm_trees(final),
    ("catboost.core", "CatBoostClassifier"): lambda final, _: catboost_trees(final),
}


def reads_trees(final: Any, *, dense: bool) -> Callable[[], Boosted | None] | None:
    """How to read a fitted ensemble's trees, once until their numbers change; None for any other estimator.

    The very types: a subclass may add up in another way.

    ``dense``: the estimator gets arrays, in which nothing is missing.
    """
    known = _KNOWN.get((type(final).__module__, type(final).__name__))
    if known is None:
        return None
    last: list[tuple[int, Boosted | None]] = []

    def read() -> Boosted | None:
        now = trees_checksum(final)
        if not last or last[0][0] != now:  # the first time, or numbers were changed in place
            last[:] = [(now, known(final, dense))]
        return last[0][1]

    return read


def cut_capabilities(features: Features, trees: Callable[[], Boosted | None]) -> dict[str, Any]:
    """What a pipeline of word features and an ensemble of trees lets us know of a document."""
    known: dict[tuple[str, ...], tuple[Boosted, Ensemble]] = {}

    def matters(words: Sequence[str], sizes: Counts) -> Bools:
        boosted = trees()
        known.clear()  # one document after the other
        cut = None if boosted is None else _cut_to(features, boosted, words, sizes)
        matter = np.ones(len(words), dtype=bool)
        if boosted is not None and cut is not None and cut.asked:
            matter[:] = False
            matter[cut.asked] = True
            left = tuple(word for word, yes in zip(words, matter.tolist(), strict=True) if yes)
            known[left] = boosted, cut.restricted()
        return matter

    def algebra(
        words: Sequence[str], sizes: Counts, label: Label, ask: Callable[[Counts], Bools]
    ) -> Callable[[Counts], Bools] | None:
        boosted, cut = known.get(tuple(words)) or (trees(), None)
        if boosted is None or label not in boosted.classes:
            return None
        if cut is None or not _made_for(cut, sizes):
            cut = _cut_to(features, boosted, words, sizes)
        return None if cut is None else tree_labels(boosted, cut, label, ask)

    return {"matters": matters, "algebra": algebra}


def _made_for(cut: Ensemble, sizes: Counts) -> bool:
    return isinstance(cut.features, Table) and np.array_equal(cut.features.sizes, sizes)


def _cut_to(features: Features, boosted: Boosted, words: Sequence[str], sizes: Counts) -> Ensemble | None:
    """The ensemble on the words of a document; None where its features cannot be followed."""
    if features.norm not in {None, "l2"} or (features.single and (features.norm or features.sublinear)):
        return None
    columns = features.columns(words)
    steps = np.repeat(np.arange(int(sizes.max(initial=0)) + 1)[:, None], len(columns), axis=1)
    table = (features.frequency(steps) * features.scale(columns)).T
    if features.single:  # products are rounded there, logarithms and norms in ways of their own
        table = table.astype(np.float32).astype(np.float64)
    if (np.diff(table, axis=1) < 0).any() or (table[:, 1] <= 0).any():
        return None
    seen = Table(np.ascontiguousarray(table), sizes, features.norm is not None)
    return cut_down(boosted.trees, columns.tolist(), seen, boosted.start)


def tree_labels(
    boosted: Boosted, ensemble: Ensemble, label: Label, ask: Callable[[Counts], Bools]
) -> Callable[[Counts], Bools]:
    """Counts to whether the label holds; what is within rounding is left to the model itself."""
    place, single = boosted.classes.index(label), len(boosted.start) == 1
    reach = np.abs(ensemble.start) + sum(np.abs(values).max(axis=0) for _, values in ensemble.trees)
    error = boosted.rounding * float(reach.max())

    def holds(counts: Counts) -> Bools:
        scores, doubt = ensemble.scores(counts)
        if boosted.exact:
            held: Bools = (scores / boosted.divisor).argmax(axis=1) == place
        elif single:
            held = (scores[:, 0] > 0.0) == (place == 1)
            doubt = doubt | (np.abs(scores[:, 0]) <= error)
        else:
            rivals = np.delete(scores, place, axis=1).max(axis=1)
            held = scores[:, place] > rivals
            doubt = doubt | (np.abs(scores[:, place] - rivals) <= error)
        if doubt.any():
            held[doubt] = ask(counts[doubt])
        return held

    return holds
