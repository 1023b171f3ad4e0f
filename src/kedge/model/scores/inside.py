"""What is known of a model on one document whose words give way to a mask."""

from collections.abc import Callable
from dataclasses import dataclass

from kedge.model.answers.predictions import Predictions
from kedge.model.scores.additive import AdditiveScore, NormalisedScore
from kedge.model.scores.chain import ChainScore
from kedge.model.scores.leads import Leads
from kedge.model.scores.leaves import LeafBoxes
from kedge.text.units import Units
from kedge.typing import Bools, Counts, Floats, Label

__all__ = ["Inside"]


@dataclass(frozen=True, eq=False)
class Inside:
    """A model that needs no text for masked forms of one document.

    Rows are (n, d) counts: how many positions of each unit are kept. A position in no unit cannot
    matter. Where positions interact (n-grams), each is a unit of its own and its count is 0 or 1.

    Parameters
    ----------
    units
        Groups of positions that the model cannot tell apart.
    predict
        Rows to predictions: what the model says about the masked texts, without building them.
    bare
        What the model says when every word is gone and no mask stands for it; None where the mask
        means nothing to the model.
    additive
        The score behind a label, where it is a sum over units.
    chain
        The score behind a label, where it is a sum over windows of units.
    normalised
        The linear score behind a label where it is divided by the l2 norm.
    leads
        The label's leads over its rivals, where these are sums over units, perhaps over the l2 norm.
    algebra
        (label, ask) to a function from rows to whether the label holds, by plain arithmetic; ``ask``
        is the model's own answer to the same question, for what rounding decides.
    leaves
        The boxes of a decision tree.
    class_slopes
        (k, d) what one occurrence of each unit adds to the score of each class, in the order of the
        classes, where scores are linear; None where they are not.
    gradient
        (d,) what one occurrence of each unit brings the label.
    """

    units: Units
    predict: Callable[[Counts], Predictions]
    bare: Callable[[], Predictions] | None = None
    additive: Callable[[Label], AdditiveScore | None] | None = None
    chain: Callable[[Label], ChainScore | None] | None = None
    normalised: Callable[[Label], NormalisedScore | None] | None = None
    leads: Callable[[Label], Leads | None] | None = None
    algebra: Callable[[Label, Callable[[Counts], Bools]], Callable[[Counts], Bools] | None] | None = None
    leaves: Callable[[Label], LeafBoxes | None] | None = None
    class_slopes: Callable[[], Floats | None] | None = None
    gradient: Callable[[Label], Floats] | None = None
