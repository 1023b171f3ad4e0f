"""The sums that a pipeline's classifier decides by, as functions of what is kept of one document."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kedge.model.scores.additive import UNIT, AdditiveScore
from kedge.model.scores.chain import ChainScore
from kedge.model.sklearn.heads.decisions import Decision, Line
from kedge.model.sklearn.windows.occurrences import Windows
from kedge.model.sklearn.windows.parts import Part
from kedge.text.units import Units
from kedge.typing import Bools, Counts, Floats, Label

__all__ = ["Sums", "sound"]

# Weights whose squares would leave the range of doubles are not added up: the model itself is queried.
_TINY = 1e-140
# Passes along a text remember this many words: 16 states.
_SPAN = 4
# Numbers of the core that are looked at in one go: they stay in the processor's cache.
_PIECE = 1 << 17


@dataclass(frozen=True, eq=False)
class _OverWindows:
    """bias + windows @ weights, positive where the label holds."""

    bias: float
    weights: Floats
    strict: bool
    rounding: float | None


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums that decide, as functions of rows of counts: core @ weights + bias.

    ``size`` (r,) and ``constant`` bound what is added up to make them, for rounding.
    """

    units: Units
    windows: Windows
    part: Part
    decision: Decision
    weights: Floats
    bias: Floats
    size: Floats
    constant: float

    @classmethod
    def of(cls, units: Units, windows: Windows, part: Part, decision: Decision) -> "Sums":
        """The classifier's weights, brought back to the core of the features."""
        read = decision.weights(part.columns)
        coef = read.coef.astype(np.float64)
        bias = read.intercept.astype(np.float64) + coef @ part.offset
        constant = read.magnitude + np.abs(coef) @ np.abs(part.offset)
        if part.background is not None:
            everywhere = decision.weights(np.arange(part.width)).coef.astype(np.float64)
            bias = bias + everywhere @ part.background
            constant = constant + np.abs(everywhere) @ np.abs(part.background)
        weights = np.asarray(part.outer @ coef.T)
        size = np.asarray(abs(part.outer) @ np.abs(coef).max(axis=0))
        return cls(units, windows, part, decision, weights, bias, size, float(constant.max()))

    @property
    def finite(self) -> bool:
        """Whether all numbers are."""
        return math.isfinite(float(self.size.sum()) + float(np.abs(self.bias).sum()) + self.constant)

    @property
    def unit(self) -> float:
        """Unit roundoff of the least precise numbers."""
        return 2.0**-24 if self.part.single or self.decision.single else UNIT

    @property
    def _operations(self) -> int:
        """How often a sum may be rounded, here and in the model."""
        return len(self.size) + len(self.part.columns) + self.part.operations + 16

    def rounded(self, terms: float) -> float:
        """Bound on the rounding of a sum of terms of this size, the model's and ours."""
        return 4.0 * self._operations * self.unit * terms

    def core(self, counts: Counts) -> Floats:
        """(n, r) what the sums are taken over."""
        return self.part.inner(self.windows.rows(counts))

    def values(self, counts: Counts) -> tuple[Floats, Floats]:
        """(n, k) bounds on what each class gets."""
        core = self.core(counts)
        sums = core @ self.weights + self.bias
        terms = np.abs(core) @ self.size
        error = 4.0 * self._operations * self.unit * (terms + self.constant) + 2e-15
        if self._intercepts:
            error[terms == 0.0] = 0.0
        return self.decision.values((sums - error[:, None], sums + error[:, None]))

    @property
    def _intercepts(self) -> bool:
        """Whether the classifier compares nothing but its intercepts, as they are, where nothing is left."""
        plain = self.decision.largest or len(self.bias) == 1
        return plain and self.part.background is None and not self.part.offset.any()

    def algebra(self, label: Label, ask: Callable[[Counts], Bools]) -> Callable[[Counts], Bools] | None:
        """Rows to whether the label holds; ``ask`` decides where rounding would."""
        if label not in self.decision.classes:
            return None
        place = self.decision.classes.index(label)
        step = max(1, _PIECE // max(1, len(self.size)))

        def piece(counts: Counts) -> Bools:
            low, high = self.values(counts)
            held: Bools = np.ones(len(counts), dtype=bool)
            lost = np.zeros(len(counts), dtype=bool)
            for k in range(low.shape[1]):
                if k < place:  # of equal ones the first wins
                    held &= low[:, place] > high[:, k]
                    lost |= low[:, k] >= high[:, place]
                elif k > place:
                    held &= low[:, place] >= high[:, k]
                    lost |= low[:, k] > high[:, place]
            open_ = np.flatnonzero(~(held | lost))
            if len(open_):
                held[open_] = ask(counts[open_])
            return held

        def holds(counts: Counts) -> Bools:
            if len(counts) <= step:
                return piece(counts)
            return np.concatenate([piece(counts[i : i + step]) for i in range(0, len(counts), step)])

        return holds

    def gradient(self, label: Label) -> Floats:
        """(d,) what the label's lead over the next class loses with one occurrence of each unit."""
        place = self.decision.classes.index(label)
        sizes = self.units.sizes
        rows = np.vstack([sizes, sizes - np.eye(len(sizes), dtype=np.int64)])
        low, high = self.values(rows)
        middle = (low + high) / 2
        rivals = np.delete(middle, place, axis=1)
        lead = middle[:, place] - rivals[:, rivals[0].argmax()]
        slope: Floats = lead[0] - lead[1:]
        return slope

    @property
    def _tied(self) -> bool:
        """Whether some window has several units."""
        return bool(self.windows.longer)

    def _rounding(self, line: Line, peaks: Floats) -> float | None:
        """Bound on the model's rounding of the score; None where whole numbers make that certain."""
        plain = self.part.whole and len(line.direction) == 1
        if plain and line.slack == 0.0 and not self.part.single and not self.decision.single:
            return None
        scale = float(np.abs(line.direction).sum())
        terms = scale * (float(self.size @ peaks) + self.constant)
        return 2.0 * self._operations * self.unit * terms + line.slack * max(
            1.0, float(peaks.max(initial=0.0))
        )

    def _over_windows(self, label: Label) -> _OverWindows | None:
        """The label's score as a linear function of windows, where its sign is that of one."""
        line, classes, part = self.decision.line, self.decision.classes, self.part
        if line is None or label not in classes:
            return None
        sign = 1.0 if label == classes[1] else -1.0
        weights = sign * (self.weights @ line.direction)
        bias = sign * (float(self.bias @ line.direction) + line.shift)
        peaks = np.ones(len(self.windows))
        peaks[: len(self.windows.single)] = self.units.sizes[self.windows.single]
        if part.core is None:
            if not sound(weights):
                return None
            return _OverWindows(bias, weights, sign > 0, self._rounding(line, peaks))
        if not part.divided or (part.lengths is None and bias != 0.0):
            return None
        # N / length + bias > 0 iff N + bias * length > 0; where nothing is left the bias decides.
        whole = weights if part.lengths is None else weights + bias * part.lengths
        longest = 1.0 if part.lengths is None else float(np.abs(part.lengths) @ np.append(peaks, 1.0))
        if not sound(whole):
            return None
        wide = self._rounding(line, np.append(peaks, 1.0))
        bound = 2.0 * self._operations * self.unit * abs(bias) * longest
        rounding = None if wide is None else wide * max(1.0, longest) + bound
        strict = not bias > 0 if bias != 0.0 else sign > 0
        return _OverWindows(float(whole[-1]), whole[:-1], strict, rounding)

    def additive(self, label: Label) -> AdditiveScore | None:
        """The label's score as a sum over units; None where units are tied, or it is not one sum."""
        if self._tied:
            return None
        found, sizes = self._over_windows(label), self.units.sizes
        if found is None:
            return self._by_tables(label)
        slopes = np.zeros(len(sizes))
        slopes[self.windows.single] = found.weights
        return AdditiveScore.from_slopes(
            found.bias, slopes, sizes, strict=found.strict, rounding=found.rounding
        )

    def _by_tables(self, label: Label) -> AdditiveScore | None:
        """A sum of one function per unit: every number of the core depends on one unit only."""
        line, classes, depends = self.decision.line, self.decision.classes, self.part.depends
        if line is None or label not in classes or depends is None:
            return None
        sign = 1.0 if label == classes[1] else -1.0
        final = sign * (self.weights @ line.direction)
        sizes, owner = self.units.sizes, self.windows.single[depends]
        most = int(sizes.max())
        inner = self.core(np.minimum(np.arange(most + 1)[:, None], sizes))
        tables = np.zeros((len(sizes), most + 1))
        np.add.at(tables, owner, (inner * final).T)
        if not sound(tables):
            return None
        # What is there when nothing is kept (the mask's own grams) is part of the bias.
        bias = sign * (float(self.bias @ line.direction) + line.shift) + float(tables[:, 0].sum())
        tables = tables - tables[:, :1]
        own = tuple(table[: m + 1] for table, m in zip(tables, sizes.tolist(), strict=True))
        return AdditiveScore(bias, own, sign > 0, self._rounding(line, np.abs(inner).max(axis=0)))

    def chain(self, label: Label) -> ChainScore | None:
        """The label's score as a sum over windows; None where it is not one, or no units are tied."""
        found = self._over_windows(label) if self._tied else None
        if found is None or any(window[-1] - window[0] > _SPAN for window in self.windows.listed):
            return None
        return ChainScore(
            found.bias,
            self.windows.listed,
            found.weights,
            self.units.sizes,
            strict=found.strict,
            rounding=found.rounding,
        )


def sound(weights: Floats) -> bool:
    """Whether weights and their squares are within the range of doubles."""
    peak = float(np.abs(weights).max(initial=0.0))
    return math.isfinite(peak) and (peak == 0.0 or _TINY < peak < 1 / _TINY)
