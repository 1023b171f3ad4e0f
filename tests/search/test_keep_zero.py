"""Words that have the label by themselves, every other one gone, against all sets of words."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import kedge
from kedge.search import Goal
from kedge.search.keep_zero import shortest_at_keep_zero

WORDS = [f"w{k}" for k in range(7)]
NUMBERS = st.lists(st.integers(-4, 6), min_size=7, max_size=7)


def fewest(model, label, words):
    """How many words have the label alone, by trying all sets."""
    for size in range(1, len(words) + 1):
        texts = [" ".join(chosen) for chosen in combinations(words, size)]
        if label in list(model(texts)):
            return size
    return None


@given(NUMBERS, st.integers(-9, -1))
def test_a_prefix_of_the_largest_weights_is_shortest(numbers, intercept):
    """A linear score: sort and bisect; nothing shorter has the label."""
    weights = kedge.WordWeights(dict(zip(WORDS, map(float, numbers), strict=True)), intercept=intercept + 0.5)
    text = " ".join(WORDS)
    if list(weights.predict([text, ""])) != [1, 0]:
        return
    kept, status, minimality = shortest_at_keep_zero(
        kedge.Explainer(weights).read(text), Goal(), default_rng()
    )
    assert (status, minimality) == ("exact", "shortest")
    assert len(kept) == fewest(weights.predict, 1, WORDS)


def test_rounding_leaves_it_to_the_model():
    """A score of zero but for rounding: only the model could tell, so nothing is claimed of the length."""
    weights = kedge.WordWeights({"w0": 0.1, "w1": 0.2, "w2": 5.0}, intercept=-0.3)
    reading = kedge.Explainer(weights).read("w0 w1 w2")
    kept, status, _ = shortest_at_keep_zero(reading, Goal(), default_rng())
    assert (len(kept), status) == (1, "exact")
    close = kedge.WordWeights({"w0": 0.1, "w1": 0.2}, intercept=-0.1 - 0.2 + 5e-17)
    if list(close.predict(["w0 w1", ""])) == [1, 0]:
        found = shortest_at_keep_zero(kedge.Explainer(close).read("w0 w1"), Goal(), default_rng())
        assert found[1:] == ("certified", "open")


@pytest.mark.parametrize("probable", [False, True])
def test_three_words_are_found_by_what_each_says_alone(probable):
    """Neither one word nor two: a prefix of the ranked words, without those that it does not need."""

    def share(text):
        return sum(word in {"w1", "w4", "w6"} for word in set(text.split())) / 3

    def ask(texts):
        held = [0.2 + 0.7 * (share(t) == 1) + 0.01 * share(t) for t in texts]
        return [[1 - p, p] for p in held] if probable else [int(p > 0.5) for p in held]

    reading = kedge.Explainer(ask).read(" ".join(WORDS))
    kept, status, minimality = shortest_at_keep_zero(reading, Goal(), default_rng())
    assert [WORDS[k] for k in kept] == ["w1", "w4", "w6"]
    assert (status, minimality) == ("certified", "irreducible")
