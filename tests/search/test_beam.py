"""The official procedure where it must stop."""

import zlib

import numpy as np
import pytest
from readings import reading_of

import kedge
from kedge.errors import OptionError
from kedge.evaluators.empirical import Empirical
from kedge.search import Goal

RULE = kedge.rules.all_present(["aa", "bb"])
TEXT = "aa bb cc dd ee ff"


def test_nothing_is_kept_if_that_is_enough():
    """A label that holds whatever is removed is accepted at once."""
    reading = reading_of(lambda texts: ["yes"] * len(texts), TEXT)
    found = kedge.Beam()(reading, Goal(allow_empty=True), np.random.default_rng(0))
    assert (found.kept, found.status) == ((), "estimated")


def test_nothing_is_kept_only_if_that_is_enough():
    """Else the search goes on to words."""
    found = kedge.Beam()(reading_of(RULE.predict, TEXT), Goal(allow_empty=True), np.random.default_rng(0))
    assert found.kept == (0, 1)


@pytest.mark.parametrize(
    ("most", "says"), [(5, "6 anchors cannot be compared with 2 more queries"), (40, "40")]
)
def test_questions_that_run_out(most, says):
    """Too few to begin with, or spent on the way: the best seen, and why it is not more."""
    reading = reading_of(RULE.predict, TEXT, max_queries=most)
    found = kedge.Beam()(reading, Goal(), np.random.default_rng(0))
    assert found.status == "not_reached"
    assert says in found.notes[-1]


def test_closed_forms_are_compared_without_samples():
    """On a rule and on a linear model the same search, exact in its comparisons."""
    long = " ".join([TEXT, *(f"w{k}" for k in range(60))])
    weights = kedge.WordWeights({"aa": 3.0, "bb": 3.0, **{f"w{k}": 0.01 for k in range(60)}}, intercept=-4.0)
    rule = kedge.rules.all_present(["aa", "bb", *(f"w{k}" for k in range(3))])
    for model in (weights, rule, RULE):
        reading = reading_of(model, long if model is not RULE else TEXT)
        found = kedge.Beam(evaluator="exact")(reading, Goal(), np.random.default_rng(0))
        assert found.interval.low >= 0.95
        assert not found.evaluator.sampled


def test_an_evaluator_that_a_strategy_has_no_use_for_is_refused():
    """With those that it takes."""
    with pytest.raises(OptionError, match="takes `evaluator` 'auto', 'exact' or 'empirical', not 'gaussian'"):
        kedge.Gradient(evaluator="gaussian")


def test_without_a_closed_form_samples_are_drawn():
    """``"auto"`` is the most exact there is: on a long text of a model that can only be asked, samples."""
    reading = reading_of(RULE.predict, " ".join([TEXT, *(f"w{k}" for k in range(40))]))
    found = kedge.Beam(evaluator="auto")(reading, Goal(), np.random.default_rng(0))
    assert (found.kept, found.evaluator.sampled) == ((0, 1), True)


def test_the_same_few_texts_drawn_over_and_over_end_the_search():
    """With ``keep`` near one nearly every sample is one that was asked about before, which costs no query."""
    text = " ".join(f"w{k}" for k in range(20))
    mixed = kedge.Explainer(
        lambda texts: [int(t == text or zlib.crc32(t.encode()) % 2) for t in texts],
        perturbation=kedge.Masking(mask="UNK", keep=0.95),
        max_queries=3000,
        threshold=0.999,
    )
    for method in ("beam", "beam(width=3)"):
        e = mixed.with_options(method=method).explain(text)
        assert e.queries <= 3000
    endless = "beam(width=3, tolerance=0.0)"
    fewer = mixed.with_options(method=endless, perturbation=kedge.Masking(mask="UNK", keep=0.99))
    assert fewer.explain("w0 w1 w2 w3").status in {"not_reached", "estimated"}


def test_of_equal_words_the_official_one_is_chosen():
    """Where any word will do, the last of the official sort: of 20 words the last, as of few."""
    for words in (5, 20, 133):
        text = " ".join(f"w{k}" for k in range(words))
        found = kedge.Beam()(reading_of(lambda t: ["yes"] * len(t), text), Goal(), np.random.default_rng(0))
        assert found.kept == (words - 1,)


def test_only_what_was_chosen_hands_its_samples_on():
    """A longer anchor starts with the samples of the one it grows from, not with those of its other words."""
    precision = Empirical(reading_of(RULE.predict, TEXT), np.random.default_rng(0), share=True)
    precision([(0,), (1,)], 200)
    precision.hand_on([(0,)])
    both, other = precision([(0, 1), (1, 2)]).trials
    assert 60 < both < 140
    assert other == 0
