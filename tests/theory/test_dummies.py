"""Words that a model ignores: when they can be selected all the same."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.theory import count_anchors, linear_dummies, rule_dummies, select


@settings(max_examples=200)
@given(
    st.lists(st.integers(1, 2), min_size=1, max_size=2),
    st.integers(1, 2),
    st.integers(0, 2**9 - 1),
    st.sampled_from([0.05, 0.3, 0.6]),
)
def test_when_a_dummy_is_selected(brute, multiplicity, times, table, eps):
    """Prop. 4, made exact, for any model on counts with a last word that it ignores.

    The dummy is in a selected anchor if and only if nothing kept reaches the threshold and no
    single word does better.
    """
    shape = tuple(np.add(multiplicity, 1))
    truth = np.array([(table >> k) & 1 for k in range(np.prod(shape))], dtype=bool)
    truth[-1] = True  # the label of the document itself

    def holds(counts):
        return truth[np.ravel_multi_index(tuple(counts[:, :-1].T), shape)]

    document = [*multiplicity, times]
    anchors = count_anchors(document)
    exact = brute(holds, document, anchors)
    selected = anchors[select(exact, anchors.sum(axis=1), eps=eps)]
    baseline = brute(holds, document, np.zeros(len(document), dtype=int)).item()
    singles = exact[anchors.sum(axis=1) == 1].max()
    possible = baseline >= 1 - eps and baseline >= singles - 1e-12
    assert (selected[:, -1] > 0).any() == possible


def test_linear_dummies_have_no_coefficient():
    """On plain TF-IDF, or without an intercept, the zeros of alpha."""
    assert linear_dummies([0.0, 1.0, -0.0]) == (0, 2)
    assert linear_dummies([0.0, 1.0], bias=0.0, idf=[2.0, 2.0]) == (0,)
    assert linear_dummies([0.0, 0.0, 1.0], bias=0.3, idf=[2.0, 0.0, 1.0]) == (1,)


@given(st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=4))
def test_rule_dummies_never_change_the_answer(rules):
    """Exactly the words whose presence changes the rule for no set of other words."""
    patterns = np.indices((2,) * 4).reshape(4, -1).T

    def holds(rows):
        return np.any([rows[:, list(rule)].all(axis=1) for rule in rules], axis=0)

    ignored = []
    for word in range(4):
        flipped = patterns.copy()
        flipped[:, word] ^= 1
        if (holds(patterns) == holds(flipped)).all():
            ignored.append(word)
    assert list(rule_dummies(4, [tuple(rule) for rule in rules])) == ignored
