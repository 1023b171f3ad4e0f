"""Exact answers on hostile cases against brute force: seconds here, hours with ``make soak``."""

from dataclasses import replace
from itertools import islice

import hostile
import numpy as np
import pytest
import truth
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import kedge
from kedge.render.phrases import promise


@pytest.mark.parametrize("family", hostile.FAMILIES, ids=lambda make: make.__name__.strip("_"))
def test_nothing_untrue_is_said_about_hostile_cases(family):
    """Length, precision, interval, baseline, coverage and examples, at thresholds that anchors attain."""
    rng = np.random.default_rng(0)
    exact = 0
    for case in islice(hostile.cases(rng, [family]), 24):
        for e, wrong in hostile.answers(case, rng, 6):
            assert not wrong, (case, e.threshold, wrong)
            exact += e.status == "exact"
    assert exact >= 60


def test_the_judge_finds_what_is_untrue():
    """A longer anchor, a wrong interval, a wrong baseline: each is told."""
    model = kedge.rules.all_present(["good", "film"])
    e = kedge.explain(model, "good film so film")
    judge = truth.Judge(model.predict, e)
    assert truth.broken(e, judge) == []
    longer = replace(
        e, positions=(0, 1, 2), words=("good", "film", "so"), interval=kedge.Interval.exactly(1.0)
    )
    assert any("are enough" in x for x in truth.broken(longer, judge))
    for change in (
        {"interval": kedge.Interval.exactly(0.99)},
        {"baseline": kedge.Interval.exactly(0.4)},
        {"positions": (2,)},
        {"examples": (replace(e.examples[0], holds=not e.examples[0].holds),)},
    ):
        assert truth.broken(replace(e, **change), judge)


def test_a_word_that_is_not_read_is_no_shorter_anchor():
    """Where no word is needed, a word that changes nothing would do as well: no length is claimed."""
    texts, labels = ["", "so", "so so", "so so so"], [1, 0, 1, 1]
    forest = RandomForestClassifier(1, bootstrap=False, max_features=None, random_state=0)
    tree = make_pipeline(CountVectorizer(vocabulary=["good", "so"]), forest)
    tree.fit(texts, labels)
    e = kedge.explain(tree, "good so so so", threshold=0.5, keep=0.25)
    assert (e.status, e.words) == ("exact", ("so", "so"))
    assert e.needs_no_word
    assert "shorter" not in promise(e)
    alone = truth.Judge(tree.predict, e, keep=0.25)
    assert alone.precision((0,)) == alone.precision(()) > 0.5 > alone.precision((1,))


OTHERS = [
    {"evaluator": "gaussian"},
    {"method": "exhaustive"},
    {"method": "exhaustive", "evaluator": "exact"},
    {"method": "gradient"},
    {"method": "branch"},
    {"method": "beam(evaluator='exact')"},
]


@pytest.mark.parametrize("options", OTHERS, ids=lambda options: " ".join(options.values()))
def test_no_other_way_of_searching_says_anything_untrue(options):
    """Ties as the model breaks them, whatever evaluates the anchors."""
    rng = np.random.default_rng(1)
    told = 0
    families = [hostile._linear, hostile._word_weights, hostile._naive_bayes]
    for case in islice(hostile.cases(rng, families), 30):
        judge = truth.Judge(case.predict, case.explainer.explain(case.text))
        for threshold in hostile.thresholds(judge, rng, 2):
            try:
                e = case.explainer.with_options(threshold=threshold, **options).explain(case.text)
            except kedge.KedgeError:  # a model that this method cannot be used on
                continue
            assert not truth.broken(e, judge, examples=False), (case, threshold)
            told += 1
    assert told >= 20
