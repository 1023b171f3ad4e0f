"""CatBoost's trees: they compare in single precision; what is absent from a sparse row is zero."""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from kedge.model.scores.cutting import RawTree
from kedge.model.sklearn.trees.boosted import Boosted, names_of, single_bound, start_of

__all__ = ["catboost_trees"]


def catboost_trees(final: Any) -> Boosted | None:
    """CatBoost; None for losses whose labels are not the largest sum, and for columns that are no numbers."""
    if final.get_all_params().get("loss_function") not in {"Logloss", "MultiClass"}:
        return None
    if final.get_probability_threshold() not in {None, 0.5}:
        return None
    with tempfile.TemporaryDirectory() as folder:  # its own format is written to files only
        path = Path(folder, "model.json")
        final.save_model(str(path), format="json")
        saved = json.loads(path.read_text(encoding="utf-8"))
    info, (scale, bias) = saved["features_info"], saved["scale_and_bias"]
    if set(info) != {"float_features"}:
        return None
    columns = [int(feature["flat_feature_index"]) for feature in info["float_features"]]
    trees = [_symmetric(tree, columns, len(bias)) for tree in saved.get("oblivious_trees", ())]
    trees += [_grown(tree, columns, len(bias)) for tree in saved.get("trees", ())]
    for tree in trees:
        tree.value[:] *= scale
    names = names_of(final)
    if not trees or len(names) != max(2, len(bias)):
        return None
    margin = final.predict(np.zeros((1, len(columns)), dtype=np.float32), prediction_type="RawFormulaVal")
    return Boosted(trees, start_of(trees, margin), names)


def _symmetric(tree: dict[str, Any], columns: list[int], groups: int) -> RawTree:
    """Every level asks one question, whose answer is a bit of the leaf's number."""
    splits = tree["splits"]
    depth = len(splits)
    inner, leaves = (1 << depth) - 1, 1 << depth
    # Node n has the children 2n + 1 and 2n + 2; at the bottom the path, read backwards, is the leaf.
    level = [(n + 1).bit_length() - 1 for n in range(inner)]
    paths = [int(format(k, f"0{depth}b")[::-1], 2) if depth else 0 for k in range(leaves)]
    value = np.zeros((inner + leaves, groups))
    value[inner:] = np.array(tree["leaf_values"], dtype=np.float64).reshape(leaves, groups)[paths]
    asked = [splits[k] for k in level]
    return _raw(
        [columns[split["float_feature_index"]] for split in asked] + [-1] * leaves,
        [split["border"] for split in asked] + [0.0] * leaves,
        [2 * n + 1 for n in range(inner)] + [-1] * leaves,
        [2 * n + 2 for n in range(inner)] + [-1] * leaves,
        value,
    )


def _grown(root: dict[str, Any], columns: list[int], groups: int) -> RawTree:
    """A tree whose nodes ask what they like."""
    nodes, at = [root], {id(root): 0}
    for node in nodes:  # grows while it is gone through
        for child in (node.get("left"), node.get("right")):
            if child is not None:
                at[id(child)] = len(nodes)
                nodes.append(child)
    value = np.zeros((len(nodes), groups))
    for number, node in enumerate(nodes):
        value[number] = node.get("value", 0.0)
    inner = ["split" in node for node in nodes]
    return _raw(
        [columns[n["split"]["float_feature_index"]] if i else -1 for n, i in zip(nodes, inner, strict=True)],
        [n["split"]["border"] if i else 0.0 for n, i in zip(nodes, inner, strict=True)],
        [at[id(n["left"])] if i else -1 for n, i in zip(nodes, inner, strict=True)],
        [at[id(n["right"])] if i else -1 for n, i in zip(nodes, inner, strict=True)],
        value,
    )


def _raw(feature: list[int], border: list[float], left: list[int], right: list[int], value: Any) -> RawTree:
    """A feature above the border, both in single precision, goes right."""
    borders = np.array(border, dtype=np.float32).astype(np.float64)
    return RawTree(feature, single_bound(borders).tolist(), (borders >= 0.0).tolist(), left, right, value)
