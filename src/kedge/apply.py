"""Applying an anchor to other texts: which of them contain it."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from kedge import tokenize
from kedge.explain import Explainer
from kedge.explanation import Explanation
from kedge.given import given_text, given_texts, given_words
from kedge.typing import Bools

__all__ = ["apply"]


def apply(
    anchor: Explanation | str | Iterable[str],
    texts: Iterable[str],
    *,
    model: Any = None,
    tokenizer: Any = None,
) -> Bools:
    """Which texts satisfy an anchor: contain each of its words at least as often as it does.

    Parameters
    ----------
    anchor
        An explanation, or words, as a list or in a string; a word given twice must be there twice.
    texts
        Where to look.
    model
        The model whose words these are: texts are split as it splits them. Without it words are
        compared regardless of case.
    tokenizer
        How to split, where it is not the model's own way; see ``Explainer``.

    >>> apply(["good"], ["Good food", "goodness", ""]).tolist()
    [True, False, False]
    """
    needed = Counter(anchor.words if isinstance(anchor, Explanation) else given_words(anchor, "The anchor"))
    rows = (given_text(text, row) for row, text in enumerate(given_texts(texts)))
    if model is not None:
        split = Explainer(model, tokenizer=tokenizer).split
    else:
        tokens = tokenize.as_tokenizer(tokenizer)
        needed = _folded(needed)

        def split(text: str) -> tuple[str, ...]:
            return tuple(t.word.casefold() for t in tokens(text))

    return np.fromiter((needed <= Counter(split(text)) for text in rows), dtype=bool)


def _folded(words: Counter[str]) -> Counter[str]:
    folded: Counter[str] = Counter()
    for word, times in words.items():
        folded[word.casefold()] += times
    return folded
