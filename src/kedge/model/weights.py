r"""A logistic regression given by the weights of its words, wherever it was trained.

>>> model = WordWeights({"good": 2.0, "not": -2.5}, intercept=0.1, classes=("negative", "positive"))
>>> model.predict(["Good food", "not good"])
['positive', 'negative']
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from kedge.document import Token
from kedge.errors import OptionError
from kedge.given import given_texts
from kedge.model.additive import AdditiveScore
from kedge.model.model import Model, Predictions
from kedge.model.vectorizer import WORD_RUNS
from kedge.typing import Counts, Floats, Label

__all__ = ["WordWeights", "weights_model"]


@dataclass(frozen=True)
class WordWeights:
    r"""Two classes; the second one wins iff ``intercept`` plus the weights of the text's words is positive.

    Nothing but Python and numpy is needed to ask or to explain it.

    Parameters
    ----------
    weights
        The weight of one occurrence of each word, in lower case: coefficient times IDF, say. Words
        without one count as nothing.
    intercept
        The score of a text without any known word.
    classes
        The labels of a negative and of a positive score.
    token_pattern
        A regular expression for words; the default is scikit-learn's, two or more word characters.
    """

    weights: Mapping[str, float]
    intercept: float = 0.0
    classes: tuple[Label, Label] = (0, 1)
    token_pattern: str = r"(?u)\b\w\w+\b"  # noqa: S105  (no password)
    _words: "re.Pattern[str]" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping) or not self.weights:
            raise OptionError("weights must be a dictionary from words to numbers, with at least one word.")
        for word, value in self.weights.items():
            if not isinstance(word, str) or word != word.lower():
                raise OptionError(f"The words of weights must be strings in lower case, got {word!r}.")
            if not _finite(value):
                raise OptionError(f"The weight of {word!r} must be a finite number, got {value!r}.")
        if not _finite(self.intercept):
            raise OptionError(f"intercept must be a finite number, got {self.intercept!r}.")
        if (
            not isinstance(self.classes, (tuple, list))
            or len(set(self.classes)) != 2
            or len(self.classes) != 2
        ):
            raise OptionError(f"classes must be two different labels, got {self.classes!r}.")
        try:
            pattern = re.compile(self.token_pattern)
        except (re.error, TypeError) as error:
            raise OptionError(f"token_pattern is no regular expression: {error}.") from None
        # A copy: what was read of the model stays true when the caller's dictionary changes.
        object.__setattr__(self, "weights", {word: float(value) for word, value in self.weights.items()})
        object.__setattr__(self, "intercept", float(self.intercept))
        object.__setattr__(self, "classes", tuple(self.classes))
        object.__setattr__(self, "_words", pattern)

    def tokens(self, text: str) -> list[Token]:
        """The words of a text in lower case, each at its place."""
        return [Token(m.group().lower(), m.start(), m.end()) for m in self._words.finditer(text) if m.group()]

    def score(self, text: str) -> float:
        """The intercept plus the weights of the text's words."""
        counts = Counter(token.word for token in self.tokens(text))
        # A sum that is rounded once does not depend on the order of the words.
        return math.fsum(
            [self.intercept, *(n * self.weights[w] for w, n in counts.items() if w in self.weights)]
        )

    def predict(self, texts: Iterable[str]) -> list[Label]:
        """Labels of texts."""
        return [self.classes[score > 0] for score in map(self.score, given_texts(texts))]

    def predict_proba(self, texts: Iterable[str]) -> Floats:
        """(n, 2) the probability of each class."""
        return _chances(np.array([self.score(text) for text in given_texts(texts)], dtype=np.float64))


def weights_model(given: WordWeights) -> Model:
    """Word weights as a model whose inside is known."""

    def predict(texts: Sequence[str]) -> Predictions:
        return _predictions(given, np.array([given.score(text) for text in texts]))

    def slopes_of(words: Sequence[str], label: Label = given.classes[1]) -> Floats:
        sign = 1.0 if label == given.classes[1] else -1.0
        return np.array([sign * given.weights[word] for word in words], dtype=np.float64)

    def from_counts(words: Sequence[str]) -> Callable[[Counts], Predictions]:
        slopes = slopes_of(words)

        def predict_counts(counts: Counts) -> Predictions:
            score = counts @ slopes + given.intercept
            # Where the order of additions could decide, add up as `predict` does.
            error = AdditiveScore.from_slopes(
                given.intercept, slopes, counts.max(axis=0, initial=0), strict=True
            ).error
            for row in np.flatnonzero(np.abs(score) <= error):
                score[row] = math.fsum([given.intercept, *(counts[row] * slopes).tolist()])
            return _predictions(given, score)

        return predict_counts

    def additive(words: Sequence[str], sizes: Counts, label: Label) -> AdditiveScore:
        second = label == given.classes[1]
        bias = given.intercept if second else -given.intercept
        return AdditiveScore.from_slopes(bias, slopes_of(words, label), sizes, strict=second)

    return Model(
        predict,
        "logistic regression given by its weights",
        tokenize=given.tokens,
        keeps_apart=lambda _: given.token_pattern in WORD_RUNS,
        reads=given.weights.__contains__,
        from_counts=from_counts,
        additive=additive,
        gradient=lambda words, _, label: slopes_of(words, label),
    )


def _finite(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def _chances(score: Floats) -> Floats:
    second = 1 / (1 + np.exp(-np.clip(score, -700, 700)))
    return np.column_stack([1 - second, second])


def _predictions(given: WordWeights, score: Floats) -> Predictions:
    labels = np.empty(len(score), dtype=object)
    labels[:] = [given.classes[s > 0] for s in score.tolist()]
    return Predictions(labels, given.classes, _chances(score))
