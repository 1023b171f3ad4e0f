"""What evaluators work out on the way, each against its definition: not too small, and not far too large."""

import math
from itertools import product

import numpy as np
import pytest
from counting import all_counts, chances
from hypothesis import given, settings
from hypothesis import strategies as st
from leading import random_anchor, random_leads
from readings import reading_of
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from kedge.data.demo import review_model, reviews
from kedge.evaluators import Additive, Chained
from kedge.evaluators.chain import deviation, links_kept, rounded
from kedge.evaluators.grids.links import Grid, Links
from kedge.evaluators.harmonics import FIRST, Circle, Spectra, circumference
from kedge.evaluators.laws import NO_LAWS, Coins, Laws
from kedge.evaluators.leading import Leading
from kedge.evaluators.leads import Lead, _around
from kedge.evaluators.loudness import _NEAR, _away, _each_away, is_quiet, loud_harmonics
from kedge.evaluators.variables import Variables
from kedge.evaluators.waves import _coins
from kedge.model.scores.chain import ChainScore

TEXT = "very slow service, cold soup, but delicious dessert, very friendly staff"


class TestEstimates:
    """A closed form as estimates: the very interval."""

    @pytest.mark.parametrize("evaluator", [Additive, Chained, Leading])
    def test_bounds_are_those_of_the_interval(self, evaluator):
        """The middle and half the width, no less."""
        model = review_model()
        if evaluator is Chained:
            vectorizer = CountVectorizer(ngram_range=(1, 2))
            model = make_pipeline(vectorizer, LogisticRegression()).fit(*reviews())
        if evaluator is Leading:
            texts, labels = reviews()
            named = [f"{label}{k % 2}" for k, label in enumerate(labels)]
            model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, named)
        found = evaluator(reading_of(model, TEXT))
        anchors = [(), (0,), (1, 2)]
        low, high = found(anchors).bounds(1.0)
        for kept, least, most in zip(anchors, low, high, strict=True):
            known = found.refine(kept)
            assert least == pytest.approx(known.low, abs=1e-12)
            assert most == pytest.approx(known.high, abs=1e-12)


class TestLaws:
    """Means, ranges and distances."""

    @given(st.lists(st.lists(st.floats(-3, 3), min_size=1, max_size=4), min_size=1, max_size=5))
    @settings(max_examples=50, deadline=None)
    def test_variables_of_several_values(self, rows):
        """One after another, each with its own mean."""
        weights = [np.arange(1.0, len(row) + 1) / sum(range(1, len(row) + 1)) for row in rows]
        starts = np.cumsum([0, *(len(row) for row in rows[:-1])])
        laws = Laws(np.concatenate(rows), np.concatenate(weights), starts)
        means = [float(np.dot(row, w)) for row, w in zip(rows, weights, strict=True)]
        assert laws.means == pytest.approx(means, abs=1e-12)
        assert laws.squares == pytest.approx(sum((max(row) - min(row)) ** 2 for row in rows), abs=1e-12)
        away = [x - mean for row, mean in zip(rows, means, strict=True) for x in row]
        assert laws.away == pytest.approx(away, abs=1e-12)

    def test_coins_are_fair_unless_it_is_said(self):
        """Their mean is half of all."""
        coins = Coins(np.array([1.0, 3.0]))
        assert (coins.chance, coins.mean, coins.squares) == (0.5, 2.0, 10.0)
        assert Coins(np.array([1.0, 3.0]), 0.25).mean == 1.0
        assert NO_LAWS.squares == 0.0

    @pytest.mark.parametrize("keep", [0.5, 0.3])
    def test_units_as_coins(self, keep):
        """A step that is taken or not, or equal steps; anything else is no coin. Large steps come first."""
        for n in (1, 2, 4):
            law = np.array([math.comb(n, k) * keep**k * (1 - keep) ** (n - k) for k in range(n + 1)])
            rows = [-2.0 * np.arange(n + 1), np.minimum(np.arange(n + 1), 1) * 3.0]
            rows += [np.sqrt(np.arange(n + 1.0)), np.maximum(np.arange(n + 1) - n + 1, 0) * 5.0]
            lengths = np.full(4, n + 1)
            found = _coins(Variables(np.arange(4), lengths, np.concatenate(rows), np.tile(law, 4)))
            some, every = 1 - (1 - keep) ** n, keep**n
            wanted = [(5.0, every, 1), (3.0, some, 1), (2.0, keep, n), (1.0, keep, 1)][: 4 if n == 1 else 3]
            assert found[0].tolist() == [size for size, _, _ in wanted]
            assert found[1] == pytest.approx([chance * (1 - chance) for _, chance, _ in wanted])
            assert found[2].tolist() == [often for _, _, often in wanted]


