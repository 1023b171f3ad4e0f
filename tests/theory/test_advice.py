"""The warnings about one document, and that each is true of it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kedge.errors import KedgeError, LabelError, OptionError
from kedge.theory import (
    count_anchors,
    gaussian_precision,
    linear_level,
    linear_warnings,
    rule_warnings,
    select,
)


def test_a_frequent_word_is_announced_as_left_out():
    """The paper's example: a fifth "very" removes it from the anchor."""
    words = ["food", "is", "very", "good"]
    assert rule_warnings(words, [1, 1, 4, 1], [(2, 3)]) == ()
    (only,) = rule_warnings(words, [1, 1, 5, 1], [(2, 3)])
    assert only == "'very' occurs 5 times: above the break point 4, it is not selected."


def test_equally_frequent_words_are_left_to_chance():
    """Of two words with five occurrences one has to stay: no claim about which."""
    (only,) = rule_warnings(["very", "good"], [5, 5], [(0, 1)])
    assert only == "'good' is as frequent as 'very': which is selected is chance."


def test_a_label_that_needs_no_word_is_announced():
    """With the baseline above the threshold even an ignored word reaches it."""
    first, *rest = rule_warnings(["so", "very"], [1, 6], [(1,)])
    assert "0.984" in first
    assert "even 'so', which the model ignores" in first
    assert rest == []


def test_the_longer_rule_is_announced_as_not_needed():
    """One rule kept is enough; a rule that cannot hold on the document is not mentioned."""
    words = ["not", "bad", "good", "fine"]
    found = rule_warnings(words, [1, 1, 1, 0], [(0, 1), (2,), (3,)])
    assert found == (
        "'not' is in a rule but not needed: keeping 'good' is enough.",
        "'bad' is in a rule but not needed: keeping 'good' is enough.",
    )


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4).filter(lambda m: sum(m) <= 9),
    st.sampled_from([0.05, 1 / 16, 0.2]),
)
def test_words_said_to_be_left_out_are_in_no_selected_anchor(brute, multiplicity, eps):
    """And the words left to chance are in some selected anchor, not in all."""
    words = [f"w{j}" for j in range(len(multiplicity))]
    rule = tuple(range(len(words)))
    anchors = count_anchors(multiplicity)
    exact = brute(lambda c: (c > 0).all(axis=1), multiplicity, anchors)
    selected = anchors[select(exact, anchors.sum(axis=1), eps=eps)]
    share = dict(zip(words, (selected > 0).mean(axis=0), strict=True))
    lines = rule_warnings(words, multiplicity, [rule], eps=eps)
    for word, part in share.items():
        if any(line.startswith(f"{word!r} occurs") for line in lines):
            assert part == 0
        if any(line.startswith(f"{word!r} is as frequent") for line in lines):
            assert 0 < part < 1
    assert sum(share[w] == 0 for w in words) == sum("is not selected" in line for line in lines)


def test_a_label_that_never_changes_is_announced():
    """A large intercept: nothing that is removed can turn the score."""
    found = linear_warnings(["good", "bad", "slow"], [1, -2, -1], [1, 1, 1], 5)
    assert found[0].startswith("The label never changes")
    assert found[1] == "The Gaussian approximation may select 'bad', which opposes the label."


def test_a_linear_baseline_above_the_threshold_is_announced():
    """Many weak supporting words: any one of them, or an ignored word, reaches 0.95."""
    words = [f"w{j}" for j in range(40)]
    alpha = np.r_[np.ones(39), 0.0]
    found = linear_warnings(words, alpha, np.ones(40), -9.0)
    assert "With no word kept" in found[0]
    assert "even 'w39'" in found[0]


def test_a_clear_case_has_no_warning():
    """One word supports the label and its anchor is certain."""
    assert linear_warnings(["good", "bad"], [5.0, -1.0], [1, 1], -1.0) == ()


@settings(max_examples=200)
@given(
    st.lists(st.integers(-12, 12).map(lambda s: s / 4), min_size=2, max_size=4),
    st.integers(-12, 24).map(lambda s: s / 4),
)
def test_the_approximation_selects_a_negative_word_only_where_warned(alpha, bias):
    """If approximate Anchors selects one negative word beside top words, a warning says so."""
    multiplicity = np.ones(len(alpha), dtype=int)
    slope = np.array(alpha)
    assume(bias + slope.sum() > 0)
    anchors = count_anchors(multiplicity)
    value = gaussian_precision(linear_level(slope, multiplicity, anchors, bias))
    selected = anchors[select(value, anchors.sum(axis=1))]
    found = linear_warnings([f"w{j}" for j in range(len(alpha))], slope, multiplicity, bias)
    warned = any("opposes the label" in line for line in found)
    if warned:
        assert not all((row[slope < 0] == 0).all() for row in selected)
    elif len(selected[0]) and selected[0].sum() == 1 and (slope > 0).any():
        assert (selected[:, slope < 0] == 0).all()


def test_the_norm_makes_words_without_coefficient_matter():
    """Normalised TF-IDF with an intercept: the side on which a zero stands is told."""
    words, alpha, idf = ["food", "good"], [0.0, 2.0], [3.0, 1.0]
    found = linear_warnings(words, alpha, [1, 1], -0.5, idf=idf)
    assert "every word moves the norm" in found[0]
    assert "'food' has coefficient 0" in found[-1]
    assert "opposes the label" in found[-1]
    assert linear_warnings(words, alpha, [1, 1], idf=idf) == linear_warnings(words, alpha, [1, 1])
    with pytest.raises(LabelError):
        linear_warnings(words, alpha, [1, 1], -5, idf=idf)


def test_words_and_counts_must_match():
    """One name for each multiplicity."""
    with pytest.raises(OptionError):
        rule_warnings(["a"], [1, 1], [(0,)])
    with pytest.raises(OptionError):
        rule_warnings(["a", "b"], [1, 1], [(0, 2)])
    with pytest.raises(KedgeError):
        linear_warnings(["a"], [1.0, 1.0], [1, 1])
