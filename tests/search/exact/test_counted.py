"""Anchors certified by arithmetic on counts: proofs that fail, and thresholds beyond any proof."""

import numpy as np
import pytest
from readings import reading_of
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.data.demo import reviews
from kedge.evaluators.enumeration import anchor_precision, table_size
from kedge.search import Goal
from kedge.search.exact.pooled import Estimates, Pool, shortest_estimated

TEXT = "Friendly staff, delicious food, a lovely place, but the soup was cold and the waiter slow and rude"


@pytest.fixture(scope="module")
def reading():
    """A model that divides by the norm: nothing can be ranked for certain."""
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
    return reading_of(model.fit(*reviews()), TEXT)


def share(reading, kept, n=40_000):
    """The precision of an anchor by many samples."""
    return reading.holds(reading.sample(kept, n, np.random.default_rng(1))).mean()


def test_a_threshold_beyond_any_proof_is_said_at_once(reading):
    """So many samples within reason cannot certify so much."""
    found = kedge.Counted()(reading, Goal(0.99999), np.random.default_rng(0))
    assert found.status == "not_reached"
    assert "certifies a precision of 0.99999" in found.notes[0]


@pytest.mark.parametrize("seed", range(6))
def test_after_a_failed_proof_a_longer_anchor_is_tried(reading, seed):
    """Rough looks propose anchors too short; what is certified in the end is true all the same."""
    found = kedge.Counted(samples=40, most=4_000)(reading, Goal(0.9), np.random.default_rng(seed))
    lengths = [len(tried.kept) for tried in found.trace]
    assert lengths == list(range(lengths[0], lengths[0] + len(lengths)))
    if found.status == "certified":
        assert found.interval.low >= 0.9
        assert share(reading, found.kept) > 0.9
    else:
        assert found.notes == ("No anchor could be certified.",)


def test_no_word_is_an_answer_where_that_is_allowed(reading):
    """Half of all samples keep the label: enough for a low threshold."""
    found = kedge.Counted()(reading, Goal(0.3, allow_empty=True), np.random.default_rng(0))
    assert (found.kept, found.status) == ((), "certified")
    assert share(reading, ()) > 0.3


def test_words_that_no_sample_keeps_are_kept_one_by_one():
    """Hardly any word stays, so that samples say nothing of longer anchors: everything is the last answer."""
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(*reviews())
    reading = reading_of(model, "friendly staff and delicious food", keep=1e-6)
    estimates = Estimates(reading, 1.0, 10, np.random.default_rng(0))
    kept = shortest_estimated(
        lambda base: Pool(reading, base, 10, np.random.default_rng(0)), estimates, 1.0, beam=2, checked=2
    )
    assert kept == tuple(range(len(reading.units)))


def test_what_samples_leave_open_is_added_up_where_they_are_few(reading):
    """A share next to the threshold is the precision itself, to the last bit."""
    units = tuple(range(len(reading.units)))
    few = next(kept for n in units[1:] if table_size(reading, kept := units[-n:]) <= 512)
    truth = anchor_precision(reading, few).mean
    assert 0.0 < truth < 1.0
    looks = Estimates(reading, truth, 50, np.random.default_rng(0))
    assert (looks(few), looks.reaches(few)) == (truth, True)
    assert not Estimates(reading, truth + 1e-9, 50, np.random.default_rng(0)).reaches(few)
