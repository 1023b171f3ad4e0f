"""The one type every classifier becomes.

``predict`` is all that a black box must give. Every other field is a capability: a function, or
None, declared only where it is true for this very model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kedge.document import Token
from kedge.errors import LabelError
from kedge.model.additive import AdditiveScore, NormalisedScore
from kedge.model.leaves import LeafBoxes
from kedge.typing import Bools, Counts, Floats, Label

__all__ = ["Model", "Predictions", "python_label"]


@dataclass(frozen=True)
class Predictions:
    """A model's answers about ``n`` texts.

    ``classes`` names the columns of ``probabilities`` and ``indicator``. A multi-label model has an
    ``indicator`` (n, k) of which labels hold; its ``labels`` are None.
    """

    labels: NDArray[np.object_] | None
    classes: tuple[Label, ...] | None = None
    probabilities: Floats | None = None
    indicator: Bools | None = None

    def __len__(self) -> int:
        return len(self.labels) if self.labels is not None else len(self._indicator())

    def of(self, row: int) -> "Predictions":
        """The answer about one of the texts."""
        at = slice(row, row + 1)
        return Predictions(
            None if self.labels is None else self.labels[at],
            self.classes,
            None if self.probabilities is None else self.probabilities[at],
            None if self.indicator is None else self.indicator[at],
        )

    def _indicator(self) -> Bools:
        assert self.indicator is not None  # noqa: S101  (labels or indicator: one is always there)
        return self.indicator

    def _column(self, label: Label) -> int:
        if self.classes is None or label not in self.classes:
            known = ", ".join(repr(c) for c in self.classes or ())
            raise LabelError(f"The model has no label {label!r}; it has {known}.")
        return self.classes.index(label)

    def hold(self, label: Label) -> Bools:
        """(n,) where ``label`` is the model's answer, or one of them."""
        if self.labels is None:
            return self._indicator()[:, self._column(label)]
        return np.fromiter((x == label for x in self.labels), dtype=bool, count=len(self.labels))

    def log_odds(self, label: Label) -> Floats | None:
        """(n,) ln p/(1-p) of ``label``, or None for a model without probabilities.

        Probabilities are kept 1e-12 away from 0 and 1, beyond which floats say nothing.
        """
        if self.probabilities is None:
            return None
        p = np.clip(self.probabilities[:, self._column(label)], 1e-12, 1 - 1e-12)
        odds: Floats = np.log(p) - np.log1p(-p)
        return odds

    def distribution(self) -> dict[Label, float] | None:
        """The class probabilities of the first text."""
        if self.probabilities is None or self.classes is None:
            return None
        return dict(zip(self.classes, map(float, self.probabilities[0]), strict=True))


@dataclass(frozen=True)
class Model:
    """A text classifier and what is known of its inside.

    Parameters
    ----------
    predict
        Texts to predictions: the model's own answers, the authority for every other field.
    name
        How to call it in front of the user.
    tokenize
        The units the model itself reads, with spans in the given text; its result is None for a
        text whose units cannot be placed. None: the model does not say.
    keeps_apart
        Whether it is known that words of a text stay themselves when others are masked; without
        such knowledge it is tried out.
    reads
        Whether a word is in the model's vocabulary.
    from_counts
        For words in a given order, a function from (n, d) counts of them to predictions: declared
        only where predictions depend on nothing but these counts.
    additive
        (words, sizes, label) to the score behind the label, where it is a sum over words.
    normalised
        (words, label) to the linear score behind the label where it is divided by the l2 norm.
    algebra
        (words, label, ask) to a function from (n, d) counts to whether the label holds, by plain
        arithmetic; ``ask`` is the same question put to the model, for what rounding decides.
    leaves
        (words, sizes, label) to the boxes of a decision tree.
    gradient
        (words, counts, label) to the derivative of the label's score by each word's count.
    notes
        What the user should know about how the model was understood.
    parts
        The fitted parts that the fields above were made of: other ones after a refit mean that the
        model must be understood anew.
    """

    predict: Callable[[Sequence[str]], Predictions]
    name: str
    tokenize: Callable[[str], list[Token] | None] | None = None
    keeps_apart: Callable[[str], bool] | None = None
    reads: Callable[[str], bool] | None = None
    from_counts: Callable[[Sequence[str]], Callable[[Counts], Predictions]] | None = None
    additive: Callable[[Sequence[str], Counts, Label], AdditiveScore | None] | None = None
    normalised: Callable[[Sequence[str], Label], NormalisedScore | None] | None = None
    algebra: (
        Callable[[Sequence[str], Label, Callable[[Counts], Bools]], Callable[[Counts], Bools] | None] | None
    ) = None
    leaves: Callable[[Sequence[str], Counts, Label], LeafBoxes | None] | None = None
    gradient: Callable[[Sequence[str], Counts, Label], Floats] | None = None
    notes: tuple[str, ...] = field(default=())
    parts: Callable[[], tuple[object, ...]] | None = None


def python_label(label: object) -> Label:
    """A label as plain Python: numpy's scalars become int, str or bool, bytes become text."""
    value = label.item() if isinstance(label, np.generic) else label
    return value.decode() if isinstance(value, bytes) else value
