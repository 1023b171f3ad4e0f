"""One text, explained again and again, and how far the answers agree."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Unpack

from kedge.errors import OptionError
from kedge.explainer import Explainer
from kedge.options import OptionsGiven, with_options
from kedge.results.explanation import Explanation
from kedge.studies.comparison import jaccard
from kedge.typing import Label
from kedge.utils.sentences import Option

__all__ = ["Stability", "stability"]


@dataclass(frozen=True)
class Stability:
    """The explanations of one text under several seeds and thresholds, threshold by threshold."""

    explanations: tuple[Explanation, ...]

    @property
    def by_threshold(self) -> dict[float, tuple[Explanation, ...]]:
        """The explanations of each threshold, in the order of the seeds."""
        groups: dict[float, list[Explanation]] = {}
        for e in self.explanations:
            groups.setdefault(e.threshold, []).append(e)
        return {threshold: tuple(group) for threshold, group in groups.items()}

    @property
    def over_seeds(self) -> dict[float, float]:
        """For each threshold the mean pairwise Jaccard over seeds: 1 when all agree."""
        return {threshold: _likeness(group) for threshold, group in self.by_threshold.items()}

    @property
    def over_thresholds(self) -> float:
        """The mean pairwise Jaccard of the most frequent anchors of the thresholds."""
        return _mean([jaccard(a, b) for a, b in combinations(self._typical(), 2)])

    @property
    def anchors(self) -> dict[float, Counter[tuple[str, ...]]]:
        """For each threshold how often each anchor came up."""
        return {t: Counter(e.words for e in group) for t, group in self.by_threshold.items()}

    def _typical(self) -> list[tuple[str, ...]]:
        return [counts.most_common(1)[0][0] for counts in self.anchors.values()]

    def __str__(self) -> str:
        lines = []
        for threshold, counts in self.anchors.items():
            (words, times), total = counts.most_common(1)[0], counts.total()
            lines.append(
                f"{threshold:g}: {' '.join(words)!r} in {times} of {total} seeds, "
                f"agreement {self.over_seeds[threshold]:.2f}"
            )
        return "\n".join(lines)


@with_options("seed", "threshold")
def stability(
    model: Any,
    text: str,
    *,
    seeds: Iterable[int] = range(10),
    thresholds: Iterable[float] = (0.95,),
    label: Label | None = None,
    **options: Unpack[OptionsGiven],
) -> Stability:
    """Explain a text with each seed at each threshold.

    The anchor of an exact answer and its precision do not depend on the seed (unless ``ties="random"``);
    its baseline may, where that is an estimate, and so may the number of queries. A sampled answer may
    change, and this shows how often.

    Parameters
    ----------
    model, text
        What to explain.
    seeds, thresholds
        Lists of seeds and of thresholds; one given twice counts once.
    label
        One of the labels that hold, for a multi-label model.
    options
        Those of ``Explainer`` but for ``seed`` and ``threshold``, listed below.

    >>> import kedge
    >>> found = stability(kedge.rules.present("good"), "so good", seeds=range(3), thresholds=[0.9, 0.99])
    >>> found.over_seeds, found.over_thresholds
    ({0.9: 1.0, 0.99: 1.0}, 1.0)
    """
    given: Mapping[str, object] = options
    for single, several in (("seed", "seeds"), ("threshold", "thresholds")):
        if single in given:
            raise OptionError(f"stability takes {several}=, a list, not {single}={given[single]!r}.")
    each = _distinct("seeds", seeds)
    first = Explainer(model, **options)  # converted and checked against the model once, for all
    explainers = [
        first.with_options(seed=seed, threshold=threshold)  # all checked before the first works
        for threshold in _distinct("thresholds", thresholds)
        for seed in each
    ]
    return Stability(tuple(explainer.explain(text, label) for explainer in explainers))


def _distinct(name: str, values: Any) -> list[Any]:
    """The values of a list, each once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise OptionError(Option(name), f" must be a list, got {values!r}; put a single one into a list.")
    found = list(values)
    if not found:
        raise OptionError(f"stability needs at least one of {name}, got an empty list.")
    return list(dict.fromkeys(found)) if all(isinstance(v, Hashable) for v in found) else found


def _likeness(explanations: Sequence[Explanation]) -> float:
    return _mean([jaccard(a.words, b.words) for a, b in combinations(explanations, 2)])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 1.0
