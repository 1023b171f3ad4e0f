"""The exact search of linear scores against every anchor of small documents."""

from types import SimpleNamespace

import brute
import numpy as np
import pytest
from counting import precision, shortest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.model.scores.additive import AdditiveScore
from kedge.results.interval import Interval
from kedge.search import Goal
from kedge.search.exact import prefixes, ranked, waves
from kedge.search.exact.prefixes import shortest_prefix
from kedge.search.exact.ranked import Ranked


def linear_case(seed, coins=8):
    """A linear score whose label holds for the whole document."""
    rng = np.random.default_rng(seed)
    sizes = []
    while sum(sizes) < coins:
        sizes.append(int(rng.choice([1, 1, 1, 2, 3])))
    sizes = np.array(sizes)
    d = len(sizes)
    slopes = [
        rng.normal(size=d),
        rng.standard_cauchy(d),
        rng.integers(-2, 4, d).astype(float),
        rng.choice([-0.3, 0.0, 0.3], d),
    ][rng.integers(4)]
    full = float(slopes @ sizes)
    bias = [-full + abs(rng.normal()), 0.0, float(rng.integers(-3, 3)), -full][rng.integers(4)]
    strict = bool(rng.integers(2))
    score = AdditiveScore.from_slopes(float(bias), slopes, sizes, strict=strict)
    return score if score.holds(sizes[None])[0] else linear_case(seed + 2**32, coins)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
@settings(max_examples=150, deadline=None)
def test_answer_is_the_best_of_the_shortest(seed, threshold):
    """Of all anchors: none shorter reaches the threshold, none as short has a larger precision."""
    score = linear_case(seed)
    found = shortest_prefix(score, threshold)
    length, best, a3 = shortest(score.holds, score.sizes, threshold)
    if any(tail.width for tail in found.looked.values()):
        return  # a score of zero but for rounding: what then happens is the next test's
    assert found.proven
    assert len(found.kept) == length
    assert abs(found.tail.mean - best) < 1e-12
    assert tuple(np.bincount(found.kept, minlength=len(score.sizes)).tolist()) in a3
    baseline = precision(score.holds, np.zeros(len(score.sizes), dtype=int), score.sizes)
    assert abs(found.baseline.mean - baseline) < 1e-12


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5, 0.8]), st.booleans(), st.sampled_from([0, 1 << 20])
)
@settings(max_examples=250, deadline=None)
def test_bounds_agree_with_brute_force(seed, keep, allow_empty, lattice):
    """By harmonics or on a lattice, whatever is claimed is true: the intervals, and the proof."""
    score = linear_case(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefixes, "ALL_COINS", 0)
        patch.setattr(waves, "HARMONICS", 1 << 16)
        patch.setattr(prefixes, "LATTICE", lattice)
        found = shortest_prefix(score, 0.9, keep=keep, allow_empty=allow_empty)
    for length, tail in found.looked.items():
        kept = np.bincount(np.array(found.top(length), dtype=int), minlength=len(score.sizes))
        truth = precision(score.holds, kept, score.sizes, keep)
        if found.ladder.coins:
            assert tail.low - 1e-12 <= truth <= tail.high + 1e-12
    if found.proven and not allow_empty:
        assert len(found.kept) == shortest(score.holds, score.sizes, 0.9, keep)[0]


