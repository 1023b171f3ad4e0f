"""From what a search found in units to an explanation in the caller's own text."""

from collections.abc import Sequence

from kedge.explanation import Example, Explanation, Step, Ties
from kedge.options import Options
from kedge.reading import Reading
from kedge.search import Found
from kedge.typing import Kept

__all__ = ["assemble"]


def assemble(
    reading: Reading,
    found: Found,
    seen: Sequence[Example],
    *,
    options: Options,
    method: str,
    model: str,
    seconds: float,
) -> Explanation:
    """Turn units back into positions, words and spans, and add what was asked for."""
    document, units = reading.document, reading.units
    anchor = units.anchor(found.kept)
    words = anchor.words(document)

    def positions(kept: Kept) -> tuple[int, ...]:
        return units.anchor(kept).positions

    ties = None
    if (selection := found.selection) is not None:
        tied = tuple(positions(kept) for kept in selection.tied)
        ties = Ties(selection.reaching, selection.shortest, tied)
    return Explanation(
        text=document.text,
        label=reading.label,
        words=words,
        positions=anchor.positions,
        spans=anchor.spans(document),
        precision=found.mean,
        interval=(found.low, found.high),
        status=found.status,
        threshold=options.threshold,
        delta=options.delta,
        method=method,
        model=model,
        perturbation=reading.perturbation.name,
        queries=reading.oracle.queries,
        seconds=seconds,
        baseline=found.baseline,
        seed=options.seed,
        objective=options.objective,
        coverage=None if options.corpus is None else options.corpus.coverage(words),
        tokens=tuple((t.start, t.stop) for t in document.tokens),
        probabilities=tuple(reading.probabilities.items()) if reading.probabilities else None,
        trace=tuple(Step(positions(c.kept), c.mean, c.low, c.high) for c in found.trace),
        ties=ties,
        examples=seen,  # drawn when somebody looks
        notes=(*reading.notes, *found.notes),
    )
