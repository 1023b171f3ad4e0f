"""The oracle of these tests: every mask of every position, no formula."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest


def precisions_by_masks(holds, multiplicity, anchors, keep=0.5):
    """Prec of each anchor, summed over all 2^b masks of a document's b positions.

    ``holds`` takes (n, d) counts and says for each row whether the label is kept.
    """
    multiplicity = np.asarray(multiplicity)
    word_of = np.repeat(np.arange(multiplicity.size), multiplicity)
    rank = np.concatenate([np.arange(times) for times in multiplicity])
    masks = np.array(list(product([False, True], repeat=word_of.size)))
    member = (word_of[:, None] == np.arange(multiplicity.size)).astype(np.int64)
    values = []
    for anchor in np.atleast_2d(anchors):
        kept = rank < anchor[word_of]
        chance = np.where(masks, keep, 1 - keep)[:, ~kept].prod(axis=1) / 2 ** kept.sum()
        values.append(chance @ holds((masks | kept) @ member))
    return np.array(values)


@pytest.fixture(scope="session")
def brute() -> Callable[..., np.ndarray]:
    return precisions_by_masks
