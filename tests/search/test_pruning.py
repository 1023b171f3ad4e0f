"""Leaving words out until none can go."""

from hypothesis import given
from hypothesis import strategies as st

from kedge.search.pruning import prune


@given(st.lists(st.integers(0, 4), min_size=1, max_size=7), st.sets(st.integers(0, 4)), st.integers(0, 2))
def test_what_is_left_is_needed(kept, needed, shortest):
    """It still reaches, is no shorter than allowed, and no single word of it can be left out."""

    def reaches(anchor):
        return needed & set(kept) <= set(anchor)

    left = prune(tuple(sorted(kept)), reaches, shortest=shortest)
    assert reaches(left)
    assert len(left) >= min(shortest, len(kept))
    for place in range(len(left)):
        assert len(left) <= shortest or not reaches(left[:place] + left[place + 1 :])


def test_the_least_useful_goes_first():
    """Of words that could replace each other the order decides."""
    assert prune((0, 1, 2), bool, order=[2, 0, 1]) == (1,)
