"""Labels that lead by sums over words: the shortest anchor against brute force."""

from itertools import count, product

import numpy as np
import pytest
from counting import anchors, precision, shortest
from hypothesis import given, settings
from hypothesis import strategies as st
from leading import random_leads
from readings import reading_of
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.data.demo import reviews
from kedge.evaluators.leads import Lead
from kedge.search import Goal
from kedge.search.exact import dominance, leading, proposals
from kedge.search.exact.dominance import Dominance
from kedge.search.exact.proposals import Proposals
from kedge.search.pruning import without

WORDS = [f"w{i}" for i in range(10)]


def random_pipeline(rng, classes, norm):
    """A linear model of some classes with random weights on ten words."""
    texts = [" ".join(rng.choice(WORDS, 5)) for _ in range(30)] + [" ".join(WORDS)]
    model = make_pipeline(TfidfVectorizer(norm=norm), LogisticRegression())
    model.fit(texts, np.arange(len(texts)) % classes)
    head = model[-1]
    head.coef_ = rng.normal(0, 1.5, head.coef_.shape)
    head.intercept_ = rng.normal(0, 0.5, head.intercept_.shape)
    return model


@given(st.integers(0, 2**32 - 1), st.sampled_from([("l2", 2), ("l2", 3), ("l2", 4), (None, 3), (None, 4)]))
@settings(max_examples=60, deadline=None)
def test_exact_is_what_brute_force_finds(seed, kind):
    """Up to 13 occurrences: exact answers have the optimal length, all answers reach and need every word."""
    rng = np.random.default_rng(seed)
    norm, classes = kind
    text = " ".join(rng.choice(WORDS[: rng.integers(4, 11)], int(rng.integers(8, 14))))
    reading = reading_of(random_pipeline(rng, classes, norm), text)
    goal = Goal(float(rng.choice([0.8, 0.9, 0.95])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leading, "enumerable", lambda _: False)  # small ones would be enumerated
        found = kedge.Leading()(reading, goal, rng)
    sizes = reading.units.sizes
    length, _, _ = shortest(reading.holds, sizes, goal.threshold)
    truth = precision(reading.holds, reading.units.counts(found.kept), sizes)
    if not found.evaluator.sampled:
        assert found.interval.low - 1e-12 <= truth <= found.interval.high + 1e-12
    assert found.baseline.low - 1e-12 <= precision(reading.holds, np.zeros_like(sizes), sizes)
    if found.status == "exact":
        assert len(found.kept) == length
    assert found.status in {"exact", "certified"}
    assert truth >= goal.threshold - (0.02 if found.evaluator.sampled else 0.0)
    assert len(found.kept) <= length + 1
    for unit in set(found.kept) if len(found.kept) > 1 else ():
        less = reading.units.counts(without(found.kept, unit))
        assert precision(reading.holds, less, sizes) < goal.threshold


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_one_of_the_candidates_is_as_good_as_any_anchor(seed):
    """No anchor of at most a length leads more often than the best candidate, but for the slack."""
    rng = np.random.default_rng(seed)
    leads = random_leads(rng, words=5)
    length = int(rng.integers(1, 4))
    order = Dominance.of(Lead(leads, 0, 0.5), length)
    found = order.candidates(length, 1_000)
    if found is None:
        return
    counts = [np.bincount(kept, minlength=len(leads.sizes)) for kept in found]
    best = max(precision(leads.holds, kept, leads.sizes) for kept in counts)
    for shorter in range(length + 1):
        for kept in anchors(leads.sizes.tolist(), shorter):
            assert precision(leads.holds, kept, leads.sizes) <= best + order.slack + 1e-12


@pytest.mark.parametrize("seed", range(40))
def test_what_one_more_occurrence_brings_lies_between_the_ends(seed):
    """At every count of a small document, whose norm never leaves its range."""
    rng = np.random.default_rng(seed)
    leads = random_leads(rng, words=4, normed=True)
    lead = Lead(leads, 0, 0.5)
    order = Dominance.of(lead, 1)
    every = np.indices(leads.sizes + 1).reshape(len(leads.sizes), -1).T
    x = leads.features[np.arange(len(leads.sizes)), every]
    norm = np.sqrt((x * x).sum(axis=1))
    low, high = lead.norm_range(dominance._LOG_ETA)
    inside = (norm**2 >= low - 1e-9) & (norm**2 <= high + 1e-9)
    score = dict(zip(map(tuple, every), x @ leads.weights[:, 0] + leads.bias[0] * norm, strict=True))
    for counts in every[inside]:
        for j in np.flatnonzero(counts < leads.sizes):
            more = score[tuple(counts + (np.arange(len(counts)) == j))] - score[tuple(counts)]
            assert order.least[j] - 1e-9 <= more <= order.most[j] + 1e-9


def test_the_risk_of_an_exchange_is_that_of_the_exchanged_anchor():
    """For each occurrence that goes and each that comes, with three rivals."""
    made = (random_leads(np.random.default_rng(k), rivals=3, words=6, normed=False) for k in count())
    leads = next(leads for leads in made if len(leads.sizes) == 6)
    proposals = Proposals([Lead(leads, k, 0.5) for k in range(3)])
    kept = np.array([1 if k % 2 else 0 for k in range(len(leads.sizes))])
    risks, out, into = proposals._exchanges(kept)
    assert risks.size > 4
    for (a, less), (b, more) in product(enumerate(out), enumerate(into)):
        if less != more:
            other = kept - (np.arange(len(kept)) == less) + (np.arange(len(kept)) == more)
            assert risks[a, b] == pytest.approx(float(proposals.risk(*proposals._state(other))))


def test_proposals_of_one_rival_take_the_largest_gains():
    """Without a norm and with one rival the proposals are the ranking of the theorem."""
    rng = np.random.default_rng(5)
    leads = random_leads(rng, normed=False, words=6)
    proposals = Proposals([Lead(leads, 0, 0.5)])
    gains = leads.parts(0)[np.arange(len(leads.sizes)), leads.sizes] / leads.sizes
    top = np.repeat(np.argsort(-gains, kind="stable"), leads.sizes[np.argsort(-gains, kind="stable")])
    for length in range(1, int(leads.sizes.sum()) + 1):
        assert gains[list(proposals.best(length))].sum() == pytest.approx(gains[top[:length]].sum())


@pytest.fixture(scope="module")
def model():
    """scikit-learn's default: normalised TF-IDF, logistic regression."""
    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(*reviews())


LONG = (
    "Friendly staff, delicious food and a lovely place, but the soup was cold, the waiter slow and rude, the "
    "bread stale, and we waited an hour for a table; still the dessert was great and the wine excellent."
)


def test_the_default_pipeline_is_exact_without_a_sample(model):
    """A review of forty words: one question, no sample, a proof."""
    e = kedge.explain(model, LONG)
    assert (e.status, e.method, e.sampled, e.queries) == ("exact", "leading", False, 1)
    assert e.minimality == "shortest"
    again = kedge.precision(model, LONG, list(e.positions))
    assert again.reaches is not False


def test_nothing_kept_may_be_the_answer(model):
    """With allow_empty a label that holds by itself needs no word, and that is exact, too."""
    e = kedge.explain(
        model, "great " * 6 + "friendly delicious lovely excellent staff food place", threshold=0.6
    )
    assert e.status == "exact"
    empty = kedge.Explainer(model, threshold=0.6, allow_empty=True).explain(e.text)
    assert (empty.words, empty.status) == ((), "exact")


@pytest.mark.parametrize("threshold", [0.999, 0.9999999, 1.0])
def test_thresholds_next_to_one_are_met(model, threshold):
    """The range of the norm is as wide as the threshold asks; what is claimed holds in every sample drawn."""
    reading = reading_of(model, LONG)
    found = kedge.Leading()(reading, Goal(threshold), np.random.default_rng(0))
    assert found.status in {"exact", "certified"}
    assert found.interval.low >= threshold
    held = reading.holds(reading.sample(found.kept, 20_000, np.random.default_rng(1)))
    assert held.mean() >= threshold - 1e-4


@pytest.mark.parametrize("threshold", [0.7, 0.9])
def test_samples_certify_what_bounds_leave_open(threshold):
    """Two rivals and a norm: the bounds on leading each are too wide for leading both, samples are not."""
    topics = [
        "card",
        "cash",
        "loan",
        "fees",
        "rate",
        "bank",
        "limit",
        "refund",
        "login",
        "phone",
        "atm",
        "pin",
    ]
    texts = [f"{word} {topics[(k + 3) % 12]}" for k, word in enumerate(topics)]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, np.arange(12) % 3)
    reading = kedge.Explainer(model).read(" ".join(topics * 3))
    found = kedge.Leading()(reading, Goal(threshold), np.random.default_rng(0))
    assert (found.status, found.evaluator.sampled) == ("certified", True)
    assert found.interval.low >= threshold
    fresh = reading.holds(reading.sample(found.kept, 20_000, np.random.default_rng(1)))
    assert threshold <= fresh.mean() <= found.interval.high


