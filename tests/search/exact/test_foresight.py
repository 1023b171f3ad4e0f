"""The bound by foresight: above every anchor, and close where there is nothing to choose."""

from itertools import combinations

import numpy as np
import pytest
from chains import all_precisions, made_chain

from kedge.evaluators.grids.links import Links
from kedge.search.exact.foresight import Foresight


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("seed", range(12))
def test_runs_that_are_never_kept_are_one_law_at_the_end(seed, keep):
    """Ten links by themselves, of which three may be kept: their anchors stay below the bound.

    Of the anchors of no link the bound is the precision itself, but for the width of the cells.
    """
    score = made_chain(seed, 10, 1)
    links = Links.of(score)
    may = np.zeros(10, dtype=bool)
    may[np.argsort(score.weights[:10])[-3:]] = True
    found = Foresight.of(links, may, keep, 2)
    assert found is not None
    assert len(found.order) == 3
    precision = all_precisions(score, keep)
    for most in range(3):
        bound = found.bound(found.start(), 0, most)
        best = max(precision(a) for n in range(most + 1) for a in combinations(np.flatnonzero(may), n))
        assert best <= bound
        if not most:
            assert bound <= best + 0.06
