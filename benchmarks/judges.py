"""Judges of black-box answers: the same model, read from the inside where that can be done."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import kedge
from kedge.evaluators import Additive, Empirical, Enumeration, Evaluator
from kedge.evaluators.affordable import enumerable
from kedge.reading.reading import Reading
from kedge.typing import Kept

# Samples of a judge that samples; at a precision of 0.95 its standard error is 0.0015.
SAMPLES = 20_000
TRANSFORMER_SAMPLES, ENCODER_SAMPLES = 20_000, 2_000
# A judge that is slow draws in rounds of this size, and no more once it is so many standard errors away
# from the threshold.
ROUND, CLEAR = 250, 4.0
# A tiny transformer is asked about all masked texts of so many words at most.
TRANSFORMER_WORDS = 14


@dataclass
class Judge:
    """The truth about anchors of one document, given as character spans."""

    reading: Reading
    evaluate: Evaluator
    samples: int
    optimal: int | None
    coefficients: list[float] | None = None
    known: dict[Kept, float] = field(default_factory=dict)
    threshold: float | None = None

    def kept(self, spans: Sequence[Sequence[int]]) -> Kept:
        """An anchor in unit space; spans that the model does not read drop out."""
        at = {(t.start, t.stop): k for k, t in enumerate(self.reading.document.tokens)}
        positions = [at[tuple(span)] for span in spans if tuple(span) in at]
        return self.reading.units.kept(kedge.Anchor(positions))

    def precision(self, spans: Sequence[Sequence[int]]) -> float:
        """The precision of an anchor, looked up if it was asked for before."""
        kept = self.kept(spans)
        if kept not in self.known:
            self.known[kept] = self._evaluated(kept)
        return self.known[kept]

    def _evaluated(self, kept: Kept) -> float:
        """By all samples at once, or, where a threshold is given, by as many as tell the side it is on."""
        if self.threshold is None:
            return float(self.evaluate([kept], self.samples).mean[0])
        while True:
            estimates = self.evaluate([kept], ROUND)  # those before count too
            mean, trials = float(estimates.mean[0]), float(estimates.trials[0])
            rate = (mean * trials + 0.5) / (trials + 1)
            error = np.sqrt(rate * (1 - rate) / trials)
            if trials >= self.samples or abs(mean - self.threshold) > CLEAR * error:
                return mean

    @property
    def baseline(self) -> float:
        """Precision with no word kept."""
        return self.precision([])

    def idle(self, spans: Sequence[Sequence[int]]) -> bool:
        """Whether a word of the anchor has no influence: the model does not read it, or weighs it zero."""
        kept = self.kept(spans)
        if len(kept) < len(spans):
            return True
        return self.coefficients is not None and any(self.coefficients[j] == 0 for j in kept)

    def irreducible(self, spans: Sequence[Sequence[int]], threshold: float) -> bool | None:
        """Whether no word can be left out; None where the judge does not know for sure."""
        if self.samples:
            return None
        rests = [[*spans[:i], *spans[i + 1 :]] for i in range(len(spans))]
        return len(spans) < 2 or all(self.precision(rest) < threshold for rest in rests)


def judge_of(model: Any, kind: str, text: str, threshold: float) -> Judge:
    """The best judge there is for a model and a document."""
    rng = np.random.default_rng(0)
    reading = kedge.Explainer(model, batch_size=1024).read(text)
    if kind == "logistic" and reading.additive is not None:
        exact = kedge.explain(model, text, threshold=threshold)
        coefficients = [float(table[1]) for table in reading.additive.tables]
        return Judge(reading, Additive(reading), 0, len(exact.positions), coefficients)
    if kind == "transformer" and len(reading.units) <= TRANSFORMER_WORDS:
        return Judge(reading, Enumeration(reading), 0, None)
    if kind in {"transformer", "embeddings", "minilm"}:
        if kind == "transformer":
            return Judge(reading, Empirical(reading, rng), TRANSFORMER_SAMPLES, None)
        return Judge(reading, Empirical(reading, rng), ENCODER_SAMPLES, None, threshold=threshold)
    if enumerable(reading):
        exact = kedge.explain(model, text, threshold=threshold, method="exhaustive", evaluator="exact")
        return Judge(reading, Enumeration(reading), 0, len(exact.positions))
    return Judge(reading, Empirical(reading, rng), SAMPLES, None)
