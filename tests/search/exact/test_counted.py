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
from kedge.evaluators.intervals import mixture_interval
from kedge.search import Goal
from kedge.search.exact import counted
from kedge.search.exact.pooled import Estimates, Pool, shortest_estimated
from kedge.search.strategy import Candidate

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


@pytest.mark.parametrize(("most", "pieces"), [(4_000, [1000, 1000, 2000]), (4_001, [1000, 1000, 2000, 4000])])
def test_a_proof_takes_twice_as_many_samples_each_time_up_to_its_limit(most, pieces, monkeypatch):
    """While its side is open; what they say is the interval of all of them."""
    asked = []
    monkeypatch.setattr(counted, "draw_hits", lambda _, __, n, ___: asked.append(n) or round(0.9 * n))
    monkeypatch.setattr(counted, "enumerable", lambda *_: False)
    found = kedge.Counted(most=most)._certify(None, (1,), 0.9, 0.05, None)
    assert asked == pieces
    n = sum(pieces)
    low, high = mixture_interval(round(0.9 * n), n, 0.05)
    assert found.kept == (1,)
    assert tuple(found.interval) == (low, 0.9, high)
    for clear in (0.5, 0.8):
        asked.clear()
        assert kedge.Counted(most=most)._certify(None, (1,), clear, 0.05, None).interval.low >= clear
        assert asked == [1000]
    # Too close for samples, of which there are few: all are looked at.
    monkeypatch.setattr(counted, "enumerable", lambda *_: True)
    monkeypatch.setattr(counted, "anchor_precision", lambda *_: kedge.Interval.exactly(0.9))
    assert kedge.Counted(most=most)._certify(None, (1,), 0.9, 0.05, None).interval == kedge.Interval.exactly(
        0.9
    )


def test_each_anchor_that_is_tried_gets_half_of_what_is_left(reading, monkeypatch):
    """Of delta, whatever the threshold; none is tried twice, and the first that is proved is the answer."""
    levels, tried = [], []

    def late(_, __, kept, threshold, delta, ___):
        levels.append((threshold, delta))
        tried.append(kept)
        return Candidate(kept, kedge.Interval(0.9 if len(tried) == 5 else 0.0, 0.9, 1.0))

    monkeypatch.setattr(kedge.Counted, "_certify", late)
    found = kedge.Counted(samples=200)(reading, Goal(0.9, delta=0.04), np.random.default_rng(0))
    assert levels == [(0.9, 0.04 / 2 ** (k + 1)) for k in range(5)]
    assert len(set(tried)) == 5
    assert [one.kept for one in found.trace] == tried
    assert (found.kept, found.status, found.notes) == (tried[-1], "certified", ())
    # The whole text is the last that can be tried.
    monkeypatch.setattr(
        kedge.Counted, "_certify", lambda _, __, kept, *___: Candidate(kept, kedge.Interval(0, 0, 1))
    )
    monkeypatch.setattr(counted, "prune", lambda kept, *_, **__: kept)
    found = kedge.Counted(samples=200)(reading, Goal(0.9), np.random.default_rng(0))
    lengths = [len(one.kept) for one in found.trace]
    assert lengths == list(range(lengths[0], int(reading.units.sizes.sum()) + 1))
    assert (found.status, found.notes) == ("not_reached", ("No anchor could be certified.",))