def test_exchanges_make_better_anchors(monkeypatch):
    """Each rival asks for other words: words that were best alone are not the best together."""
    leads = random_leads(np.random.default_rng(58), rivals=2, words=12)
    over = [Lead(leads, rival, 0.5) for rival in range(2)]
    improved = Proposals(over).best(4)
    monkeypatch.setattr(proposals, "_EXCHANGES", 0)
    plain = Proposals(over)
    assert plain.guess(improved) > plain.guess(plain.best(4)) + 0.2


@pytest.mark.parametrize(("norm", "classes"), [("l2", 2), ("l2", 3), (None, 3)])
def test_documents_begun_together_are_answered_as_alone(norm, classes):
    """Whatever the first looks share: one rival or several, with a norm or without."""
    pipeline, goal = random_pipeline(np.random.default_rng(5), classes, norm), Goal(0.9)
    texts = [" ".join(WORDS), " ".join(WORDS[:8] * 2), " ".join(WORDS[2:] + WORDS[:4])]

    def answers(*, together):
        readings, search = [reading_of(pipeline, text) for text in texts], leading.Leading()
        if together:
            search.begin(readings, goal)
        found = [search(reading, goal, np.random.default_rng(0)) for reading in readings]
        return [(one.kept, one.interval, one.status) for one in found]

    assert answers(together=True) == answers(together=False)
