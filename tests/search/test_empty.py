"""The precision with no word kept: proved, ruled out, or an estimate."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.search.empty import empty_precision
from kedge.search.strategy import Goal
from kedge.utils.deadline import TimeIsUp

TOPICS = ["card", "cash", "loan", "fees", "rate", "bank", "limit", "refund", "login", "phone", "atm", "pin"]
WORDS = " ".join(f"w{k}" for k in range(30))


def needing(*words):
    """A model that loses the label only when all of these are gone: a baseline of 1 - 2^-n."""
    return lambda texts: [int(any(word in text.split() for word in words)) for text in texts]


def claims(model, runs):
    """How often "no word is needed" was said, and how often it was ruled out."""
    reading = kedge.Explainer(model).read(WORDS)
    rng = np.random.default_rng(0)
    found = [empty_precision(reading, Goal(seed=seed), rng)[0] for seed in range(runs)]
    said = [known.reaches(0.95) for known in found]
    return said.count(True) / runs, said.count(False) / runs


def test_no_word_is_needed_is_a_claim_that_holds():
    """It is said of a true baseline of 0.875 or 0.9375 in no more than a share delta of runs."""
    assert claims(needing("w1", "w2", "w3"), 100)[0] <= 0.05
    assert claims(needing("w1", "w2", "w3", "w4"), 100)[0] <= 0.05


def test_a_clear_baseline_is_settled():
    """One of 0.998 is nearly always proved, one of 0.5 always ruled out, with few questions."""
    assert claims(needing(*(f"w{k}" for k in range(9))), 100)[0] > 0.9
    assert claims(needing("w1"), 100)[1] == 1.0
    reading = kedge.Explainer(lambda texts: [1] * len(texts)).read(WORDS)
    before = reading.oracle.queries
    assert empty_precision(reading, Goal(), np.random.default_rng(0))[0].low >= 0.95
    assert reading.oracle.queries - before <= 75  # most texts are new; 67 clean answers prove it


def test_a_baseline_that_misses_costs_few_questions():
    """One of 0.875 is not ruled out to the last doubt: a look tells that nothing can be proved."""
    spent = []
    for seed in range(20):
        reading = kedge.Explainer(needing("w1", "w2", "w3")).read(WORDS)
        before = reading.oracle.queries
        empty_precision(reading, Goal(seed=seed), np.random.default_rng(0))
        spent.append(reading.oracle.queries - before)
    assert np.mean(spent) < 100


def test_no_word_is_needed_is_proved_where_harder_removals_are_asked_for():
    """A baseline of 0.984, of which a plain search says "probably", and one of 0.9375, not called enough."""

    def share(words, runs, **options):
        asked = needing(*(f"w{k}" for k in range(words)))
        found = [kedge.explain(asked, WORDS, seed=seed, **options) for seed in range(runs)]
        return sum(e.needs_no_word is True for e in found) / runs

    assert share(6, 8) < 0.8 < share(6, 8, keep="auto")
    assert share(4, 20, keep="auto") <= 0.1


def test_too_few_questions_say_nothing():
    """With no question left the baseline is not known."""
    reading = kedge.Explainer(needing("w1"), max_queries=10).read(WORDS)
    assert empty_precision(reading, Goal(), np.random.default_rng(0)) == (None, False)


@pytest.mark.parametrize("seed", range(3))
def test_the_baseline_agrees_with_the_precision_of_no_word(seed):
    """What an explanation and kedge.precision say of no word can both be true."""
    model = needing("w1", "w2", "w3")
    e = kedge.explain(model, WORDS, seed=seed)
    v = kedge.precision(model, WORDS, [], seed=seed)
    assert e.baseline.low <= v.interval.high
    assert v.interval.low <= e.baseline.high
    assert e.needs_no_word is not True


def test_a_wide_interval_has_a_mean_that_says_something():
    """Of many classes the bounds of a baseline are wide; its mean is then that of samples."""
    texts = [f"{word} {word} about the {k % 3}" for k in range(5) for word in TOPICS]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(texts, TOPICS * 5)
    text = " ".join([TOPICS[0], *TOPICS[:11], TOPICS[0], "about", "the"])
    e = kedge.explain(model, text)
    v = kedge.precision(model, text, [], evaluator="empirical")
    assert e.baseline.low - 0.05 <= v.precision <= e.baseline.high + 0.05
    assert abs(e.baseline.mean - v.precision) < 0.06


def test_a_lead_over_rivals_is_bounded_without_a_sample():
    """Three topics and a norm: what convolution says of no word kept is enough, if it is clear."""
    texts = [f"{word} {TOPICS[(k + 3) % 12]}" for k, word in enumerate(TOPICS)]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=100)).fit(texts, np.arange(12) % 3)
    reading = kedge.Explainer(model).read(" ".join(TOPICS[::3] * 4 + TOPICS))
    sampled = reading.holds(reading.sample((), 2_000, np.random.default_rng(1))).mean()
    clear, free = empty_precision(reading, Goal(threshold=0.95), np.random.default_rng(0))
    assert (free, clear.reaches(0.95)) == (True, True)
    assert clear.low <= sampled <= clear.high
    close, free = empty_precision(reading, Goal(threshold=0.999), np.random.default_rng(0))
    assert not free
    assert close.low <= sampled <= close.high


def test_a_model_that_is_interrupted_leaves_what_is_known():
    """The time is up in the second round of questions: the samples of the first are an estimate."""
    rounds = []

    def model(texts):
        rounds.append(len(texts))
        if sum(rounds) > 40:
            raise TimeIsUp
        return [int("w1" in t.split()) or 1 for t in texts]

    reading = kedge.Explainer(model).read(WORDS)
    known, free = empty_precision(reading, Goal(threshold=0.999), np.random.default_rng(0))
    assert not free
    assert known is None or known.low < 0.999
