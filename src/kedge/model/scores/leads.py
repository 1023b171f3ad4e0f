"""The lead of a label over each rival: linear in features of words, perhaps over their l2 norm."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.typing import Bools, Counts, Floats

__all__ = ["Leads"]


@dataclass(frozen=True, eq=False)
class Leads:
    """lead_k(c) = bias[k] + sum_j weights[j, k] x_j(c_j) / norm; the label holds iff it leads every rival.

    ``norm`` is sqrt(sum_j x_j(c_j)^2), or 1 where nothing is divided (and where nothing is left).

    Parameters
    ----------
    bias
        (r,) the leads at no word.
    weights
        (d, r) the weight of each word's feature in each lead.
    features
        (d, m + 1) x_j(c) for c up to the largest multiplicity m; x_j(0) = 0, and x_j never falls.
    sizes
        (d,) occurrences of each word; beyond them a row of ``features`` is not used.
    normed
        Whether the features are divided by their l2 norm.
    strict
        (r,) whether a tie goes to the rival.
    error
        Bound on the floating-point error of each lead, the model's and ours.
    """

    bias: Floats
    weights: Floats
    features: Floats
    sizes: Counts
    normed: bool
    strict: Bools
    error: float

    @property
    def rivals(self) -> int:
        """How many classes there are besides the label."""
        return len(self.bias)

    @cached_property
    def squares(self) -> Floats:
        """(d, m + 1) what each count adds to the squared norm."""
        return self.features**2

    @cached_property
    def cells(self) -> Floats:
        """The features of each count that a word can have, word by word.

        Most words occur once, and one of them many times: most of the table is empty.
        """
        return self.features[np.arange(self.features.shape[1]) <= self.sizes[:, None]]

    @cached_property
    def largest(self) -> float:
        """The norm of the whole document, which no sample exceeds; 1 without a norm."""
        if not self.normed:
            return 1.0
        return float(np.sqrt(self.squares[np.arange(len(self.sizes)), self.sizes].sum()))

    def parts(self, rival: int) -> Floats:
        """(d, m + 1) what each count adds to the lead over one rival, before the norm."""
        return self.weights[:, rival, None] * self.features

    def leads(self, counts: Counts) -> Floats:
        """(n, r) the lead over each rival."""
        x = self.features[np.arange(len(self.sizes)), counts]
        sums: Floats = x @ self.weights
        if self.normed:
            norm = np.sqrt((x * x).sum(axis=1))
            sums /= np.where(norm > 0, norm, 1.0)[:, None]
        return sums + self.bias

    def holds(self, counts: Counts) -> Bools:
        """(n,) whether the label holds; rounding may decide a tie in another way than the model."""
        lead = self.leads(counts)
        held: Bools = ((lead > 0) | (~self.strict & (lead == 0))).all(axis=1)
        return held
