"""What the theory predicts is what `kedge.explain` finds."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kedge
from kedge.theory import all_present_anchor, rules_anchor, rules_precision

WORDS = ("not", "bad", "good", "very")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=4, max_size=4).filter(lambda m: sum(m) <= 11),
    st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=3),
)
def test_rules(multiplicity, rules):
    """For any list of rules: the same length and precision, by enumeration of the whole document."""
    text = " ".join(" ".join([word] * times) for word, times in zip(WORDS, multiplicity, strict=True))
    model = kedge.rules.any_of(*[[WORDS[j] for j in sorted(rule)] for rule in rules])
    found = kedge.explain(model, text)
    listed = [tuple(rule) for rule in rules]
    predicted = rules_anchor(multiplicity, listed)
    assert len(found.words) == sum(predicted)
    assert found.precision == pytest.approx(float(rules_precision(multiplicity, listed, predicted)))


@pytest.mark.parametrize("times", [4, 5])
def test_the_paper_s_example(times):
    """Four "very" are kept with "good", five are not."""
    found = kedge.explain(kedge.rules.all_present(["very", "good"]), "Food is " + "very " * times + "good!")
    kept = Counter(found.words)
    assert (kept["very"], kept["good"]) == all_present_anchor([times, 1])
