"""Documented options that few people use, and words that few alphabets have, against brute force."""

from itertools import islice

import hostile
import numpy as np
import pytest
import unusual
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import MaxAbsScaler, Normalizer

import kedge

TEXTS, LABELS = ["good film", "bad film", "good plot", "bad plot"] * 2, [1, 0, 1, 0] * 2


@pytest.mark.parametrize("seed", range(4))
def test_nothing_untrue_is_said_of_unusual_pipelines(seed):
    """Vectorizers, steps in between, classifiers, and weights at the ends of what doubles can hold."""
    rng = np.random.default_rng([4, seed])
    exact = 0
    for case in islice(unusual.cases(rng), 90):
        try:
            for e, wrong in hostile.answers(case, rng, 3, coverage=False):
                assert not wrong, (case, e.threshold, wrong)
                exact += e.status == "exact"
        except kedge.KedgeError:  # refused in one sentence
            continue
    assert exact >= 150


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    "head", [LogisticRegressionCV(cv=2, Cs=2), GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2)]
)
def test_a_head_that_keeps_the_scores_of_its_own_choice_is_read(head):
    """Dictionaries of arrays among its attributes are no reason to fail."""
    steps = (TfidfVectorizer(ngram_range=(1, 2)), MaxAbsScaler(), Normalizer())
    pipeline = make_pipeline(*steps, head).fit(TEXTS, LABELS)
    assert kedge.explain(pipeline, "good film").words == ("good",)


def test_a_text_of_no_known_window_goes_through_steps_that_change_each_value():
    """There is nothing to change then."""
    pairs = TfidfVectorizer(ngram_range=(2, 2), binary=True, sublinear_tf=True, norm=None)
    pipeline = make_pipeline(make_union(CountVectorizer(), pairs), LogisticRegression()).fit(TEXTS, LABELS)
    e = kedge.explain(pipeline, "good")
    assert (e.status, e.words) == ("exact", ("good",))
