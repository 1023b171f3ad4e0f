"""scikit-learn's linear steps, norms and selectors, as changes of known features."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kedge.model.sklearn.fitted import makes_dense
from kedge.model.sklearn.windows.norming import normed
from kedge.model.sklearn.windows.parts import Part, cut, elementwise, projected, scaled, selected, shifted
from kedge.typing import Floats

__all__ = ["is_none", "passed"]

_SELECTORS = frozenset({
    "SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe", "GenericUnivariateSelect",
    "VarianceThreshold", "SelectFromModel", "RFE", "RFECV", "SequentialFeatureSelector",
})  # fmt: skip


def is_none(step: Any) -> bool:
    """Whether a step passes everything through."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def passed(step: Any, part: Part) -> Part | None:
    """What a fitted step makes of features; None for a step that is not known.

    Exact types of scikit-learn's own modules: a subclass may do anything.
    """
    if is_none(step) or makes_dense(step):
        return part
    kind = type(step)
    if not kind.__module__.startswith("sklearn."):
        return None
    if kind.__name__ in _SELECTORS and kind.__module__.startswith("sklearn.feature_selection."):
        return selected(part, np.flatnonzero(step.get_support()))
    known = _KNOWN.get((kind.__module__.split(".")[1], kind.__name__))
    return None if known is None else known(step, part)


def _tfidf(step: Any, part: Part) -> Part | None:
    found: Part | None = part
    if step.sublinear_tf:
        if part.signed or not part.whole:
            return None
        found = elementwise(part, _logarithm)
    if found is not None and hasattr(step, "idf_"):
        found = scaled(found, step.idf_)
    if found is not None and step.norm is not None:
        found = normed(found, step.norm)
    return found


def _logarithm(values: Floats) -> Floats:
    seen = values > 0
    found = np.zeros_like(values)
    found[seen] = np.log(values[seen]) + 1.0
    return found


def _max_abs(step: Any, part: Part) -> Part | None:
    return None if getattr(step, "clip", False) else scaled(part, 1.0 / step.scale_)


def _standard(step: Any, part: Part) -> Part:
    if step.with_mean:
        part = shifted(part, -step.mean_)
    return part if step.scale_ is None else scaled(part, 1.0 / step.scale_)


def _min_max(step: Any, part: Part) -> Part | None:
    return None if step.clip else shifted(scaled(part, step.scale_), step.min_)


def _robust(step: Any, part: Part) -> Part:
    if step.with_centering:
        part = shifted(part, -step.center_)
    return part if not step.with_scaling else scaled(part, 1.0 / step.scale_)


def _pca(step: Any, part: Part) -> Part | None:
    return None if step.whiten else projected(shifted(part, -step.mean_), step.components_)


_KNOWN: dict[tuple[str, str], Callable[[Any, Part], Part | None]] = {
    ("feature_extraction", "TfidfTransformer"): _tfidf,
    ("preprocessing", "MaxAbsScaler"): _max_abs,
    ("preprocessing", "StandardScaler"): _standard,
    ("preprocessing", "MinMaxScaler"): _min_max,
    ("preprocessing", "RobustScaler"): _robust,
    ("preprocessing", "Normalizer"): lambda step, part: normed(part, step.norm),
    ("preprocessing", "Binarizer"): lambda step, part: cut(part, step.threshold),
    ("decomposition", "TruncatedSVD"): lambda step, part: projected(part, step.components_),
    ("decomposition", "PCA"): _pca,
}
