"""The paper's reading of a network: rank by gradient times IDF, take the shortest prefix.

To first order a differentiable model is linear around the document, so the words to keep are those
whose occurrence raises the label's score most. The ranking is trusted as it is: what is found is
the shortest prefix of it whose precision, as the evaluator gives it, reaches the threshold.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kedge.errors import OutOfQueries
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.search.knobs import check_at_least, check_evaluator, evaluator_obstacle, make_evaluator
from kedge.search.strategy import Candidate, EvaluatorName, Found, Goal, best_candidates

if TYPE_CHECKING:
    from kedge.typing import Status

__all__ = ["Gradient", "by_gradient"]


def by_gradient(reading: Reading) -> list[int]:
    """Occurrences (unit indices with repetition) by decreasing gradient, ties in the order of the text."""
    assert reading.gradient is not None  # noqa: S101  (strategies that rank by it have looked)
    units = np.argsort(-reading.gradient(), kind="stable")
    ranked: list[int] = np.repeat(units, reading.units.sizes[units]).tolist()
    return ranked


@dataclass(frozen=True)
class Gradient:
    """The shortest prefix of the ranking by gradient whose precision reaches the threshold.

    Parameters
    ----------
    evaluator
        ``"auto"``, ``"exact"`` or ``"empirical"``.
    samples
        Samples per prefix where the precision is sampled.
    """

    evaluator: EvaluatorName = "auto"
    samples: int = 400

    name: ClassVar = "gradient"
    ignores: ClassVar = frozenset({"ties"})

    def __post_init__(self) -> None:
        check_evaluator(self, ("auto", "exact", "empirical"))
        check_at_least("samples", self.samples)

    def obstacle(self, reading: Reading) -> str | None:
        """There must be a gradient."""
        if reading.gradient is None:
            return (
                "needs a model with a gradient (kedge.torch_model, a transformers classifier, or a pipeline "
                "that ends in a linear model or an MLPClassifier) and its own words"
            )
        return evaluator_obstacle(self.evaluator, reading)

    def suits(self, reading: Reading) -> bool:
        """Never by itself: the ranking proves nothing about other anchors."""
        del reading
        return False

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Halve the interval of lengths until the shortest prefix that reaches is found."""
        precision = make_evaluator(self.evaluator, reading, rng)
        order = by_gradient(reading)
        trace: list[Candidate] = []

        def look(length: int) -> Candidate:
            kept = tuple(sorted(order[:length]))
            seen = best_candidates([kept], precision([kept], self.samples), goal.rate)[0]
            trace.append(seen)
            return seen

        below, reaching = goal.shortest - 1, len(order)
        everything = Interval.exactly(1.0)  # with everything kept the label holds
        best = Candidate(tuple(sorted(order)), everything)
        why = ""
        try:
            while reaching - below > 1:
                # Anchors are short: double from the short end until one reaches, then halve.
                middle = min(2 * below + 1, (below + reaching) // 2) if below >= 0 else 0
                seen = look(max(middle, below + 1))
                if seen.interval.mean >= goal.threshold:
                    best, reaching = seen, len(seen.kept)
                else:
                    below = len(seen.kept)
        except OutOfQueries as error:
            why = error.sentence
        # A closed form leaves no doubt about the precision, only about a shorter anchor off the ranking.
        known = best.interval.low >= goal.threshold and bool(precision([best.kept]).settled[0])
        status: Status = "not_reached" if why else "certified" if known else "estimated"
        notes = (why,) if why else ()
        return Found(best.kept, best.interval, status, precision, tuple(trace), notes=notes)
