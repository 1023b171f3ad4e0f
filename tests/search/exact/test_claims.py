"""What exact searches claim on the way: bounds for all anchors, levels of samples, words to leave out."""

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
from chains import all_precisions, made_chain
from counting import anchors, precision
from leading import random_leads
from readings import reading_of
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.data.demo import reviews
from kedge.evaluators import Additive, Enumeration
from kedge.evaluators.grids.links import Links
from kedge.evaluators.leads import Lead
from kedge.model.scores.additive import AdditiveScore
from kedge.search import Goal
from kedge.search.exact import branch, leading, pooled, tree
from kedge.search.exact.adaptive import Reach
from kedge.search.exact.dominance import Dominance
from kedge.search.exact.foresight import Foresight, candidates
from kedge.search.exact.leading import Leading
from kedge.search.exact.tree import Tree


def law(n, keep):
    """Chances of 0..n occurrences staying."""
    return np.array([comb(n, k) * keep**k * (1 - keep) ** (n - k) for k in range(n + 1)])


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("seed", range(12))
def test_no_anchor_is_more_precise_than_its_bound(seed, keep):
    """Every branch and every length of small scores; and the bound is no more than some cells too large."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 3, 5)
    tables = [np.append(0.0, np.cumsum(rng.random(m))) for m in sizes]
    need = float(rng.uniform(0.3, 0.7) * sum(t[-1] for t in tables))
    free = [
        [(t[a:] - 0.0, law(m - a, keep)) for a in range(m + 1)] for t, m in zip(tables, sizes, strict=True)
    ]
    step = 0.01
    reach = Reach(free[:3], [unit[0] for unit in free[3:]], need, 3, step)

    def best(fixed, left, bar):
        """The most precise of the anchors that begin like this, and keep so many more of the first three."""
        found = 0.0
        for more in product(*(range(m + 1) for m in sizes[len(fixed) : 3])):
            if sum(more) <= left:
                kept = [*fixed, *more, 0, 0]
                parts = [free[j][a] for j, a in enumerate(kept)]
                total = 0.0
                for picks in product(*(range(len(v)) for v, _ in parts)):
                    value = sum(v[i] for (v, _), i in zip(parts, picks, strict=True))
                    chance = np.prod([w[i] for (_, w), i in zip(parts, picks, strict=True)])
                    total += chance * (value > bar)
                found = max(found, float(total))
        return found

    decided = np.ones(1)
    for left in range(4):
        bound = reach.bound(decided, 0, left)
        assert best([], left, need) <= bound + 1e-12
        assert bound <= best([], left, need - 0.15) + 1e-5
    for a in range(int(sizes[0]) + 1):
        after = reach.extended(decided, 0, a)
        assert after.sum() == pytest.approx(1.0)
        bound = reach.bound(after, 1, 2)
        assert best([a], 2, need) <= bound + 1e-12
        assert bound <= best([a], 2, need - 0.15) + 1e-5


@pytest.mark.parametrize("keep", [0.5, 0.4])
@pytest.mark.parametrize("seed", range(10))
def test_no_chain_is_more_precise_than_is_foreseen(seed, keep):
    """Anchors of up to three links, all that may be kept."""
    score = made_chain(seed, 8, 2)
    links, truth = Links.of(score), all_precisions(score, keep)
    may, before = candidates(links, 3)
    foresight = Foresight.of(links, may, keep, 3)
    start = foresight.start()
    all_of = {n: max(truth(a) for a in combinations(range(8), n)) for n in range(4)}
    for most in range(1, 4):
        # Some best anchor keeps nothing but what may be kept, and with a link all that go before it.
        some = [a for n in range(most + 1) for a in combinations(np.flatnonzero(may).tolist(), n)]
        assert max(truth(a) for a in some) == pytest.approx(max(all_of[n] for n in range(most + 1)), abs=1e-9)
        bound = foresight.bound(start, 0, most)
        assert max(truth(a) for a in some) <= bound + 1e-12
        assert bound <= max(truth(a) for a in some) + 0.15
    for i, ahead in enumerate(before):
        for j in ahead:
            others = [k for k in range(8) if k not in (i, j)]
            assert all(truth((k, i)) <= truth((k, j)) + 1e-9 for k in others)
    for kept in (True, False):
        after = foresight.extended(start, 0, kept=kept)
        assert after[0].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_one_of_the_candidates_is_a_best_anchor(keep):
    """Of all anchors of a length; a swap may cost the slack, and the slack is small."""
    rng, looked = np.random.default_rng(3), 0
    for _ in range(80):
        leads = random_leads(rng, words=5)
        lead = Lead(leads, 0, keep, 1e-4)
        for length in (1, 2, 3):
            order = Dominance.of(lead, length)
            found = order.candidates(length, 500)
            assert order.slack == 0.0 or length * np.exp(-12) <= order.slack <= 8 * length * np.exp(-12)
            if found is None:
                continue
            looked += 1
            assert len(set(found)) == len(found)
            counts = [np.bincount(kept, minlength=len(leads.sizes)) for kept in found]
            assert all(c.sum() == length and (c <= leads.sizes).all() for c in counts)
            best = max(precision(leads.holds, c, leads.sizes, keep) for c in counts)
            rivals = (precision(leads.holds, a, leads.sizes, keep) for a in anchors(leads.sizes, length))
            assert max(rivals) <= best + order.slack + 1e-12
    assert looked >= 40


def test_samples_in_pieces_are_as_many_as_were_asked_for(monkeypatch):
    """However they are cut."""
    drawn = []
    reading = SimpleNamespace(
        units=range(3),
        sample=lambda _, n, __: drawn.append(n) or np.ones((n, 3)),
        holds=lambda counts: np.ones(len(counts), dtype=bool),
    )
    monkeypatch.setattr(pooled, "pieces", lambda n, _: [slice(k, min(k + 7, n)) for k in range(0, n, 7)])
    assert pooled.draw_hits(reading, (), 40, np.random.default_rng(0)) == 40
    assert drawn == [7, 7, 7, 7, 7, 5]


TEXT = "The service was slow and cold soup came, but very friendly staff and delicious dessert, so good good"


def test_samples_share_delta(monkeypatch):
    """Each anchor that is drawn for gets half of what is left; the middle is the share that held."""
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(*reviews())
    levels, seen = [], []
    whole = leading.mixture_interval

    def interval(hits, trials, delta):
        levels.append(delta)
        seen.append((hits, trials))
        return whole(hits, trials, delta)

    monkeypatch.setattr(leading, "mixture_interval", interval)
    monkeypatch.setattr(
        "kedge.evaluators.leading.lead_tails", lambda asked, _: [_unknown(*asked)] * len(asked)
    )
    monkeypatch.setattr(Lead, "finer", _unknown)
    monkeypatch.setattr("kedge.evaluators.leading._FEW", 0)
    reading = reading_of(model, TEXT)
    found = Leading()(reading, Goal(0.8, delta=0.04), np.random.default_rng(0))
    assert found.status == "certified"
    assert levels[0] == 0.02
    assert all(later in (earlier, earlier / 2) for earlier, later in pairwise(levels))
    shares = {hits / trials for hits, trials in seen}
    assert found.interval.mean in shares
    assert found.interval.low <= found.interval.mean <= found.interval.high


def _unknown(self, *_):
    del self
    return kedge.Interval(0.0, 0.9, 1.0)


class TestPruning:
    """Where it is not proved that an answer is the shortest, no word of it can be left out."""

    @pytest.mark.parametrize("threshold", [0.75, 0.875, 0.9, 0.5])
    def test_trees(self, monkeypatch, threshold):
        """At thresholds that are attained exactly, too."""
        monkeypatch.setattr(tree, "_BUDGET", 0)
        rule = kedge.rules.any_of(["not", "bad"], ["very", "good"], ["so", "food"])
        reading = reading_of(rule, "not so bad and very very good food")
        found = Tree()(reading, Goal(threshold, ties="first"), np.random.default_rng(0))
        truth = Enumeration(reading)
        assert truth([found.kept]).mean[0] >= threshold
        for k in range(len(found.kept)):
            less = found.kept[:k] + found.kept[k + 1 :]
            assert not less or truth([less]).mean[0] < threshold

    @pytest.mark.parametrize("threshold", [0.6, 0.75, 0.9])
    def test_branches(self, threshold):
        """An anchor that reaches is cut down; one that does not is left as it is."""
        slopes, sizes = np.array([4.0, 3.0, 2.0, 1.0, -1.0, -2.0]), np.array([1, 1, 2, 1, 1, 1])
        score = AdditiveScore.from_slopes(-4.5, slopes, sizes, strict=True)
        units = kedge_units(sizes)
        reading = SimpleNamespace(additive=score, keep=0.5, units=units)
        evaluator = Additive(reading)
        everything = (0, 1, 2, 2, 3)
        kept = branch._pruned(everything, evaluator, Goal(threshold))
        assert evaluator.refine(kept, threshold).low >= threshold
        for k in range(len(kept)):
            less = kept[:k] + kept[k + 1 :]
            assert evaluator.refine(less, threshold).low < threshold
        hopeless = (4, 5)
        assert branch._pruned(hopeless, evaluator, Goal(threshold)) == hopeless


def kedge_units(sizes):
    """As much of a text's units as an evaluator looks at."""
    return SimpleNamespace(counts=lambda kept: np.bincount(np.array(kept, dtype=int), minlength=len(sizes)))


@pytest.mark.parametrize("threshold", [Fraction(3, 4), Fraction(7, 8), Fraction(15, 16), Fraction(5, 8)])
def test_levels_of_a_tree_hold_every_anchor_that_reaches(threshold):
    """All of a length, at thresholds that some attain."""
    rule = kedge.rules.any_of(["not", "bad"], ["very", "good"], ["so"])
    reading = reading_of(rule, "not so bad and very very good good bad")
    leaves = tree.Leaves(reading)
    chances = leaves.chances
    sizes = reading.units.sizes[chances.asked]
    for length in (1, 2, 3, 4):
        level = tree._level(chances, sizes, length, float(threshold))
        found = {tuple(row) for row in level.kept.tolist()}
        every = {a: float(chances.precision(np.array([a]))[0]) for a in anchors(sizes.tolist(), length)}
        assert found == {a for a, p in every.items() if p >= float(threshold)}
        assert all(
            every[tuple(row)] == p for row, p in zip(level.kept.tolist(), level.precision, strict=True)
        )
