"""Evaluators against brute force, sampling against enumeration, intervals against their promise."""

from dataclasses import replace
from types import SimpleNamespace

import brute
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from readings import reading_of
from scipy.stats import binom

import kedge
from kedge.errors import OptionError, OutOfQueries
from kedge.evaluators import Empirical, Enumeration, affordable
from kedge.evaluators.enumeration import table_size, transition
from kedge.evaluators.estimates import Estimates
from kedge.evaluators.intervals import clopper_pearson, kl_lower, kl_upper, kl_upper_one, mixture_interval
from kedge.reading.oracle import ASKED_AGAIN, RECHECKED
from kedge.search.exhaustive import anchors_of_length
from kedge.search.lucb import _halved, highest, scalar_order
from kedge.text.units import Units

RULES = st.sampled_from(
    [
        kedge.rules.all_present(["very", "good"]),
        kedge.rules.any_of(["not", "bad"], ["good"]),
        ~kedge.rules.present("bad"),
        (kedge.rules.present("good") & ~kedge.rules.present("bad")) | kedge.rules.present("very"),
    ]
)
TEXTS = st.lists(st.sampled_from(["very", "good", "not", "bad", "food"]), min_size=1, max_size=7).map(
    " ".join
)


@settings(max_examples=60, deadline=None)
@given(RULES, TEXTS, st.sampled_from([0.5, 0.3]), st.booleans())
def test_enumeration_is_brute_force(rule, text, keep, by_text):
    """Over counts and over masks, the precision of every anchor is the definition's, to 1e-12."""
    label = rule.predict([text])[0]
    if not by_text and not set(rule.words) & set(text.split()):
        return  # the rule reads none of these words, which is refused elsewhere
    reading = reading_of(rule.predict if by_text else rule, text, keep)
    exact = Enumeration(reading)
    for length in range(3):
        for kept in anchors_of_length(reading.units.sizes, length):
            positions = reading.units.anchor(kept).positions
            expected = brute.precision(text, label, rule.predict, positions, keep=keep)
            assert exact([kept]).mean[0] == pytest.approx(expected, abs=1e-12)


def test_enumeration_asks_about_each_sample_once():
    """prod(m_j + 1) questions over counts, when the first anchor is judged."""
    reading = reading_of(kedge.rules.all_present(["very", "good"]), "very very very good")
    before = reading.oracle.queries
    precision = Enumeration(reading)
    assert reading.oracle.queries == before
    precision([()])
    precision([(0,), (0, 1)])
    assert reading.oracle.queries - before == table_size(reading) == 8


@given(st.integers(0, 12), st.floats(0.05, 0.95))
def test_transition_rows_are_binomial_laws(size, keep):
    """Row a is the law of a + Bin(m - a, keep)."""
    w = transition(size, keep)
    for a in range(size + 1):
        expected = np.concatenate([np.zeros(a), binom.pmf(np.arange(size - a + 1), size - a, keep)])
        np.testing.assert_allclose(w[a], expected, atol=1e-12)


@pytest.mark.parametrize("share", [False, True])
def test_sampling_agrees_with_enumeration(share):
    """Empirical precision lies within five standard errors of the exact one, shared samples or not."""
    reading = reading_of(kedge.rules.any_of(["not", "bad"], ["good"]), "not very bad not so good bad")
    exact, sampled = Enumeration(reading), Empirical(reading, np.random.default_rng(1), share=share)
    sampled([()], 3000)
    for length in (1, 2):
        anchors = list(anchors_of_length(reading.units.sizes, length))
        estimates = sampled(anchors, 1000)
        error = np.sqrt(0.25 / estimates.trials)
        assert (np.abs(estimates.mean - exact(anchors).mean) < 5 * error).all()
        if share:
            assert (estimates.trials > 1000).all()


def test_unsampled_anchors_are_unknown():
    """No trials: the estimate is 0.5 and the bounds are the whole range."""
    reading = reading_of(kedge.rules.present("good"), "good food")
    estimates = Empirical(reading, np.random.default_rng(0))([(0,)])
    assert estimates.trials[0] == 0
    low, high = estimates.bounds(3.0)
    assert (low[0], high[0]) == (pytest.approx(0, abs=1e-9), pytest.approx(1, abs=1e-9))


@given(st.integers(1, 400), st.data())
def test_kl_bounds_are_where_the_divergence_reaches_the_level(trials, data):
    """At each bound, trials * KL equals beta, unless it lies at 0 or 1."""
    mean = data.draw(st.integers(0, trials)) / trials
    beta = data.draw(st.floats(0.1, 10))
    at = np.array([mean]), np.array([float(trials)]), beta
    low, high = float(kl_lower(*at)[0]), float(kl_upper(*at)[0])
    assert low <= mean <= high
    for bound in (low, high):
        if 1e-6 < bound < 1 - 1e-6 and abs(bound - mean) > 1e-9:
            parts = [p * np.log(p / q) for p, q in ((mean, bound), (1 - mean, 1 - bound)) if p > 0]
            assert trials * sum(parts) == pytest.approx(beta, rel=1e-4)


