"""Algorithm 1 on arrays, and the stability of what it selects."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kedge.errors import OptionError
from kedge.theory import count_anchors, select, stability

LEVELS = st.integers(0, 40).map(lambda step: 0.8 + step / 200)
EPS = 0.1


@st.composite
def evaluations(draw):
    """Two close evaluation functions on the same few anchors, the last always at 1."""
    size = draw(st.integers(2, 6))
    p = draw(arrays(float, size, elements=LEVELS))
    q = np.clip(p + draw(arrays(float, size, elements=st.floats(-0.04, 0.04))), 0, 1)
    length = draw(arrays(np.int64, size, elements=st.integers(1, 2)))
    p[-1] = q[-1] = 1.0
    length[-1] = 3
    return p, q, length


def test_count_anchors_lists_every_count_vector_once():
    """All vectors between zero and the multiplicities, without the empty one."""
    rows = count_anchors([2, 0, 3])
    assert len(np.unique(rows, axis=0)) == len(rows) == 3 * 1 * 4 - 1
    assert (rows <= [2, 0, 3]).all()
    assert rows.sum(axis=1).min() == 1


@given(evaluations())
def test_select_is_algorithm_1(case):
    """Reaching the threshold comes first, then shortness, then precision."""
    p, _, length = case
    chosen = select(p, length, eps=EPS)
    reach = [i for i in range(p.size) if p[i] >= 1 - EPS]
    short = [i for i in reach if length[i] == min(length[reach])]
    assert chosen.tolist() == [i for i in short if p[i] > max(p[short]) - 1e-9]


def test_select_is_empty_when_nothing_reaches_the_threshold():
    """No anchor is made up."""
    assert select([0.5, 0.6], [1, 2]).size == 0
    assert not stability([0.5, 0.6], [0.5, 0.6], [1, 2]).applies


@given(evaluations())
def test_stability_guarantees_the_same_anchor(case):
    """Whenever Prop. 2 applies, q selects exactly A* at eps - delta, with the corrected gap."""
    p, q, length = case
    told = stability(p, q, length, eps=EPS)
    assume(told.applies)
    assert told.gap > 0
    assert select(q, length, eps=told.eps).tolist() == [told.anchor]
    rivals = np.flatnonzero((length == length[told.anchor]) & (p >= 1 - EPS))
    rivals = rivals[rivals != told.anchor]
    assert (q[told.anchor] - q[rivals] >= told.gap - 1e-12).all()


@given(evaluations())
def test_tolerance_guarantees_the_same_anchor(case):
    """The weaker condition of the tolerance is enough, and implied by Prop. 2."""
    p, q, length = case
    told = stability(p, q, length, eps=EPS)
    if told.applies:
        assert told.distance <= told.tolerance + 1e-12
    assume(told.distance < told.tolerance - 1e-9)
    assert select(q, length, eps=told.eps).tolist() == [told.anchor]


@given(evaluations())
def test_tolerance_is_the_largest_such_error(case):
    """An error just above the tolerance can change the answer."""
    p, _, length = case
    told = stability(p, p, length, eps=EPS)
    assume(told.tolerance < 0.02)
    delta = told.tolerance + 1e-6
    worst = p + delta
    worst[told.anchor] = p[told.anchor] - delta
    assert select(worst, length, eps=EPS - delta).tolist() != [told.anchor]


def test_arrays_of_different_sizes_are_refused():
    """Every anchor needs a length and both evaluations."""
    with pytest.raises(OptionError, match="per anchor"):
        select([0.9, 1.0], [1])
    with pytest.raises(OptionError, match="both"):
        stability([0.9, 1.0], [0.9], [1, 2])
