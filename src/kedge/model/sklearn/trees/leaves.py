"""A fitted scikit-learn decision tree as boxes of word counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kedge.model.model import python_label
from kedge.model.scores.leaves import LeafBoxes
from kedge.model.sklearn.words.features import Features
from kedge.typing import Counts, Floats, Label

__all__ = ["is_tree", "leaf_boxes"]


def is_tree(estimator: Any) -> bool:
    """Whether this is a decision tree whose leaves are boxes: that very type, one output."""
    from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

    return type(estimator) in {DecisionTreeClassifier, ExtraTreeClassifier} and estimator.n_outputs_ == 1


def leaf_boxes(
    features: Features, estimator: Any, words: Sequence[str], sizes: Counts, label: Label
) -> LeafBoxes | None:
    """The leaves that some sample of the document can reach; None where a norm mixes the words.

    A node asks whether float32(x) <= threshold. Features grow with the count, so that is a
    question about the count: at most the largest c with float32(x(c)) <= threshold. Words of the
    vocabulary that are not in the document have the count 0.
    """
    if features.norm is not None:
        return None
    columns = features.columns(words)
    steps = np.arange(int(sizes.max(initial=0)) + 1)
    values = features.frequency(np.repeat(steps[:, None], len(columns), axis=1)) * features.scale(columns)
    seen = values.astype(np.float32)  # what the tree compares
    if not (np.diff(seen, axis=0) >= 0).all():
        return None
    tree, unit_of = estimator.tree_, {int(c): j for j, c in enumerate(columns)}
    left, right = tree.children_left, tree.children_right
    classes = [python_label(c) for c in estimator.classes_.tolist()]
    lows: list[Floats] = []
    highs: list[Floats] = []
    labels: list[bool] = []
    free = np.full(len(columns), -np.inf), np.full(len(columns), np.inf)
    stack = [(0, *free)]
    while stack:
        node, low, high = stack.pop()
        if left[node] < 0:
            lows.append(low)
            highs.append(high)
            labels.append(classes[int(tree.value[node, 0].argmax())] == label)
            continue
        threshold = tree.threshold[node]
        j = unit_of.get(int(tree.feature[node]))
        if j is None:
            stack.append((left[node] if threshold >= 0 else right[node], low, high))
            continue
        # The largest count that goes left, -1 if none does.
        cut = int(np.count_nonzero(seen[: sizes[j] + 1, j] <= threshold)) - 1
        if cut < min(high[j], sizes[j]):  # some count goes right
            narrow = low.copy()
            narrow[j] = max(low[j], cut)
            stack.append((right[node], narrow, high))
        if cut > max(low[j], -1):  # some count goes left
            narrow = high.copy()
            narrow[j] = min(high[j], cut)
            stack.append((left[node], low, narrow))
    return LeafBoxes(np.array(lows), np.array(highs), np.array(labels))
