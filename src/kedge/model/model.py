"""The one type every classifier becomes.

``predict`` is all that a black box must give. Every other field is a capability: a function, or
None, declared only where it is true of this model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any

import numpy as np

from kedge.model.answers.predictions import Predictions
from kedge.model.scores.additive import AdditiveScore, NormalisedScore
from kedge.model.scores.inside import Inside
from kedge.model.scores.leads import Leads
from kedge.model.scores.leaves import LeafBoxes
from kedge.perturb.masking import Masking
from kedge.text.document import Document, Token
from kedge.typing import Bools, Counts, Floats, Label, Span

__all__ = ["Model", "Predictions", "python_label"]


@dataclass(frozen=True)
class Model:
    """A text classifier and what is known of its inside.

    Parameters
    ----------
    predict
        Texts to predictions: the model's own answers, the authority for every other field.
    name
        Its name in messages and reports.
    tokenize
        The units the model itself reads, with spans in the given text; its result is None for a
        text whose units cannot be placed. None: the model does not say.
    keeps_apart
        Whether it follows from the model's own steps that the words of a text stay themselves when others
        are masked.
    local
        Whether the words between two blanks follow from the characters between them alone, so that what
        masking does can be tried out on every such piece by itself.
    learned
        Whether the words it reads come from texts; those of a rule were written down.
    reads
        Whether a word is in the model's vocabulary.
    from_words
        Documents in the model's own words, whole runs of word characters, to what ``predict`` says of their
        texts: the words are not looked for a second time.
    from_counts
        For words in a given order, a function from (n, d) counts of them to predictions: declared
        only where predictions depend on nothing but these counts.
    additive
        (words, sizes, label) to the score behind the label, where it is a sum over words.
    normalised
        (words, label) to the linear score behind the label where it is divided by the l2 norm.
    leads
        (words, sizes, label) to the label's leads over its rivals, where these are sums over words, perhaps
        over the l2 norm.
    matters
        (words, sizes) to (d,) which of the words can matter in a document that has each of them this often.
    algebra
        (words, sizes, label, ask) to a function from (n, d) counts to whether the label holds, by plain
        arithmetic; ``ask`` is the model's own answer to the same question, for what rounding decides.
    leaves
        (words, sizes, label) to the boxes of a decision tree.
    class_slopes
        (words) to (k, d) what one occurrence of each adds to the score of each class, in the order of the
        classes, where scores are linear; None where they are not.
    between
        Two labels to what can be read of the model's preference between them: the fields above, by name.
    gradient
        (words, counts, label) to the derivative of the label's score by each word's count.
    slopes
        (text, spans, label, shares) to (n, b) what each word adds to the label's log-odds, to first order.
        ``spans`` says where the b words stand in the text, ``shares`` (n, b) how much of each is there: 1
        the word itself, 0 the mask.
    opened
        (document, masking) to what is known of the model on this document, where it is more than
        words one by one (n-grams, characters, unions); its result is None where that is unknown.
    notes
        What the user should know about how the model was converted.
    notes_for
        What the user should know about how the model takes this very text.
    mask
        What stands in place of a removed word, where the model has a token for it (``""``: nothing);
        None where it is chosen by what the other fields say.
    repeats
        Whether it is known that the same question always gets the same answer.
    own
        What the user's own object says when it is queried, where ``predict`` goes another way.
    parts
        The fitted parts that the fields above were made of, as they are now.
    remake
        Converts the same model again; needed when its parts are no longer the same (``is_current``).
    """

    predict: Callable[[Sequence[str]], Predictions]
    name: str
    tokenize: Callable[[str], Sequence[Token] | None] | None = None
    keeps_apart: Callable[[str], bool] | None = None
    local: bool = False
    reads: Callable[[str], bool] | None = None
    learned: bool = True
    from_words: Callable[[Sequence[Document]], Predictions] | None = None
    from_counts: Callable[[Sequence[str]], Callable[[Counts], Predictions]] | None = None
    additive: Callable[[Sequence[str], Counts, Label], AdditiveScore | None] | None = None
    normalised: Callable[[Sequence[str], Label], NormalisedScore | None] | None = None
    leads: Callable[[Sequence[str], Counts, Label], Leads | None] | None = None
    matters: Callable[[Sequence[str], Counts], Bools] | None = None
    algebra: (
        Callable[[Sequence[str], Counts, Label, Callable[[Counts], Bools]], Callable[[Counts], Bools] | None]
        | None
    ) = None
    leaves: Callable[[Sequence[str], Counts, Label], LeafBoxes | None] | None = None
    class_slopes: Callable[[Sequence[str]], Floats | None] | None = None
    between: Callable[[Label, Label], dict[str, Any]] | None = None
    gradient: Callable[[Sequence[str], Counts, Label], Floats] | None = None
    slopes: Callable[[str, Sequence[Span], Label, Floats], Floats] | None = None
    opened: Callable[[Document, Masking], Inside | None] | None = None
    notes: tuple[str, ...] = field(default=())
    notes_for: Callable[[str], tuple[str, ...]] | None = None
    mask: str | None = None
    repeats: bool = False
    own: Callable[[Sequence[str]], Predictions] | None = None
    parts: Callable[[], tuple[object, ...]] | None = None
    remake: "Callable[[], Model] | None" = None
    made_of: tuple[object, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "made_of", self.parts() if self.parts is not None else ())

    @property
    def is_current(self) -> bool:
        """Whether the model still consists of what it was made of: a refit or a new step changes that."""
        now = self.parts() if self.parts is not None else ()
        return len(now) == len(self.made_of) and all(map(is_, now, self.made_of))

    def notes_about(self, text: str) -> tuple[str, ...]:
        """All notes: those about the model, then those about how it takes a text."""
        return self.notes if self.notes_for is None else (*self.notes, *self.notes_for(text))


def python_label(label: object) -> Label:
    """A label as plain Python: numpy's scalars become int, str or bool, bytes become text."""
    value = label.item() if isinstance(label, np.generic) else label
    return value.decode() if isinstance(value, bytes) else value
