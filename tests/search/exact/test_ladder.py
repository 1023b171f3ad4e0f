"""Linear scores under unfair coins, and those that are not linear."""

import numpy as np
import pytest
from counting import precision, shortest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.model.scores.additive import AdditiveScore
from kedge.search.exact.ladder import Ladder
from kedge.search.exact.prefixes import shortest_prefix


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, 0.7]))
@settings(max_examples=60, deadline=None)
def test_unfair_coins_agree_with_brute_force(seed, keep):
    """Words that stay more or less often than not: the precision of every length, and the answer."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 3, 5)
    slopes = rng.normal(size=5)
    score = AdditiveScore.from_slopes(0.1 - float(slopes @ sizes) * 0.9, slopes, sizes, strict=True)
    if not score.holds(sizes[None])[0]:
        slopes, score = -slopes, AdditiveScore.from_slopes(-score.bias, -slopes, sizes, strict=True)
    found = shortest_prefix(score, 0.9, keep=keep)
    for length, tail in found.looked.items():
        kept = np.bincount(np.array(found.top(length), dtype=int), minlength=5)
        truth = precision(score.holds, kept, sizes, keep)
        assert tail.low - 1e-12 <= truth <= tail.high + 1e-12
        assert tail.width < 1e-12
    if (slopes > 0).any():
        assert found.proven
        assert len(found.kept) == shortest(score.holds, sizes, 0.9, keep)[0]


def test_only_linear_scores_are_ranked():
    """A table that bends has no single coefficient."""
    bent = AdditiveScore(0.0, (np.array([0.0, 1.0, 1.5]),))
    with pytest.raises(ValueError, match="linear score"):
        Ladder.of(bent, 0.5)