class TestHarmonics:
    """Sums on a circle, wherever zero is."""

    @given(
        st.lists(st.floats(0.05, 2.0), min_size=8, max_size=11),
        st.floats(-2.5, 2.5),
        st.sampled_from([0.5, 0.2]),
        st.sampled_from([FIRST, 40, 120]),
    )
    @settings(max_examples=120, deadline=None)
    def test_zero_may_be_farther_off_than_a_turn(self, sizes, where, chance, count):
        """In units of the circle: the interval holds the truth, and is as narrow as the harmonics allow."""
        coins = Coins(np.array(sizes), chance)
        circle = Circle(circumference(coins.squares, 1e-4))
        nothing = 1e-9
        more = loud_harmonics(circle, coins, count, nothing)
        mean = where * circle.period
        phi = circle.characteristic(coins, NO_LAWS, more)[None]
        means = np.array([[mean - 1e-9], [mean], [mean + 1e-9]])
        found = Spectra(circle, phi, more, means, np.array([coins.squares]), len(sizes))
        (tail,) = found.tails(count, nothing)
        on = np.arange(1 << len(sizes))[:, None] >> np.arange(len(sizes)) & 1
        scores = mean - coins.mean + on @ coins.sizes
        weights = np.prod(np.where(on, chance, 1.0 - chance), axis=1)
        truth = weights[scores > 0].sum()
        near = weights[np.abs(scores) <= 1e-9].sum()
        assert tail.low - near - 1e-12 <= truth <= tail.high + near + 1e-12
        assert 0.0 <= tail.low <= tail.mean <= tail.high <= 1.0
        if abs(where) > 0.5:  # farther off than the sum hardly ever strays
            assert tail.width < 1e-3
        else:
            # A few coins have heavy sums; one within a wave of zero cannot be told from it.
            blurred = weights[np.abs(scores) <= circle.period / count].sum()
            assert tail.width < 6.0 / count + blurred + 1e-3

    @given(st.lists(st.floats(1e-4, 0.6), min_size=1, max_size=30), st.integers(1, 60))
    @settings(max_examples=60, deadline=None)
    def test_distances_from_whole_turns_are_never_overstated(self, sizes, later):
        """The sum of the squared distances, exactly up to rounding while no coin turns too often."""
        shares, k = np.array(sizes), FIRST + 1.0 + np.arange(later)
        least = 1e-14 * len(sizes) ** 2 * (1 + k[-1] * max(sizes)) ** 2  # rounding of the running sums
        turns = np.multiply.outer(k, shares)
        nearest = np.rint(turns)
        for multiples in (1, 8):
            far = np.where(nearest <= multiples, (turns - nearest) ** 2, 0.0).sum(axis=1)
            found = _away(shares, later, multiples)
            assert (found <= ((turns - nearest) ** 2).sum(axis=1) + 1e-15).all()
            assert (found >= far - 100 * least * multiples).all()
        both = np.concatenate([shares, shares[:1]])
        each = _each_away(both, np.array([0, len(shares)]), np.array([later, later]))
        assert each[:later] == pytest.approx(_away(shares, later, _NEAR), abs=1e-9)
        assert each[later:] == pytest.approx(_away(shares[:1], later, _NEAR), abs=1e-9)

    @given(
        st.lists(st.floats(0.01, 3.0), min_size=1, max_size=60),
        st.sampled_from([0.5, 0.25]),
        st.sampled_from([1e-3, 1e-9]),
        st.integers(FIRST, FIRST + 300),
    )
    @settings(max_examples=60, deadline=None)
    def test_every_harmonic_that_is_heard_is_found(self, sizes, chance, nothing, count):
        """And no other; a sum that is quiet has none."""
        coins = Coins(np.array(sizes), chance)
        circle = Circle(circumference(coins.squares, 1e-4))
        loud = set(loud_harmonics(circle, coins, count, nothing).tolist())
        k = np.arange(FIRST + 1, count + 1)
        waves = np.exp(2j * np.pi * np.multiply.outer(k, coins.sizes) / circle.period)
        heard = np.prod(np.abs(1.0 - chance + chance * waves), axis=1)
        assert set(k[heard > nothing * (1 + 1e-9)].tolist()) <= loud
        assert loud <= set(k[heard > nothing * (1 - 1e-9)].tolist())
        if count > FIRST:
            shares, numbers = coins.sizes / circle.period, np.array([count])
            (quiet,) = is_quiet(shares, np.array([0]), numbers, np.array([nothing]), chance)
            assert not (quiet and loud)