def test_long_documents_are_proven_too():
    """At 300 occurrences the answer is proven, and no shorter anchor has the precision."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 4, 150)
    slopes = rng.normal(size=150)
    score = AdditiveScore.from_slopes(-0.4 * float(slopes @ sizes) - 12.0, slopes, sizes, strict=True)
    if score.score(sizes[None])[0] <= 0:
        score = AdditiveScore.from_slopes(-float(slopes @ sizes) + 3.0, slopes, sizes, strict=True)
    found = shortest_prefix(score, 0.95)
    assert found.proven
    assert found.tail.low >= 0.95
    assert all(slopes[j] > 0 for j in found.kept)
    sample = rng.binomial(sizes - (k := np.bincount(found.kept, minlength=150)), 0.5, (20000, 150)) + k
    assert abs(score.holds(sample).mean() - found.tail.mean) < 0.01


def test_only_what_speaks_for_the_label_is_kept():
    """No word of zero or negative coefficient is in the anchor when a positive one exists."""
    for seed in range(200):
        score = linear_case(seed)
        found = shortest_prefix(score, 0.95)
        if (score.slopes > 0).any():
            assert (score.slopes[list(found.kept)] > 0).all()


@pytest.mark.parametrize("b", [30, 200])
def test_a_threshold_of_one_is_settled(b):
    """Precision 1 means that no sample fails: the anchor is the shortest whose worst sample holds."""
    rng = np.random.default_rng(b)
    sizes = np.ones(b, dtype=np.int64)
    slopes = rng.normal(size=b)
    score = AdditiveScore.from_slopes(-float(slopes.sum()) + 5.0, slopes, sizes, strict=True)
    found = shortest_prefix(score, 1.0)
    worst = score.bias + slopes[slopes < 0].sum() + np.cumsum(np.sort(slopes[slopes > 0])[::-1])
    assert found.proven
    assert found.tail == (1.0, 1.0, 1.0)
    assert len(found.kept) == 1 + int(np.argmax(worst > 0))


@pytest.mark.parametrize("ties", ["first", "last"])
def test_what_only_rounding_decides_is_asked(ties):
    """0.1 + 0.2 - 0.3 is zero on paper: the model's own answers decide, over every anchor."""
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(["aa bb", "cc dd"], [0, 1])
    model[-1].coef_, model[-1].intercept_ = np.array([[0.1, 0.2, -0.3, 0.6]]), np.array([0.0])
    text = "aa bb cc dd"
    e = kedge.explain(model, text, method="ranked", ties=ties)
    length, best, members = brute.shortest(text, e.label, lambda texts: model.predict(texts).tolist())
    assert (e.status, len(e.positions)) == ("exact", length)
    assert e.precision == pytest.approx(best, abs=1e-12)
    assert e.positions in members


def test_a_tie_of_nothing_that_helps():
    """Every word speaks against the label: there is none to exchange for another."""
    model = kedge.WordWeights({"aa": -1.0, "bb": -1.0}, intercept=2.5)
    found = {
        ties: kedge.explain(model, "aa bb", method="ranked", ties=ties).words for ties in ("first", "last")
    }
    assert found == {"first": ("aa",), "last": ("aa",)}


def test_words_that_tie_are_chosen_as_asked():
    """Of six equal words the last two, or any two: by the seed, and not always the same."""
    words = [f"w{k}" for k in range(6)]
    model = kedge.WordWeights(dict.fromkeys(words, 1.0), intercept=-1.5)
    chosen = {
        (ties, seed): kedge.explain(
            model, " ".join(words), method="ranked", threshold=0.99, ties=ties, seed=seed
        ).words
        for ties in ("first", "last", "random")
        for seed in range(8)
    }
    assert {words for (ties, _), words in chosen.items() if ties == "first"} == {("w0", "w1")}
    assert {words for (ties, _), words in chosen.items() if ties == "last"} == {("w4", "w5")}
    assert len({words for (ties, _), words in chosen.items() if ties == "random"}) > 2


@pytest.mark.parametrize(
    ("coins", "samples", "remaining", "asked"),
    [
        (14, 1 << 14, 1 << 14, True),
        (14, 1 << 14, (1 << 14) - 1, False),
        (14, (1 << 14) + 1, 1 << 20, False),
        (15, 4, 100, False),
        (2, 4, 4, True),
        (2, 4, 3, False),
    ],
)
@pytest.mark.parametrize("doubt", [True, False])
def test_what_is_in_doubt_is_put_to_the_model_while_samples_are_few(
    coins, samples, remaining, asked, doubt, monkeypatch
):
    """Sixteen thousand of them, and no more than may still be asked about."""
    tail = Interval(0.5, 0.7, 0.9) if doubt else Interval.exactly(0.7)
    told = SimpleNamespace(
        ladder=Coins(coins), looked={0: Interval.exactly(0.1), 1: tail}, proven=False, reached=True
    )
    told.kept, told.tail, told.baseline = (1,), tail, None
    monkeypatch.setattr(ranked, "shortest_prefix", lambda *_, **__: told)
    monkeypatch.setattr(ranked, "table_size", lambda _: samples)
    monkeypatch.setattr(ranked, "search_all", lambda *_: "asked")
    monkeypatch.setattr(ranked, "Enumeration", lambda _: None)
    monkeypatch.setattr(ranked, "Additive", lambda _: None)
    reading = SimpleNamespace(
        additive="a score", keep=0.5, begun={}, oracle=SimpleNamespace(remaining=remaining)
    )
    found = Ranked()(reading, Goal(0.6), np.random.default_rng(0))
    if asked and doubt:
        assert found == "asked"
    else:
        assert (found.kept, found.status) == ((1,), "certified")


class Coins(list):
    """As much of a ladder as is looked at."""

    def __init__(self, coins):
        super().__init__([1.0])
        self.coins = coins
