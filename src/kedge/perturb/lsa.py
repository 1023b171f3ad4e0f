"""Word vectors from a user's own texts: latent semantic analysis of word contexts."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from kedge.errors import OptionError
from kedge.text.inputs import as_texts
from kedge.text.tokenize import words as split
from kedge.typing import Floats

__all__ = ["word_vectors"]

# How far apart two words may stand to be each other's context; words that occur less often are left out.
_WINDOW, _LEAST = 4, 2


def word_vectors(texts: Iterable[str], *, dimensions: int = 50) -> dict[str, Floats]:
    """Vectors of the words of some texts, in lower case.

    How often two words stand near each other is compared with chance (positive
    pointwise mutual information, PPMI), and the table is reduced to its leading singular
    directions, each scaled by the root of its singular value (Levy & Goldberg 2014).

    Parameters
    ----------
    texts
        The texts to learn from.
    dimensions
        Length of the vectors.
    """
    from scipy.sparse import csr_matrix

    rows = [[token.word.casefold() for token in split(text)] for text in as_texts(texts)]
    seen = Counter(word for row in rows for word in row)
    vocabulary = sorted(word for word, n in seen.items() if n >= _LEAST)
    if len(vocabulary) < 3:
        raise OptionError(
            f"Only {len(vocabulary)} words occur at least {_LEAST} times in these texts; vectors need more."
        )
    at = {word: i for i, word in enumerate(vocabulary)}
    pairs: Counter[tuple[int, int]] = Counter()
    for row in rows:
        known = [at.get(word, -1) for word in row]
        for shift in range(1, _WINDOW + 1):
            pairs.update((a, b) for a, b in zip(known, known[shift:], strict=False) if a >= 0 and b >= 0)
    if not pairs:
        raise OptionError("No two words stand near each other in these texts; vectors need longer texts.")
    i, j = np.array(list(pairs), dtype=np.int64).T
    n = np.array(list(pairs.values()), dtype=np.float64)
    size = len(vocabulary)
    near = csr_matrix((np.r_[n, n], (np.r_[i, j], np.r_[j, i])), shape=(size, size))
    near.sum_duplicates()
    total = near.sum()
    often = np.asarray(near.sum(axis=1)).ravel()
    row_of, column_of = near.nonzero()
    chance = often[row_of] * often[column_of] / total
    ppmi = near.copy()
    ppmi.data = np.maximum(np.log(np.asarray(near[row_of, column_of]).ravel() / chance), 0)
    return dict(zip(vocabulary, _reduced(ppmi, min(dimensions, size - 1)), strict=True))


def _reduced(table: Any, dimensions: int) -> Floats:
    """(n, dimensions) leading singular directions; the seed is fixed, so that they never vary."""
    from sklearn.utils.extmath import randomized_svd

    u, s, _ = randomized_svd(table, dimensions, random_state=0)
    reduced: Floats = np.asarray(u * np.sqrt(s), dtype=np.float64)
    return reduced
