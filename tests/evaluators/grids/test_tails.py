"""Tails on a grid contain the truth to the last bit, next to one as elsewhere."""

from fractions import Fraction
from itertools import product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators.grids.gridsum import GridSum
from kedge.evaluators.grids.tails import grid_tail


def truth(sizes, keep, base):
    """P(base + sum of kept sizes > 0), as a fraction."""
    chances = {True: Fraction(keep), False: 1 - Fraction(keep)}
    return sum(
        prod(chances[one] for one in kept)
        for kept in product((False, True), repeat=len(sizes))
        if base + sum(size for size, one in zip(sizes, kept, strict=True) if one) > 0
    )


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(1, 6), min_size=4, max_size=9),
    st.sampled_from([0.5, 0.75, 0.9, 0.95, 0.98, 0.1]),
    st.integers(0, 12),
)
def test_an_interval_of_whole_numbers_contains_the_truth(sizes, keep, less):
    """An upper end that is one less a small number is rounded, and must not be rounded down."""
    coins = [size if keep == 0.5 else ((0, size), (1 - keep, keep)) for size in sizes]
    low, _, high = grid_tail(GridSum.of(coins), 1.0, -less, 0.0, error=0.0, strict=True)
    exact = truth(sizes, keep, -less)
    assert Fraction(low) <= exact <= Fraction(high)