class TestLinks:
    """Windows of neighbours, laid out one occurrence after another."""

    @staticmethod
    def score(seed, rng_sizes=(1, 4)):
        """Words that occur several times, and pairs of such as occur once."""
        rng = np.random.default_rng(seed)
        sizes = np.array([1, 1, int(rng.integers(*rng_sizes)), 1, 1, int(rng.integers(*rng_sizes))])
        windows = ((0,), (1,), (2,), (3,), (5,), (0, 1), (3, 4))
        return ChainScore(float(rng.normal()), windows, rng.normal(size=7), sizes)

    @pytest.mark.parametrize("seed", range(8))
    def test_samples_add_up_to_the_score(self, seed):
        """By windows, by gains along the text, and by the extremes of what is not kept."""
        score = self.score(seed)
        links = Links.of(score)
        gains = links.gains(links.weights)
        rng = np.random.default_rng(seed)
        kept = rng.random(len(links)) < 0.3
        values = []
        for row in product([0, 1], repeat=len(links)):
            counts = np.bincount(links.unit, row, len(score.sizes)).astype(np.int64)
            value = float(score.score(counts[None])[0])
            there = [all(row[i] for i in window) for window in links.windows]
            plain = score.bias + float(links.weights[there].sum())
            state, along = 0, score.bias
            for link, on in enumerate(row):
                along += on * gains[link, state]
                state = links.next_state(link, state, on)
            assert value == pytest.approx(plain, abs=1e-12)
            assert value == pytest.approx(along, abs=1e-12)
            if all(on or not k for on, k in zip(row, kept, strict=True)):
                values.append(value)
        assert links.extremes(kept) == pytest.approx((min(values), max(values)), abs=1e-12)
        mean, spread = deviation(links, kept, 0.5)
        assert mean == pytest.approx(np.mean(values), abs=1e-12)
        assert np.std(values) / 1.5 <= spread <= 3 * np.std(values)

    @pytest.mark.parametrize("keep", [0.5, 0.3])
    @pytest.mark.parametrize("seed", range(5))
    def test_a_pass_is_the_law_of_what_was_rounded(self, seed, keep):
        """And what is left over has the mean and the changes that it is said to have."""
        score = self.score(seed)
        links = Links.of(score)
        cut = rounded(links, 0.05)
        grid = Grid(links, np.rint(links.gains(cut.cells)).astype(np.int64), keep)
        kept = links_kept(links, np.array([1, 0, 1, 0, 0, 0]))
        law, origin = grid.law(kept), grid.origin
        true, left, free = np.zeros(len(law)), 0.0, np.flatnonzero(~kept)
        rests = {}
        for coins in product([0, 1], repeat=len(free)):
            row = kept.astype(int)
            row[free] = coins
            chance = float(np.prod(np.where(coins, keep, 1.0 - keep)))
            there = [all(row[i] for i in window) for window in links.windows]
            true[int(cut.cells[there].sum()) + origin] += chance
            rests[coins] = float(cut.rest[there].sum())
            left += chance * rests[coins]
        assert law == pytest.approx(true, abs=1e-12)
        mean, squares = cut.leftover(kept, keep)
        assert mean == pytest.approx(left, abs=1e-12)
        changes = np.zeros(len(free))
        for coins, rest in rests.items():
            for i, on in enumerate(coins):
                other = (*coins[:i], 1 - on, *coins[i + 1 :])
                changes[i] = max(changes[i], abs(rest - rests[other]))
        assert changes @ changes <= squares + 1e-12
        assert squares <= 2.0 * (changes @ changes) + 1e-12


class TestLeads:
    """What is around a lead over a rival."""

    @pytest.mark.parametrize("keep", [0.5, 0.3])
    def test_the_norm_keeps_to_its_range(self, keep):
        """Each end is passed as seldom as it says, and is no farther out than it must be, or not much."""
        rng = np.random.default_rng(0)
        for _ in range(60):
            leads = random_leads(rng, normed=True)
            lead = Lead(leads, 0, keep, 1e-3)
            counts = all_counts(np.zeros(len(leads.sizes), dtype=int), leads.sizes)
            weight = chances(counts, np.zeros(len(leads.sizes), dtype=int), leads.sizes, keep)
            norms = leads.squares[np.arange(len(leads.sizes)), counts].sum(axis=1)
            mean = float(weight @ norms)
            spread = math.sqrt(float(weight @ (norms - mean) ** 2))
            for log_eta in (1.0, 3.0, 7.0):
                low, high = lead.norm_range(log_eta)
                assert weight[norms < low - 1e-9].sum() <= math.exp(-log_eta)
                assert weight[norms > high + 1e-9].sum() <= math.exp(-log_eta)
                assert low <= mean + 1e-12
                assert mean - 1e-12 <= high
                reach = math.sqrt(2 * log_eta) * spread
                assert max(mean - low, high - mean) <= 4.0 * reach + 1e-9

    @pytest.mark.parametrize("keep", [0.5, 0.3])
    def test_the_two_sums_enclose_the_lead(self, keep):
        """But for as many samples as they say; and the likely one lies between."""
        rng = np.random.default_rng(1)
        for _ in range(60):
            leads = random_leads(rng, normed=True)
            lead = Lead(leads, 0, keep, 1e-2)
            kept = random_anchor(rng, leads.sizes)
            between, slope = _around([(lead, kept)], lead.given(kept), np.array([len(kept)]))
            counts = all_counts(kept, leads.sizes)
            weight = chances(counts, kept, leads.sizes, keep)
            each = np.arange(len(leads.sizes))
            norm = np.sqrt(leads.squares[each, counts].sum(axis=1))
            parts = leads.parts(0)[each, counts].sum(axis=1)
            plain, sums = parts + lead.bias * norm, parts + slope[0] * norm**2
            low, high = between.low[0], between.high[0]
            outside = weight[(sums + low > plain + 1e-9) | (sums + high < plain - 1e-9)].sum()
            assert outside <= 2 * (1e-2 + (1 - keep) ** int(leads.sizes.sum())) + 1e-12
            assert low <= high + 1e-12