@pytest.mark.parametrize("p", [0.5, 0.9, 0.95, 0.99])
def test_clopper_pearson_misses_at_most_delta(p):
    """Summed over all outcomes, the interval misses p with probability at most delta: exactly computed."""
    n, delta = 60, 0.1
    missed = [
        s for s in range(n + 1) if not clopper_pearson(s, n, delta)[0] <= p <= clopper_pearson(s, n, delta)[1]
    ]
    assert binom.pmf(missed, n, p).sum() <= delta


def test_the_mixture_interval_holds_at_every_look_at_once():
    """Over 2,000 runs of 300 flips each, looked at after every flip, at most delta ever miss p."""
    rng, delta, p, n = np.random.default_rng(5), 0.1, 0.95, 300
    successes = np.cumsum(rng.random((2000, n)) < p, axis=1)
    misses = np.zeros((n + 1, n + 1), dtype=bool)
    for trials in range(1, n + 1):
        for seen in np.unique(successes[:, trials - 1]).tolist():
            low, high = mixture_interval(seen, trials, delta)
            misses[trials, seen] = not low <= p <= high
    assert misses[np.arange(1, n + 1), successes].any(axis=1).mean() <= delta


@given(st.integers(0, 400), st.integers(1, 400), st.floats(0.1, 10))
@example(400, 400, 3.0)
@example(0, 400, 3.0)
def test_the_bound_of_one_arm_is_that_of_many(successes, trials, beta):
    """Without arrays the same number comes out, at the ends as well."""
    mean = min(successes / trials, 1.0)
    (many,) = kl_upper(np.array([mean]), np.array([float(trials)]), beta)
    assert kl_upper_one(mean, trials, beta) == pytest.approx(many, abs=1e-8)


def test_more_samples_than_can_be_counted_are_not_counted():
    """A hundred words have at least 2^62 samples, and with all but a few kept they are counted again."""
    reading = reading_of(lambda texts: ["w3" in t for t in texts], " ".join(f"w{k}" for k in range(100)))
    assert table_size(reading) == 2**62
    assert table_size(reading, tuple(range(90))) == 2**10


def test_fifty_nine_clean_samples_certify_ninety_five_percent():
    """0.95^59 < 0.05: one look, one side."""
    assert clopper_pearson(59, 59, 0.1)[0] >= 0.95 > clopper_pearson(58, 58, 0.1)[0]


def test_an_exact_precision_that_cannot_be_had_is_refused():
    """evaluator='exact' on a long black-box document says how many questions it would take."""
    text = " ".join(f"w{k}" for k in range(30))
    with pytest.raises(OptionError, match="1,073,741,824 queries"):
        kedge.explain(lambda texts: ["w3" in t for t in texts], text, evaluator="exact", method="exhaustive")


@given(st.lists(st.tuples(st.integers(1, 300), st.floats(0, 1)), min_size=1, max_size=40), st.floats(2, 30))
def test_the_highest_bound_is_found_without_computing_all(arms, rate):
    """The same arm and the same bound as the largest of all upper bounds, computed one by one."""
    trials = np.array([n for n, _ in arms], dtype=np.float64)
    mean = np.array([round(n * share) / n for n, share in arms])
    bounds = np.array([_halved(m, n, rate) for m, n in zip(mean.tolist(), trials.tolist(), strict=True)])
    place, bound = highest(Estimates(mean, trials, np.zeros(len(arms))), rate)
    assert (place, bound) == (int(np.argmax(bounds)), bounds.max())
    # The official bound is the next point of its grid above the true one.
    true = kl_upper(mean, trials, rate)
    assert ((bounds >= true - 1e-6) & (bounds <= true + 2.0**-16 + 1e-6)).all()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=80))
def test_the_scalar_order_sorts(values):
    """It is a permutation that sorts; up to 16 equal values keep their order, more do not."""
    order = scalar_order(np.array(values, dtype=np.float64)).tolist()
    assert sorted(order) == list(range(len(values)))
    assert [values[i] for i in order] == sorted(values)
    assert scalar_order(np.zeros(16)).tolist() == list(range(16))
    assert scalar_order(np.zeros(17)).tolist() != list(range(17))


def test_samples_of_many_anchors_have_the_law_of_each():
    """Kept occurrences are sure, the others are fair coins, anchor by anchor."""
    reading = reading_of(kedge.rules.all_present(["very", "good", "fine"]), "very very very good fine good")
    anchors = [(), (0,), (0, 0, 1), (1, 1, 2)]
    n = 4_000
    counts = reading.sample_each(anchors, n, np.random.default_rng(0)).reshape(len(anchors), n, 3)
    for kept, drawn in zip(anchors, counts, strict=True):
        sure, sizes = reading.units.counts(kept), reading.units.sizes
        assert (drawn >= sure).all()
        assert (drawn <= sizes).all()
        # Four standard errors of the mean of a sum of coins.
        assert np.abs(drawn.mean(axis=0) - (sure + (sizes - sure) / 2)).max() < 4 * np.sqrt(0.75 / n)


