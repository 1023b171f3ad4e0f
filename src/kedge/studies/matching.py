"""Applying an anchor to other texts: which of them contain it."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from kedge.explainer import Explainer
from kedge.results.explanation import Explanation
from kedge.text.inputs import as_text, as_texts, as_words
from kedge.text.tokenize import as_tokenizer
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
    needed = Counter(anchor.words if isinstance(anchor, Explanation) else as_words(anchor, "The anchor"))
    rows = (as_text(text, row) for row, text in enumerate(as_texts(texts)))
    if model is not None:
        split = Explainer(model, tokenizer=tokenizer).split
    else:
        tokens = as_tokenizer(tokenizer)
        needed = _fold(needed)

        def split(text: str) -> tuple[str, ...]:
            return tuple(t.word.casefold() for t in tokens(text))

    return np.fromiter((needed <= Counter(split(text)) for text in rows), dtype=bool)


def _fold(words: Counter[str]) -> Counter[str]:
    folded: Counter[str] = Counter()
    for word, times in words.items():
        folded[word.casefold()] += times
    return folded
