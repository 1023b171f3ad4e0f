"""The paper's reading of a network: rank by gradient times IDF, take the shortest prefix.

To first order a differentiable model is linear around the document, so the words to keep are those
whose occurrence raises the label's score most. The ranking is taken at its word: what is found is
the shortest prefix of it whose precision, as the evaluator gives it, reaches the threshold.
"""

from dataclasses import dataclass

import numpy as np

from kedge.errors import OptionError, OutOfQueries
from kedge.precision.estimates import Precision
from kedge.reading import Reading
from kedge.search.search import Candidate, Found, Goal, candidates

__all__ = ["Gradient", "by_gradient"]


def by_gradient(reading: Reading) -> list[int]:
    """Occurrences (unit indices with repetition) by decreasing gradient, ties in the order of the text."""
    if reading.gradient is None:
        raise OptionError(
            "method='gradient' needs a model with a gradient (kedge.torch_model, or a pipeline that ends in "
            "a linear model or an MLPClassifier) and its own words; use method='auto'."
        )
    units = np.argsort(-reading.gradient(), kind="stable")
    return [int(j) for j in np.repeat(units, reading.units.sizes[units])]


@dataclass(frozen=True)
class Gradient:
    """The search, configured.

    Parameters
    ----------
    samples
        Samples per prefix for an evaluator that samples, unless the goal asks for more.
    """

    samples: int = 400

    def __call__(self, reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
        """Halve the interval of lengths until the shortest prefix that reaches is found."""
        del rng  # the evaluator has its own
        order = by_gradient(reading)
        beta = float(np.log(1 / goal.delta))
        trace: list[Candidate] = []

        def look(length: int) -> Candidate:
            kept = tuple(sorted(order[:length]))
            seen = candidates([kept], precision([kept], max(self.samples, goal.samples)), beta)[0]
            trace.append(seen)
            return seen

        below, reaching = (-1 if goal.allow_empty else 0), len(order)
        best = Candidate(tuple(sorted(order)), 1.0, 1.0, 1.0)  # with everything kept the label holds
        why = ""
        try:
            while reaching - below > 1:
                # Anchors are short: double from the short end until one reaches, then halve.
                middle = min(2 * below + 1, (below + reaching) // 2) if below >= 0 else 0
                seen = look(max(middle, below + 1))
                if seen.mean >= goal.threshold:
                    best, reaching = seen, len(seen.kept)
                else:
                    below = len(seen.kept)
        except OutOfQueries as error:
            why = str(error)
        # A closed form leaves no doubt about the precision, only about a shorter anchor off the ranking.
        known = best.low >= goal.threshold and bool(precision([best.kept]).settled[0])
        return Found(
            best.kept,
            best.mean,
            best.low,
            best.high,
            "not_reached" if why else "certified" if known else "estimated",
            tuple(trace),
            notes=(why,) if why else (),
        )
