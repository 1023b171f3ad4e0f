"""Two models on the same texts: where they agree on the label but not on the reason."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from kedge.errors import Failure, OptionError
from kedge.explainer import Explainer
from kedge.options import OptionsGiven, with_options
from kedge.results.explanation import Explanation
from kedge.text.inputs import as_texts
from kedge.typing import Label
from kedge.utils.messages import visible
from kedge.utils.rounding import percent

__all__ = ["Comparison", "Pair", "compare", "jaccard"]

# Lines of a printed comparison.
_SHOWN = 10


@dataclass(frozen=True)
class Pair:
    """One text, explained for both models; ``jaccard`` is how far the anchors agree."""

    row: int
    a: Explanation
    b: Explanation
    jaccard: float

    @property
    def same_label(self) -> bool:
        """Whether both models give the text the same label."""
        return self.a.label == self.b.label

    @property
    def needless(self) -> bool:
        """Whether one model keeps its label with no word kept, so that its anchor is no reason."""
        return any(e.baseline is not None and e.baseline.mean >= e.threshold for e in (self.a, self.b))

    def to_row(self) -> dict[str, Any]:
        """One flat row for a table."""
        return {
            "row": self.row,
            "text": self.a.text,
            "label_a": self.a.label,
            "label_b": self.b.label,
            "anchor_a": " ".join(self.a.words),
            "anchor_b": " ".join(self.b.words),
            "jaccard": self.jaccard,
            "needless": self.needless,
        }


@dataclass(frozen=True)
class Comparison:
    """Two models compared.

    Parameters
    ----------
    same_label
        Texts with one label, those whose reasons differ most first.
    other_label
        Texts that the models label differently.
    failed
        Row and reason of texts that could not be explained for one of them.
    """

    same_label: tuple[Pair, ...]
    other_label: tuple[Pair, ...]
    failed: tuple[tuple[int, Failure], ...] = ()

    @property
    def agreement(self) -> float:
        """Share of the explained texts that get the same label."""
        return len(self.same_label) / max(len(self.same_label) + len(self.other_label), 1)

    @property
    def jaccard(self) -> float:
        """Mean similarity of the reasons where the labels agree and both need a word; 1 if there are none."""
        values = [pair.jaccard for pair in self.same_label if not pair.needless]
        return sum(values) / len(values) if values else 1.0

    @property
    def other_reason(self) -> tuple[Pair, ...]:
        """The same label for different reasons: texts whose anchors have no word in common.

        Texts for which one of the models needs no word at all are left out: there is no reason to differ.
        """
        return tuple(pair for pair in self.same_label if pair.jaccard == 0 and not pair.needless)

    def __str__(self) -> str:
        total = len(self.same_label) + len(self.other_label)
        if not total:
            return visible("\n".join(["No text could be compared.", *self._failures()]))
        lines = [f"{total} texts, the same label for {percent(self.agreement)}."]
        reasoned = [pair for pair in self.same_label if not pair.needless]
        if needless := len(self.same_label) - len(reasoned):
            lines.append(f"{needless} of them need no word by one of the models; they are left out below.")
        if reasoned:
            lines.append(
                f"Their anchors overlap by {self.jaccard:.2f} (Jaccard); {len(self.other_reason)} have no "
                "word in common. The least alike:"
            )
        lines += [
            f"{pair.jaccard:.2f}  {pair.a.label}  {' '.join(pair.a.words)!r} / {' '.join(pair.b.words)!r}"
            f"  (row {pair.row})"
            for pair in reasoned[:_SHOWN]
        ]
        return visible("\n".join([*lines, *self._failures()]))

    def _failures(self) -> list[str]:
        """How many texts failed, with the first reason of each kind."""
        first: dict[str, tuple[int, Failure]] = {}
        for row, why in self.failed:
            first.setdefault(why.kind, (row, why))
        if not first:
            return []
        shown = [f"  row {row}: {why}" for row, why in first.values()]
        return [f"{len(self.failed)} texts could not be explained; the first of each kind:", *shown]


@with_options()
def compare(
    model_a: Any,
    model_b: Any,
    texts: Iterable[str],
    *,
    label: Label | None = None,
    workers: int | None = 1,
    **options: Unpack[OptionsGiven],
) -> Comparison:
    """Explain the same texts for two models, and list where their reasons differ.

    Parameters
    ----------
    model_a, model_b
        Any two models that ``explain`` takes; they need not read the same words, but must name their
        classes the same way.
    texts
        The documents.
    label
        The label to explain, for multi-label models.
    workers
        How many processes; None for all cores.
    options
        Those of ``Explainer``, for both, listed below.

    >>> import kedge
    >>> a, b = kedge.rules.any_of(["good"]), kedge.rules.any_of(["cheap"], ["good"])
    >>> found = compare(a, b, ["good food", "good and cheap", "bad"])
    >>> found.agreement, [p.a.words + p.b.words for p in found.same_label]
    (1.0, [('good', 'good'), ('good', 'good')])
    """
    texts = list(as_texts(texts))
    outcomes = [
        list(Explainer(m, **options).explain_corpus(texts, label=label, workers=workers))
        for m in (model_a, model_b)
    ]
    same: list[Pair] = []
    other: list[Pair] = []
    failed: list[tuple[int, Failure]] = []
    for one, two in zip(*outcomes, strict=True):
        if (why := one.error or two.error) is not None:
            failed.append((one.row, why))
        if one.explanation is None or two.explanation is None:
            continue
        likeness = jaccard(one.explanation.words, two.explanation.words)
        pair = Pair(one.row, one.explanation, two.explanation, likeness)
        (same if pair.same_label else other).append(pair)
    if other and not same:
        _check_labels(other)
    same.sort(key=lambda pair: (pair.jaccard, pair.row))
    return Comparison(tuple(same), tuple(other), tuple(failed))


def _check_labels(pairs: Sequence[Pair]) -> None:
    """Refuse models that name their classes differently: their disagreement would mean nothing."""
    a, b = (set().union(*map(_labels, side)) for side in zip(*((p.a, p.b) for p in pairs), strict=True))
    # Two models of a few texts may well disagree on all of them: one label each is no sign of two naming
    # schemes, unless names stand against numbers.
    named = {isinstance(label, str) for label in a} != {isinstance(label, str) for label in b}
    if not a & b and (named or min(len(a), len(b)) > 1):
        shown = [", ".join(sorted(map(repr, labels))[:_SHOWN]) for labels in (a, b)]
        raise OptionError(
            f"The two models have no label in common ({shown[0]}; {shown[1]}); let both name their classes "
            "the same, with `kedge.as_model(model, classes=[...])` for one that returns numbers."
        )


def _labels(e: Explanation) -> set[Label]:
    """The labels that an explanation shows its model to have."""
    return {e.label, *(label for label, _ in e.probabilities or ())}


def jaccard(one: Iterable[str], other: Iterable[str]) -> float:
    """Likeness of two anchors: shared words over all words, with multiplicity, regardless of case.

    Words, not positions: for a model that counts words any occurrence is as good as another, and two
    models may split the text differently.

    >>> jaccard(["very", "good"], ["Good"]), jaccard([], [])
    (0.5, 1.0)
    """
    a, b = (Counter(word.casefold() for word in words) for words in (one, other))
    union = (a | b).total()
    return (a & b).total() / union if union else 1.0
