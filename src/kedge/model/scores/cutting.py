"""Trees cut down to the words of one document.

Every word that is not in the document counts zero in all of its samples, so most questions of a tree have
one answer there, and what is left of a hundred trees is a few questions about a few words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from kedge.model.scores.ensemble import Ensemble, Features, Node, Question, Touched
from kedge.typing import Floats

__all__ = ["RawTree", "cut_down"]


@dataclass(frozen=True)
class RawTree:
    """A fitted tree, as lists: a node asks whether x[feature] <= bound, and goes left if so.

    Parameters
    ----------
    feature
        The column a node asks about; -1 in a leaf.
    bound
        Features in double precision up to this bound go left.
    zero_left
        Where a feature of zero goes: left or right.
    left, right
        The next nodes.
    value
        (nodes, k) what a leaf adds to the score of each class.
    """

    feature: list[int]
    bound: list[float]
    zero_left: list[bool]
    left: list[int]
    right: list[int]
    value: Floats


def cut_down(
    trees: Sequence[RawTree],
    columns: Sequence[int],
    features: Features | Touched,
    start: Floats,
    fixed: Mapping[int, float] = MappingProxyType({}),
) -> Ensemble:
    """What the trees ask about ``columns``; of the other features some are ``fixed``, the rest zero."""
    unit_of = {column: j for j, column in enumerate(columns)}
    numbers: dict[Question, int] = {}
    kept = []
    for tree in trees:
        leaves: list[int] = []
        node = _cut(tree, 0, unit_of, features, fixed, numbers, leaves, {})
        kept.append((node, tree.value[leaves]))
    # Questions about the same word one after the other.
    questions = sorted(numbers)
    place = {numbers[question]: number for number, question in enumerate(questions)}
    trees_left = tuple((_renumbered(node, place), values) for node, values in kept)
    return Ensemble(features, tuple(questions), trees_left, start)


def _renumbered(node: Node, place: dict[int, int]) -> Node:
    if isinstance(node, int):
        return node
    return (_renumbered(node[0], place), _renumbered(node[1], place), place[node[2]])


def _cut(
    tree: RawTree,
    node: int,
    unit_of: dict[int, int],
    features: Features | Touched,
    fixed: Mapping[int, float],
    numbers: dict[Question, int],
    leaves: list[int],
    path: dict[int, tuple[bool, float, float]],
) -> Node:
    """A tree from a node on; ``path`` says of units whether they may be zero, and between what they are."""
    while True:
        column = tree.feature[node]
        if column < 0:
            leaves.append(node)
            return len(leaves) - 1
        zero_left, bound = tree.zero_left[node], tree.bound[node]
        unit = unit_of.get(column)
        if unit is None:
            goes = fixed[column] <= bound if column in fixed else zero_left
            node = tree.left[node] if goes else tree.right[node]
            continue
        zero, low, high = path.get(unit, (True, 0.0, np.inf))
        goes_left = (zero and zero_left, low, min(high, bound))
        goes_right = (zero and not zero_left, max(low, bound), high)
        some = [side[0] or features.between(unit, *side[1:]) for side in (goes_left, goes_right)]
        if all(some):
            asked = (unit, features.plain(unit, bound), zero_left)
            number = numbers.setdefault(asked, len(numbers))
            sides = (tree.left[node], goes_left), (tree.right[node], goes_right)
            left, right = (
                _cut(tree, there, unit_of, features, fixed, numbers, leaves, {**path, unit: known})
                for there, known in sides
            )
            return (left, right, number)
        node = tree.left[node] if some[0] else tree.right[node]
