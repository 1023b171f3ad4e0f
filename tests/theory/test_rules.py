"""Rules on the presence of words, against all masks and all anchors."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.errors import LabelError, OptionError
from kedge.theory import (
    all_present_anchor,
    all_present_precision,
    break_point,
    count_anchors,
    rules_anchor,
    rules_precision,
    select,
    words_needed,
)

EPS = st.sampled_from([0.01, 0.05, 1 / 16, 0.1, 0.25, 0.3, 0.5, 0.7])


# No product of these probabilities is 1 - eps, where rounding would decide.
KEEP = st.sampled_from([0.5, 0.35])


def all_present(words):
    return lambda counts: (counts[:, words] > 0).all(axis=1)


def any_rule(rules):
    return lambda counts: np.any([(counts[:, list(r)] > 0).all(axis=1) for r in rules], axis=0)


@st.composite
def documents(draw):
    """Multiplicities with at most nine occurrences, and one to three rules on the words."""
    multiplicity = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4).filter(lambda m: sum(m) <= 9))
    word = st.integers(0, len(multiplicity) - 1)
    rules = draw(st.lists(st.sets(word, min_size=1), min_size=1, max_size=3))
    return multiplicity, [tuple(sorted(rule)) for rule in rules]


@given(st.floats(1e-300, 0.999), st.floats(0.02, 0.98))
def test_break_point_is_the_last_necessary_multiplicity(eps, keep):
    """At B occurrences a word's absence is still too likely, at B + 1 no longer."""
    border = break_point(eps, keep=keep)
    assert border == 0 or (1 - keep) ** border > eps
    assert (1 - keep) ** (border + 1) <= eps


def test_break_point_at_powers_of_two():
    """At eps = 2^-k a word of multiplicity k can be left out; just below it cannot."""
    powers = range(1, 1074)  # down to the smallest numbers there are
    assert [break_point(2.0**-k) for k in powers] == [k - 1 for k in powers]
    assert [break_point(float(np.nextafter(2.0**-k, 0))) for k in powers] == list(powers)


@given(st.integers(1, 12), EPS)
def test_words_up_to_the_break_point_are_all_selected(size, eps):
    """If no word occurs more than B times, nothing can be left out."""
    border = break_point(eps)
    if border:
        multiplicity = np.minimum(np.arange(1, size + 1), border)
        assert words_needed(multiplicity, eps=eps) == size


def test_a_word_above_the_break_point_may_still_be_selected():
    """Two words of five occurrences cannot both be left out at 0.95; a lone one is its anchor."""
    assert all_present_anchor([5, 5]) == (1, 0)
    assert all_present_anchor([5]) == (1,)


@given(st.lists(st.integers(1, 70), min_size=1, max_size=8), st.sampled_from([1e-18, 1e-6, 0.05]))
def test_words_needed_in_exact_arithmetic(multiplicity, eps):
    """The corrected c0, also where 1 - 2^-m is 1 in floating point."""
    ordered = sorted(multiplicity, reverse=True)

    def enough(kept):
        product = Fraction(1)
        for times in ordered[: len(ordered) - kept]:
            product *= 1 - Fraction(1, 2**times)
        return product >= 1 - Fraction(eps)

    assert words_needed(multiplicity, eps=eps) == next(c for c in range(1, len(ordered) + 1) if enough(c))


@settings(max_examples=60)
@given(documents(), EPS, KEEP)
def test_all_present_rule(brute, case, eps, keep):
    """Prop. 5: precision of every anchor, and the selected one, equal brute force."""
    multiplicity, _ = case
    anchors = count_anchors(multiplicity)
    exact = brute(all_present(list(range(len(multiplicity)))), multiplicity, anchors, keep)
    assert all_present_precision(multiplicity, anchors, keep=keep) == pytest.approx(exact)
    selected = anchors[select(exact, anchors.sum(axis=1), eps=eps)].tolist()
    assert list(all_present_anchor(multiplicity, eps=eps, keep=keep)) in selected


@settings(max_examples=60)
@given(documents(), EPS, KEEP)
def test_any_rule(brute, case, eps, keep):
    """A list of rules: precision of every anchor, and the selected one, equal brute force."""
    multiplicity, rules = case
    anchors = count_anchors(multiplicity)
    exact = brute(any_rule(rules), multiplicity, anchors, keep)
    assert rules_precision(multiplicity, rules, anchors, keep=keep) == pytest.approx(exact)
    selected = anchors[select(exact, anchors.sum(axis=1), eps=eps)].tolist()
    assert list(rules_anchor(multiplicity, rules, eps=eps, keep=keep)) in selected


@given(st.lists(st.integers(1, 9), min_size=3, max_size=3), st.floats(0.001, 0.999))
def test_the_one_word_rule_is_selected_for_every_eps(multiplicity, eps):
    """Prop. 8: "(w1 and w2) or w3" is explained by w3."""
    assert rules_anchor(multiplicity, [(0, 1), (2,)], eps=eps) == (0, 0, 1)


def test_the_shortest_rule_is_not_always_selected():
    """A frequent word of it is left out, as in Prop. 5; or chance is enough."""
    assert rules_anchor([5, 1, 1, 1], [(0, 1), (1, 2, 3)]) == (0, 1, 0, 0)
    pairs = [(2 * i, 2 * i + 1) for i in range(10)]
    assert sum(rules_anchor([1] * 20, pairs, eps=0.1)) == 1


def test_ties_go_to_the_earlier_word():
    """The paper draws; a prediction is the same every time."""
    assert rules_anchor([1, 1, 1], [(2,), (1,)]) == (0, 1, 0)
    assert all_present_anchor([6, 5, 5, 1]) == (0, 1, 0, 1)


def test_rules_that_cannot_hold_are_left_aside():
    """A rule with a word that the document lacks never holds on a perturbed copy."""
    assert rules_anchor([1, 0, 2, 3], [(0, 1), (2, 3)]) == (0, 0, 1, 1)
    with pytest.raises(LabelError, match="No rule holds"):
        rules_anchor([1, 0], [(0, 1)])
    with pytest.raises(LabelError, match="does not occur"):
        words_needed([1, 0])


@pytest.mark.parametrize("rules", [[()], [(0, 7)], [(-1,)]])
def test_rules_that_name_no_word_are_refused(rules):
    """A rule is one or more indices of words."""
    with pytest.raises(OptionError, match="word indices"):
        rules_anchor([1, 1], rules)


def test_too_many_words_to_enumerate_are_refused():
    """The table of presence patterns would not fit; the closed form is named."""
    with pytest.raises(OptionError, match="all_present_anchor"):
        rules_anchor([1] * 21, [range(21)])
    assert all_present_anchor([1] * 21) == (1,) * 21
