r"""A logistic regression given by the weights of its words, wherever it was trained.

>>> model = WordWeights({"good": 2.0, "not": -2.5}, intercept=0.1, classes=("negative", "positive"))
>>> model.predict(["Good food", "not good"])
['positive', 'negative']
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from kedge.errors import OptionError
from kedge.model.model import Model, Predictions, python_label
from kedge.model.scores.additive import AdditiveScore
from kedge.model.sklearn.locating import WORD_RUNS, looks_around
from kedge.text.document import Token
from kedge.text.inputs import as_text, as_texts
from kedge.text.patterns import needs_no_blank
from kedge.typing import Counts, Floats, Label
from kedge.utils.numerics import logistic
from kedge.utils.sentences import Option, Part

__all__ = ["WordWeights", "weights_model"]

# Weights whose squares, or sums of very many, would leave the range of doubles are refused.
_LEAST = 1e-100


@dataclass(frozen=True)
class WordWeights:
    r"""Two classes; the second one wins iff ``intercept`` plus the weights of the text's words is positive.

    It predicts and is explained without scikit-learn.

    Parameters
    ----------
    weights
        The weight of one occurrence of each word, in lower case: coefficient times IDF, say. Words
        without one count as nothing. Numbers of any size between 1e-100 and 1e100, or 0.
    intercept
        The score of a text without any known word.
    classes
        The labels of a negative and of a positive score.
    token_pattern
        A regular expression for words; the default is scikit-learn's, two or more word characters. A
        group in it is the word. It may not look around.
    """

    weights: Mapping[str, float] = field(hash=False)
    intercept: float = 0.0
    classes: tuple[Label, Label] = (0, 1)
    token_pattern: str = r"(?u)\b\w\w+\b"  # noqa: S105  (no password)
    _words: "re.Pattern[str]" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping) or not self.weights:
            raise OptionError(
                Option("weights"), " must be a dictionary from words to numbers, with at least one word."
            )
        # Plain copies: what was read of the model stays true when the caller's dictionary changes.
        object.__setattr__(self, "_words", _pattern(self.token_pattern))
        object.__setattr__(self, "classes", _two_labels(self.classes))
        object.__setattr__(self, "intercept", _number(self.intercept, Option("intercept")))
        weights = {word: _number(x, f"The weight of {word!r}") for word, x in self.weights.items()}
        object.__setattr__(self, "weights", weights)
        for word in weights:
            if not isinstance(word, str) or [token.word for token in self.tokens(word)] != [word]:
                raise OptionError(
                    f"{word!r} is not one of the words that are looked up: these are in lower case, and "
                    f"found whole by token_pattern={self.token_pattern!r}."
                )

    def tokens(self, text: str) -> list[Token]:
        """The words of a text in lower case, each at its place."""
        group = self._words.groups  # a single group, where there is one, is the word
        found = ((m.group(group), *m.span(group)) for m in self._words.finditer(text))
        return [Token(word.lower(), start, stop) for word, start, stop in found if word]

    def score(self, text: str) -> float:
        """The intercept plus the weights of the text's words."""
        counts = Counter(token.word for token in self.tokens(text))
        # A sum that is rounded once does not depend on the order of the words.
        return math.fsum(
            [self.intercept, *(n * self.weights[w] for w, n in counts.items() if w in self.weights)]
        )

    def predict(self, texts: Iterable[str]) -> list[Label]:
        """Labels of texts."""
        return [self.classes[score > 0] for score in self._scores(texts)]

    def predict_proba(self, texts: Iterable[str]) -> Floats:
        """(n, 2) the probability of each class."""
        return _chances(np.array(self._scores(texts), dtype=np.float64))

    def _scores(self, texts: Iterable[str]) -> list[float]:
        return [self.score(as_text(text, row)) for row, text in enumerate(as_texts(texts))]


def weights_model(given: WordWeights) -> Model:
    """Word weights as a model whose inside is known."""

    def predict(texts: Sequence[str]) -> Predictions:
        return _predictions(given, np.array([given.score(text) for text in texts], dtype=np.float64))

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
        "WordWeights",
        tokenize=given.tokens,
        keeps_apart=lambda _: given.token_pattern in WORD_RUNS,
        local=needs_no_blank(given.token_pattern),
        repeats=True,
        reads=given.weights.__contains__,
        from_counts=from_counts,
        additive=additive,
        gradient=lambda words, _, label: slopes_of(words, label),
    )


def _number(value: object, what: Part) -> float:
    """A plain float whose squares and sums stay within the range of doubles."""
    if not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):
            number = float(value)
            if number == 0 or _LEAST <= abs(number) <= 1 / _LEAST:
                return number
    raise OptionError(what, f" must be a number, 0 or of size 1e-100 to 1e100, got {_shown(value)}.")


def _two_labels(classes: object) -> tuple[Label, Label]:
    if isinstance(classes, np.ndarray):
        classes = classes.tolist()
    labels = [python_label(label) for label in classes] if isinstance(classes, (tuple, list)) else []
    plain = all(isinstance(label, (str, int)) or label == label for label in labels)  # noqa: PLR0124  (no NaN)
    plain &= all(isinstance(label, (str, int, float)) for label in labels)
    if len(labels) != 2 or not plain or labels[0] == labels[1]:
        raise OptionError(
            Option("classes"), f" must be a pair of different strings or numbers, got {_shown(classes)}."
        )
    return labels[0], labels[1]


def _pattern(pattern: object) -> "re.Pattern[str]":
    if not isinstance(pattern, str):
        raise OptionError(Option("token_pattern"), f" must be a string, got {type(pattern).__name__}.")
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise OptionError(Option("token_pattern"), f" is no regular expression: {error}.") from None
    if compiled.groups > 1 or looks_around(pattern):
        raise OptionError(
            Option("token_pattern"), " may have one group, which is the word, and may not look around."
        )
    return compiled


def _shown(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return type(value).__name__
    return shown if len(shown) <= 60 else type(value).__name__


def _chances(score: Floats) -> Floats:
    second = logistic(score)
    return np.column_stack([1 - second, second])


def _predictions(given: WordWeights, score: Floats) -> Predictions:
    labels = np.empty(len(score), dtype=object)
    labels[:] = [given.classes[s > 0] for s in score.tolist()]
    return Predictions(labels, given.classes, _chances(score))
