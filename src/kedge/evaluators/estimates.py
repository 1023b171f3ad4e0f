"""What an evaluator says about anchors: the paper's evaluation function p, with what it does not know.

A closed form is sampling with infinitely many trials, so that exact, Gaussian and empirical
evaluators serve every strategy through one interface.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kedge.evaluators.intervals import kl_lower, kl_upper
from kedge.results.interval import Interval
from kedge.typing import Bools, Counts, Floats, Kept

__all__ = ["Estimates", "Evaluator"]


@dataclass(frozen=True)
class Estimates:
    """Precision of k anchors.

    Parameters
    ----------
    mean
        (k,) best estimates; 0.5 for an anchor never sampled.
    trials
        (k,) samples behind each, infinite for a closed form.
    slack
        (k,) half the width of what a closed form leaves open; 0 when it is exact.
    """

    mean: Floats
    trials: Floats
    slack: Floats

    @classmethod
    def closed(cls, mean: Floats, slack: Floats | float = 0.0) -> "Estimates":
        """Estimates of a closed form."""
        return cls(mean, np.full(len(mean), np.inf), np.broadcast_to(slack, mean.shape))

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def settled(self) -> Bools:
        """(k,) where further sampling changes nothing."""
        settled: Bools = np.isinf(self.trials)
        return settled

    def lower(self, beta: float) -> Floats:
        """(k,) lower bounds: the slack of a closed form, else the KL bound at exploration rate beta."""
        settled = self.settled
        trials = np.where(settled, 1.0, self.trials)
        slack: Floats = np.maximum(self.mean - self.slack, 0)
        return slack if settled.all() else np.where(settled, slack, kl_lower(self.mean, trials, beta))

    def upper(self, beta: float) -> Floats:
        """(k,) upper bounds, likewise."""
        settled = self.settled
        trials = np.where(settled, 1.0, self.trials)
        slack: Floats = np.minimum(self.mean + self.slack, 1)
        return slack if settled.all() else np.where(settled, slack, kl_upper(self.mean, trials, beta))

    def bounds(self, beta: float) -> tuple[Floats, Floats]:
        """Lower and upper bounds."""
        return self.lower(beta), self.upper(beta)

    def intervals(self, beta: float) -> list[Interval]:
        """What is known of each anchor at exploration rate ``beta``."""
        rows = zip(self.lower(beta).tolist(), self.mean.tolist(), self.upper(beta).tolist(), strict=True)
        return [Interval(*row) for row in rows]


class Evaluator(Protocol):
    """The paper's p: anchors to estimates.

    ``name`` says how it knows (``"convolution"``, ``"samples"``...) and ``sampled`` whether it draws
    samples, so that what it says is an estimate.
    """

    @property
    def name(self) -> str:
        """How the precision is found."""
        ...

    @property
    def sampled(self) -> bool:
        """Whether samples are drawn."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about it on this document."""
        ...

    @property
    def every(self) -> Floats | None:
        """The precision of every anchor there is, the empty one first, where a table holds them all."""
        ...

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Draw ``samples`` more for each anchor (a closed form needs none), then give the estimates."""
        ...

    def refine(self, kept: Kept, threshold: float | None = None) -> Interval:
        """What is known of one anchor, refined while its side of a threshold is open."""
        ...

    def seen(self, kept: Kept) -> tuple[Counts, Bools] | None:
        """The samples drawn for an anchor and whether each kept the label, where they were kept."""
        ...
