"""What every strategy owes: one suite for all of them, and the list that ``auto`` is made of."""

from dataclasses import fields, replace

import numpy as np
import pytest
from readings import reading_of
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.data.demo import review_model, reviews
from kedge.errors import OptionError
from kedge.evaluators import Enumeration
from kedge.search import Goal
from kedge.search.strategies import AUTO, METHODS, as_strategy, choose_strategy, spell, strategies_for

TEXT = "very slow service, cold soup, but delicious dessert, very friendly staff"
RULE = kedge.rules.any_of(["delicious", "friendly"], ["very", "cold"])
PAIRS_OF_WORDS = make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression()).fit(*reviews())
MODELS = {"read": review_model(), "pairs": PAIRS_OF_WORDS, "asked": RULE.predict, "rule": RULE}
NAMES = [name for name in METHODS if name != "auto"]


def read(model):
    """A fresh reading: what was asked before costs nothing again."""
    return reading_of(MODELS[model], TEXT)


PAIRS = [(name, model) for name in NAMES for model in MODELS]
OBSTACLES = {(name, model): as_strategy(name).obstacle(read(model)) for name, model in PAIRS}
usable = pytest.mark.parametrize(("name", "model"), [pair for pair in PAIRS if OBSTACLES[pair] is None])
unusable = pytest.mark.parametrize(("name", "model"), [pair for pair in PAIRS if OBSTACLES[pair] is not None])
each = pytest.mark.parametrize("strategy", [as_strategy(name) for name in NAMES], ids=NAMES)


class TestContract:
    @usable
    @pytest.mark.parametrize("threshold", [0.7, 0.95, 1.0])
    def test_a_status_keeps_its_meaning(self, name, model, threshold):
        """Exact and certified: the lower end reaches the threshold, and the truth lies in the interval."""
        strategy, reading = as_strategy(name), read(model)
        found = strategy(reading, Goal(threshold), np.random.default_rng(0))
        truth = Enumeration(reading)([found.kept]).mean[0]
        assert list(found.kept) == sorted(found.kept)
        assert (reading.units.counts(found.kept) <= reading.units.sizes).all()
        assert len(found.kept) >= 1
        low, mean, high = found.interval
        assert 0 <= low <= mean <= high <= 1
        if found.status == "exact":
            assert low - 1e-9 <= truth <= high + 1e-9
        if found.status in {"exact", "certified"}:
            assert low >= threshold
            assert truth >= threshold

    @usable
    def test_the_same_generator_gives_the_same_answer(self, name, model):
        """Nothing else is random."""
        first, second = (as_strategy(name)(read(model), Goal(), np.random.default_rng(3)) for _ in range(2))
        assert (first.kept, first.interval, first.status) == (second.kept, second.interval, second.status)

    @unusable
    def test_an_obstacle_is_a_reason(self, name, model):
        """What cannot be used is refused with the reason, and the way out."""
        with pytest.raises(OptionError, match="use `method='auto'`") as refused:
            choose_strategy((as_strategy(name),), read(model))
        assert OBSTACLES[name, model] in str(refused.value)
        assert refused.value.option == "method"

    @each
    def test_nothing_kept_is_an_answer_only_if_allowed(self, strategy):
        """A label that holds whatever is removed: one word, or none if that may be said."""
        sure = lambda texts: ["yes"] * len(texts)  # noqa: E731
        for model in (sure, kedge.WordWeights({"soup": 1.0}, intercept=5.0)):
            reading = reading_of(model, "the soup was cold")
            if strategy.obstacle(reading) is None:
                lengths = [
                    len(strategy(reading, Goal(allow_empty=empty), np.random.default_rng(0)).kept)
                    for empty in (False, True)
                ]
                assert lengths == [1, 0]

    @each
    def test_spelled_and_read_back(self, strategy):
        """An explanation's method is what method= takes."""
        assert as_strategy(spell(strategy)) == strategy
        changed = {"samples": 7, "width": 3, "budget": 900}
        own = {f.name: changed[f.name] for f in fields(strategy) if f.name in changed}
        other = replace(strategy, **own)
        assert as_strategy(spell(other)) == other

    @each
    def test_what_it_ignores_is_refused(self, strategy):
        """A goal that the strategy has no use for is an error beside it, never ignored."""
        for name, value in (("ties", "last"), ("delta", 0.01)):
            if name in strategy.ignores:
                with pytest.raises(OptionError, match=f"{name}=.*` is not used by") as refused:
                    kedge.Explainer(RULE, method=strategy, **{name: value})
                assert (refused.value.option, refused.value.value) == (name, value)
            else:
                kedge.Explainer(RULE, method=strategy, **{name: value})


