"""Anchors worth a look where a label leads several rivals: what a Gaussian guess of all leads calls best.

The lead over each rival is nearly Gaussian, with a mean and a variance that every kept occurrence moves by
a known amount. So the chance of failing, the sum over rivals of Phi(-mean / deviation), costs arithmetic
for any anchor. An anchor grows by the occurrence that lowers it most, then occurrences are exchanged while
that lowers it further. Nothing is claimed of the result: it says where to look.
"""

import math

import numpy as np

from kedge.evaluators.leads import Lead
from kedge.typing import Counts, Floats, Kept

__all__ = ["Proposals"]

# Exchanges tried for one anchor; it takes few.
_EXCHANGES = 50


class Proposals:
    """The most promising anchor of each length.

    Parameters
    ----------
    leads
        The lead over each rival.
    """

    def __init__(self, leads: list[Lead]) -> None:
        sizes, keep = leads[0].leads.sizes, leads[0].keep
        cells = leads[0].cells
        # (n, r) what each count of each word brings to the sums around each lead.
        parts = np.stack([lead.cells.parts + lead.at_rest.slope * cells.squares for lead in leads], axis=-1)
        weighed = cells.law[:, None] * parts
        means = np.add.reduceat(weighed, cells.starts)
        variances = np.add.reduceat(weighed * parts, cells.starts) - means**2
        self._sizes: Counts = sizes
        self._mean: Floats = means.sum(axis=0) + np.array([lead.at_rest.likely for lead in leads])
        self._variance: Floats = variances.sum(axis=0)
        # What one kept occurrence of each word brings, and the variance that it takes away.
        self._gains: Floats = (1.0 - keep) * parts[cells.starts + sizes] / sizes[:, None]
        self._calms: Floats = variances / sizes[:, None]
        self._grown: list[Counts] = [np.zeros(len(sizes), dtype=np.int64)]

    def risk(self, mean: Floats, variance: Floats) -> Floats:
        """The chance of failing against some rival, at most, as if leads were Gaussian."""
        from scipy.special import ndtr

        total: Floats = ndtr(-mean / np.sqrt(np.maximum(variance, 1e-9 * self._variance + 1e-300))).sum(
            axis=-1
        )
        return total

    def _state(self, kept: Counts) -> tuple[Floats, Floats]:
        return self._mean + kept @ self._gains, self._variance - kept @ self._calms

    def guess(self, kept: Kept) -> float:
        """The chance of leading all rivals, as if leads were Gaussian."""
        return 1.0 - self._risk_of(np.bincount(kept, minlength=len(self._sizes)))

    def rival_of(self, unit: int) -> float:
        """The best guess of one occurrence alone, of any other word than this."""
        risks = self.risk(self._mean + self._gains, self._variance - self._calms)
        risks[unit] = 1.0
        return 1.0 - float(risks.min())

    def length(self, threshold: float, shortest: int) -> int:
        """The length at which an anchor may reach a threshold."""
        length = max(shortest, 1)
        while length < int(self._sizes.sum()) and 1.0 - self._risk_of(self._at(length)) < threshold:
            length += 1
        return length

    def _risk_of(self, kept: Counts) -> float:
        """The same as `risk`, of one anchor: fewer calls where there are few rivals."""
        mean, variance = self._state(kept)
        rows = zip(mean.tolist(), variance.tolist(), self._variance.tolist(), strict=True)
        return sum(
            0.5 * math.erfc(m / math.sqrt(2.0 * max(v, 1e-9 * whole + 1e-300))) for m, v, whole in rows
        )

    def best(self, length: int) -> Kept:
        """The anchor of a length with the best guess."""
        return tuple(np.repeat(np.arange(len(self._sizes)), self._at(length)).tolist())

    def close(self, length: int, number: int) -> list[Kept]:
        """The anchors with the best guesses among those that differ from the best in one occurrence."""
        kept = self._at(length)
        risks, out, into = self._exchanges(kept)
        order = np.argsort(risks, axis=None, kind="stable")[:number]
        found = []
        for place in order.tolist():
            less, more = divmod(place, len(into))
            other = kept.copy()
            other[out[less]] -= 1
            other[into[more]] += 1
            found.append(tuple(np.repeat(np.arange(len(kept)), other).tolist()))
        return [anchor for anchor in dict.fromkeys(found) if anchor != self.best(length)]

    def _at(self, length: int) -> Counts:
        while len(self._grown) <= length:
            self._grown.append(self._improved(self._longer(self._grown[-1])))
        return self._grown[length]

    def _longer(self, kept: Counts) -> Counts:
        mean, variance = self._state(kept)
        risks = self.risk(mean + self._gains, variance - self._calms)
        risks[kept >= self._sizes] = np.inf
        longer = kept.copy()
        # Words that all but never fail are told apart by what they bring against the closest rival.
        best = float(risks.min())
        near = np.flatnonzero(risks <= best + 1e-12)
        rival = int(np.argmin(mean / np.sqrt(np.maximum(variance, 1e-300))))
        longer[near[self._gains[near, rival].argmax()]] += 1
        return longer

    def _improved(self, kept: Counts) -> Counts:
        if self._gains.shape[1] == 1 or (kept == self._sizes).all():
            return kept  # one rival: the largest gains are best together, too
        for _ in range(_EXCHANGES):
            now = self._risk_of(kept)
            risks, out, into = self._exchanges(kept)
            place = int(risks.argmin())
            if risks.flat[place] >= now * (1.0 - 1e-9):
                break
            less, more = divmod(place, len(into))
            kept = kept.copy()
            kept[out[less]] -= 1
            kept[into[more]] += 1
        return kept

    def _exchanges(self, kept: Counts) -> tuple[Floats, Counts, Counts]:
        """The risk of each exchange of a kept occurrence (rows) for a free one (columns)."""
        out, into = np.flatnonzero(kept), np.flatnonzero(kept < self._sizes)
        mean, variance = self._state(kept)
        means = mean - self._gains[out][:, None] + self._gains[into][None]
        variances = variance + self._calms[out][:, None] - self._calms[into][None]
        return self.risk(means, variances), out, into
