"""One text, explained again and again, and how far the answers agree."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any

from kedge.compare import jaccard
from kedge.errors import OptionError
from kedge.explain import Explainer
from kedge.explanation import Explanation

__all__ = ["Stability", "stability"]


@dataclass(frozen=True)
class Stability:
    """The explanations of one text under several seeds and thresholds, threshold by threshold."""

    explanations: tuple[Explanation, ...]

    @property
    def by_threshold(self) -> dict[float, tuple[Explanation, ...]]:
        """The explanations of each threshold, in the order of the seeds."""
        groups = groupby(self.explanations, key=lambda e: e.threshold)
        return {threshold: tuple(group) for threshold, group in groups}

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


def stability(
    model: Any,
    text: str,
    *,
    seeds: Iterable[int] = range(10),
    thresholds: Sequence[float] = (0.95,),
    **options: Any,
) -> Stability:
    """Explain a text with each seed at each threshold.

    An exact answer does not depend on the seed; a sampled one may, and this tells how much.

    >>> import kedge
    >>> found = stability(kedge.rules.present("good"), "so good", seeds=range(3), thresholds=[0.9, 0.99])
    >>> found.over_seeds, found.over_thresholds
    ({0.9: 1.0, 0.99: 1.0}, 1.0)
    """
    seeds = list(seeds)
    if not seeds or not len(thresholds):
        raise OptionError("stability needs at least one seed and one threshold.")
    return Stability(
        tuple(
            Explainer(model, **options | {"seed": seed, "threshold": threshold}).explain(text)
            for threshold in thresholds
            for seed in seeds
        )
    )


def _likeness(explanations: Sequence[Explanation]) -> float:
    return _mean([jaccard(a.words, b.words) for a, b in combinations(explanations, 2)])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 1.0