@pytest.mark.parametrize(
    ("model", "text", "name"),
    [
        (review_model(), TEXT, "ranked"),
        (PAIRS_OF_WORDS, TEXT * 2, "chain"),
        (RULE, TEXT, "tree"),
        (RULE.predict, "not so good soup", "lazy"),
        (RULE.predict, TEXT * 3, "guided"),
    ],
)
def test_auto_takes_the_first_that_fits(model, text, name):
    """Reading before asking, exact before certified."""
    assert choose_strategy(AUTO, reading_of(model, text)).name == name
    e = kedge.explain(model, text)
    assert e.method == name
    assert kedge.explain(model, text, method=e.method).words == e.words


def test_an_evaluator_by_name_chooses_among_its_own():
    """evaluator= narrows auto, sets the knob of a named method, and is refused elsewhere."""
    assert [s.name for s in strategies_for("auto", "empirical")] == ["guided"]
    assert strategies_for("beam", "exact") == (kedge.Beam(evaluator="exact"),)
    for method in ("guided", "ranked", kedge.Beam()):
        with pytest.raises(OptionError, match="evaluator='exact'` is not used"):
            strategies_for(method, "exact")


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("magic", "is not known; choose one of auto, ranked"),
        ("beam(breadth=4)", "has no parameter 'breadth'; it has width"),
        ("ranked(width=4)", "has no parameter 'width'; it has none"),
        ("beam(width=", "cannot be read"),
        ("beam(width=__import__('os'))", "cannot be read"),
        ("beam(4)", "cannot be read"),
        ("beam(width=0)", "`width` must be a whole number of at least 1"),
        (4, "must be a name or a strategy"),
        ((), "must have at least one strategy"),
    ],
)
def test_what_is_no_strategy_is_refused(method, says):
    """One sentence, with what there is."""
    with pytest.raises(OptionError, match=says.replace("(", r"\(")):
        kedge.Explainer(RULE, method=method)


def test_an_explainer_with_other_options_shares_the_model():
    """What was converted and checked once serves all that differ in options only."""
    asked = []

    def model(texts):
        asked.append(len(texts))
        return ["good" in text for text in texts]

    first = kedge.Explainer(model)
    second = first.with_options(threshold=0.8, seed=3)
    assert second.model is first.model
    assert (second.options.threshold, second.options.seed) == (0.8, 3)
    assert first.options.threshold == 0.95
    assert first.with_options(outputs="labels").model is not first.model


def test_a_sum_over_n_grams_is_evaluated_along_the_text():
    """Where there are too many samples to look at each, the paper's algorithm adds up windows, exactly."""
    texts = ["good food here", "not good food", "very good staff", "not very nice here"]
    model = make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression()).fit(texts, [1, 0, 1, 0])
    text = " ".join([*texts, *texts[::-1]] * 2)
    e = kedge.explain(model, text, method=kedge.Exhaustive(evaluator="exact"), threshold=0.6)
    assert (e.method, e.status, e.sampled) == ("exhaustive(evaluator='exact')", "exact", False)
    assert len(e.words) == len(kedge.explain(model, text, method="chain", threshold=0.6).words)
