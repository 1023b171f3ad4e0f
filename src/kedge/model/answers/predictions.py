"""What a model answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from kedge.errors import LabelError
from kedge.typing import Bools, Floats, Label

__all__ = ["Predictions"]

# How many labels a refusal lists.
_OFFERED = 10


@dataclass(frozen=True)
class Predictions:
    """A model's answers about ``n`` texts.

    ``classes`` names the columns of ``probabilities``, ``scores`` and ``indicator``. The largest of the
    ``scores`` (n, k) has the label, where a model decides by scores and gives no probabilities. A multi-label
    model has an ``indicator`` (n, k) of which labels hold; its ``labels`` are None.
    """

    labels: NDArray[np.object_] | None
    classes: tuple[Label, ...] | None = None
    probabilities: Floats | None = None
    indicator: Bools | None = None
    scores: Floats | None = None

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
            None if self.scores is None else self.scores[at],
        )

    def _indicator(self) -> Bools:
        assert self.indicator is not None  # noqa: S101  (labels or indicator: one is always there)
        return self.indicator

    def column(self, label: Label) -> int:
        """The place of a label; one that the model does not have is refused."""
        if self.classes is None or label not in self.classes:
            raise LabelError(f"The model has no label {label!r}; {_offer(label, self.classes or ())}.")
        return self.classes.index(label)

    @property
    def comparable(self) -> bool:
        """Whether it is known which of two labels is ahead, whatever becomes of the others."""
        if self.labels is None or self.classes is None:
            return False
        return self.strengths is not None or len(self.classes) == 2

    @property
    def strengths(self) -> Floats | None:
        """(n, k) of each class its probability, else its score, by which exclusive labels compare."""
        if self.labels is None:
            return None
        return self.scores if self.probabilities is None else self.probabilities

    def hold(self, label: Label) -> Bools:
        """(n,) where ``label`` is the model's answer, or one of them."""
        if self.labels is None:
            return self._indicator()[:, self.column(label)]
        return np.fromiter((x == label for x in self.labels), dtype=bool, count=len(self.labels))

    def log_odds(self, label: Label) -> Floats | None:
        """(n,) ln p/(1-p) of ``label``, or None for a model without probabilities.

        Probabilities are kept 1e-12 away from 0 and 1, beyond which floats say nothing.
        """
        if self.probabilities is None:
            return None
        p = np.clip(self.probabilities[:, self.column(label)], 1e-12, 1 - 1e-12)
        odds: Floats = np.log(p) - np.log1p(-p)
        return odds

    def distribution(self) -> dict[Label, float] | None:
        """The class probabilities of the first text."""
        if self.probabilities is None or self.classes is None:
            return None
        return dict(zip(self.classes, map(float, self.probabilities[0]), strict=True))


def _offer(label: Label, classes: Sequence[Label]) -> str:
    """The label that was probably meant, and the labels there are, or the first of many."""
    written = {str(c): c for c in classes}
    near = get_close_matches(str(label), written, n=1)
    meant = f"did you mean {written[near[0]]!r}? It" if near else "it"
    more = f" and {len(classes) - _OFFERED} more" if len(classes) > _OFFERED else ""
    return f"{meant} has {', '.join(map(repr, classes[:_OFFERED]))}{more}"