@pytest.mark.parametrize("words", [66, 200])
def test_an_anchor_that_keeps_nearly_everything_is_enumerated(words):
    """Arrays have 64 axes; what an anchor keeps whole needs none."""
    text = " ".join(f"w{k}" for k in range(words))
    model = lambda texts: ["w0" in t.split() or "w1" in t.split() for t in texts]  # noqa: E731
    verdict = kedge.precision(model, text, range(words))
    assert (verdict.precision, verdict.status) == (1.0, "exact")
    assert kedge.precision(model, text, range(2, words)).precision == 0.75


def test_numbers_of_numpy_are_numbers():
    """Seeds and thresholds out of an array go into the JSON form as any others."""
    e = kedge.explain(kedge.rules.present("good"), "so good", seed=np.int64(3), threshold=np.float64(0.9))
    assert kedge.Explanation.from_json(e.to_json()) == e
    assert type(e.seed) is int


def test_inherited_samples_count_once_and_follow_the_law_of_the_child():
    """Two parents that share a grandparent hand on no sample twice, and what they hand on is unbiased."""
    reading = reading_of(kedge.rules.all_present(["aa", "bb", "cc"]), "aa aa aa bb bb cc")
    reading = replace(reading, holds=lambda counts: counts[:, 0] > 1)
    shared = Empirical(reading, np.random.default_rng(0), share=True)
    shared([()], 20_000)
    shared([(0,), (1,), (2,)], 4000)
    children = [(0, 1), (0, 2), (1, 2), (0, 0)]
    estimates = shared(children)
    for kept, mean, trials in zip(children, estimates.mean, estimates.trials, strict=True):
        counts, holds = shared.seen(kept)
        assert len(counts) == len(holds) == trials
        true = (0.5, 0.75, 1.0)[kept.count(0)]  # at least two of three, this many of them sure
        assert abs(mean - true) < 4 * np.sqrt(0.25 / trials)
    assert estimates.trials.max() <= 20_000 + 2 * 4000


def test_samples_that_need_no_question_are_drawn_up_to_a_limit():
    """As many as the limit, and one more for each question that is asked meanwhile; then it is said."""
    reading = reading_of(kedge.rules.any_of(["good"], ["film"]), "good film")
    oracle = SimpleNamespace(queries=40)
    counted = SimpleNamespace(
        units=reading.units, oracle=oracle, sample_each=reading.sample_each, holds=reading.holds
    )
    evaluator = Empirical(counted, np.random.default_rng(0), most=104)
    evaluator([(0,), (1,)], 26)
    assert evaluator([(0,), (1,)], 26).trials.tolist() == [52, 52]
    with pytest.raises(OutOfQueries, match="had answered already"):
        evaluator([(0,)], 1)
    more = Empirical(counted, np.random.default_rng(0), most=52)
    more([(0,), (1,)], 26)
    oracle.queries += 1
    assert more([(0,)], 1).trials.tolist() == [27]
    with pytest.raises(OutOfQueries, match="had answered already"):
        more([(0,)], 1)
    free = Empirical(counted, np.random.default_rng(0))
    assert free([(0,), (1,)], 10_000).trials.tolist() == [10_000, 10_000]


def limits(sizes, *, counted, algebra=False, remaining=10**9, repeatable=True, odds=None):
    """As much of a reading as says what may be asked."""
    return SimpleNamespace(
        units=Units(tuple(tuple(range(10 * j, 10 * j + m)) for j, m in enumerate(sizes))),
        counted=counted,
        algebra=algebra,
        repeatable=repeatable,
        log_odds=odds,
        oracle=SimpleNamespace(remaining=remaining),
    )


@pytest.mark.parametrize(("kind", "most"), [("algebra", 17), ("counted", 14), ("texts", 11)])
def test_every_sample_is_asked_about_up_to_a_budget(kind, most):
    """By arithmetic, by counts or by texts: so many bits of words that occur once, given an anchor, too."""
    asked = {"counted": kind != "texts", "algebra": kind == "algebra"}
    assert affordable.question_budget(limits([1], **asked)) == 1 << most
    assert affordable.enumerable(limits([1] * most, **asked))
    assert not affordable.enumerable(limits([1] * (most + 1), **asked))
    assert affordable.enumerable(limits([1] * (most + 1), **asked), (0,))
    assert not affordable.enumerable(limits([1], repeatable=False, **asked))
    # What may still be asked: arithmetic asks nothing, counts each sample, texts all but the document.
    least = {"algebra": 0, "counted": 8, "texts": 7 + RECHECKED}[kind]
    assert affordable.enumerable(limits([1, 1, 1], remaining=least, **asked))
    assert affordable.enumerable(limits([1, 1, 1], remaining=least - 1, **asked)) == (kind == "algebra")


@pytest.mark.parametrize("odds", [None, abs])
def test_few_texts_are_no_more_than_a_guided_search_asks(odds):
    """Its pool and its shortest proof: eight rows more than words, or eighty by labels, and 72."""
    for words in range(4, 12):
        reading = limits([1] * words, counted=False, odds=odds)
        guided = (words + 8 if odds else 80) + 72
        for share in (0.3, 0.6, 1.0):
            assert affordable.few_texts(reading, share) == (share * 2**words + ASKED_AGAIN <= guided)
