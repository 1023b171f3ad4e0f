"""Rules as models."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kedge
from kedge.errors import OptionError
from kedge.model.rules import all_present, any_of, present

WORDS = ["a", "b", "c", "d"]
RULES = st.recursive(
    st.sampled_from(WORDS).map(present),
    lambda rules: (
        st.tuples(rules, rules).map(lambda p: p[0] & p[1])
        | st.tuples(rules, rules).map(lambda p: p[0] | p[1])
        | rules.map(lambda r: ~r)
    ),
    max_leaves=6,
)


@given(RULES)
def test_a_rule_is_the_python_expression_it_prints(rule):
    """str(rule) evaluated by Python on every set of words agrees with predict."""
    for have in product([False, True], repeat=len(WORDS)):
        text = " ".join(w for w, h in zip(WORDS, have, strict=True) if h)
        expected = eval(str(rule), {}, dict(zip(WORDS, have, strict=True)))  # noqa: S307
        assert rule.predict([text]) == [int(expected)]


@given(RULES)
def test_counts_and_texts_give_the_same_labels(rule):
    """The declared from_counts agrees with predict on texts."""
    model = kedge.as_model(rule)
    counts = np.array(list(product(range(3), repeat=len(WORDS))))
    texts = [" ".join(w for w, c in zip(WORDS, row, strict=True) for _ in range(c)) for row in counts]
    assert model.from_counts(WORDS)(counts).labels.tolist() == rule.predict(texts)


@given(RULES, st.sampled_from([0, 1]))
def test_the_leaves_are_the_rule(rule, label):
    """Exactly one leaf is reached by any counts, and it holds where the rule gives the label."""
    model = kedge.as_model(rule)
    words = WORDS[:3]  # the fourth is not in the document
    counts = np.array(list(product(range(3), repeat=len(words))))
    leaves = model.leaves(words, np.full(len(words), 2), label)
    inside = ((counts[:, None, :] > leaves.low) & (counts[:, None, :] <= leaves.high)).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()
    expected = [x == label for x in model.from_counts(words)(counts).labels]
    assert leaves.holds(counts).tolist() == expected


def test_case_does_not_count():
    """Rules read lower case."""
    assert all_present(["Very", "good"]).predict(["VERY Good!", "very"]) == [1, 0]


def test_rules_travel():
    """A rule survives pickling."""
    rule = any_of(["not", "bad"], ["good"])
    assert pickle.loads(pickle.dumps(rule)) == rule


@pytest.mark.parametrize(
    "make", [lambda: all_present([]), any_of, lambda: present("two words"), lambda: present(3)]
)
def test_rules_without_words_are_refused(make):
    """A rule needs single words."""
    with pytest.raises(OptionError):
        make()
