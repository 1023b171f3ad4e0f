"""The judge: the true precision of any tool's anchor, on the words that the model reads.

The same model is read from the inside by kedge. Linear scores without norm are convolved and documents with
few samples are enumerated: both are exact, and tested against brute force (``tests/test_exact.py``). Else
samples of counts are drawn, ``SAMPLES`` of them (more where the model's arithmetic is read) while the side of
the threshold is not clear. An anchor is given as character spans; a token that a peer cut out of one of the
model's words ("did" of "didnt") stands for the whole word, which is to the peer's advantage.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np

import kedge
from kedge.reading.reading import Reading
from kedge.studies.verdict import judge

from .tools.ours import readable

THRESHOLD = 0.95
# At a precision of 0.95 the standard error of so many samples is 0.0015; of so many, where a sample is
# arithmetic only, 0.0003.
SAMPLES, SAMPLES_BY_ARITHMETIC = 20_000, 500_000
# A first look; the rest is drawn unless the mean is this many standard errors away from the threshold.
FIRST_LOOK, CLEAR = 2_000, 4.0
# Samples that are enumerated rather than drawn; more where that is arithmetic only.
ENUMERATED, ENUMERATED_BY_ARITHMETIC = 1 << 14, 1 << 17

Span = Sequence[int]


@dataclass
class Judge:
    """The truth about one document."""

    reading: Reading
    signs: dict[str, float] | None
    known: dict[str, Any] = field(default_factory=dict)

    def positions(self, spans: Sequence[Span]) -> list[int]:
        """The model's words that the spans lie in."""
        tokens = self.reading.document.tokens
        return [k for k, t in enumerate(tokens) if any(a < t.stop and t.start < b for a, b in spans if b > a)]

    def precision(self, spans: Sequence[Span]) -> tuple[float, str]:
        """Precision of an anchor, and how it was found; looked up if it was asked for before."""
        kept = self.reading.units.kept(kedge.Anchor(self.positions(spans)))
        key = ",".join(map(str, kept))
        if key not in self.known:
            self.known[key] = self._judged(self.reading.units.anchor(kept))
        mean, how = self.known[key]
        return float(mean), str(how)

    def _judged(self, anchor: kedge.Anchor) -> tuple[float, str]:
        reading, rng = self.reading, np.random.default_rng(0)
        kept = reading.units.kept(anchor)
        free = (reading.units.sizes - reading.units.counts(kept)).tolist()
        few = ENUMERATED_BY_ARITHMETIC if reading.algebra else ENUMERATED
        if reading.additive is not None or prod(m + 1 for m in free) <= few:
            verdict = judge(reading, anchor, threshold=THRESHOLD, delta=0.05, evaluator="auto", rng=rng)
            if verdict.status == "exact":
                return verdict.precision, verdict.evaluator
        hits = trials = 0
        steps = [FIRST_LOOK, SAMPLES - FIRST_LOOK]
        if reading.algebra:
            steps += [SAMPLES] * (SAMPLES_BY_ARITHMETIC // SAMPLES - 1)
        for more in steps:
            hits += int(reading.holds(reading.sample(kept, more, rng)).sum())
            trials += more
            # The standard error at the threshold itself: a mean far from it in this measure is clear.
            doubt = sqrt(THRESHOLD * (1 - THRESHOLD) / trials)
            if abs(hits / trials - THRESHOLD) > CLEAR * doubt:
                break
        return hits / trials, "samples"

    def idle(self, span: Span) -> bool:
        """Whether a word has no influence, or speaks against the label.

        For linear models by its coefficient; for all, a word that the model does not read has none.
        """
        words = [self.reading.document.tokens[k].word for k in self.positions([span])]
        read = {
            self.reading.document.tokens[k].word for group in self.reading.units.members for k in group[:1]
        }
        if self.signs is None:
            return not any(word in read for word in words)
        return all(self.signs.get(word, 0.0) <= 0 for word in words)


class Judges:
    """Judges of a model's documents, with a file of what they said before."""

    def __init__(self, file: Path, model: Any, documents: list[str]) -> None:
        self._file, self._model, self._documents = file, model, documents
        self._said = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        self._explainer = kedge.Explainer(readable(model), batch_size=1024)
        self._judges: dict[int, Judge] = {}
        coefficients = getattr(model[-1], "coef_", None)
        # All documents are labelled positive, so a positive coefficient speaks for the label.
        self._signs = None
        if coefficients is not None:
            self._signs = {w: float(coefficients[0, c]) for w, c in model[0].vocabulary_.items()}

    def __getitem__(self, document: int) -> Judge:
        if document not in self._judges:
            reading = self._explainer.read(self._documents[document])
            known = self._said.setdefault(str(document), {})
            self._judges[document] = Judge(reading, self._signs, known)
        return self._judges[document]

    def save(self) -> None:
        """Remember what was said."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._said), encoding="utf-8")
