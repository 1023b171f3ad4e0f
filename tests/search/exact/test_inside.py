"""What exact searches are made of, piece by piece, against what each piece is said to be."""

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from leading import random_leads

from kedge.evaluators.grids.links import Links
from kedge.evaluators.leads import Lead
from kedge.model.scores.additive import AdditiveScore
from kedge.model.scores.chain import ChainScore
from kedge.results.interval import Interval
from kedge.search.exact import branch, foresight, prefixes, waves
from kedge.search.exact.branch import _chains, _Search
from kedge.search.exact.dominance import Dominance, _running, _steps, _summing
from kedge.search.exact.foresight import Foresight
from kedge.search.exact.ladder import Ladder
from kedge.search.exact.prefix_tails import Look, on_lattice


class TestLooks:
    """What is heard of some lengths, and where to look next."""

    @pytest.mark.parametrize(
        ("threshold", "number"), [(0.95, 0), (0.9, 1), (0.85, 2), (0.6, 3), (0.2, 3), (0.89, 1), (0.91, 0)]
    )
    def test_lengths_that_reach_are_counted_without_the_empty_one(self, threshold, number):
        """From the longest on."""
        look = Look(6, 4, [0.9, 0.85, 0.6, 0.2], [1.0] * 4)
        assert look.reaching(threshold) == number

    @pytest.mark.parametrize("spreads", [[1.0, 2.0, 0.5], [0.1, 0.0, 0.05], [40.0, 3.0, 0.0]])
    @pytest.mark.parametrize("widths", [[0.01, 0.02, 0.1], [0.5, 1e-4, 1e-3], [0.1, 0.1, 1e-5]])
    def test_so_many_harmonics_are_needed(self, spreads, widths):
        """Half the spread over the width, sixteen at least; by a quarter of an octave upwards."""
        found = Look(2, 1, [0.5] * 3, spreads).needed(widths)
        least = max(16.0, *(s / w / 2 for s, w in zip(spreads, widths, strict=True)))
        rounded = min(math.ceil(2 ** (q / 4)) for q in range(16, 200) if 2 ** (q / 4) >= least * (1 - 1e-12))
        assert found == rounded

    @pytest.mark.parametrize(
        ("span", "reaching", "shortest", "following"),
        [
            ((5, 3), 0, 1, (14, 5)),
            ((9, 3), 0, 1, (20, 9)),
            ((20, 18), 0, 1, None),
            ((5, 3), 1, 1, None),
            ((5, 3), 2, 1, None),
            ((5, 3), 3, 1, (4, 1)),
            ((12, 10), 3, 1, (11, 4)),
            ((20, 20), 1, 1, (20, 14)),
            ((5, 1), 5, 1, None),
            ((5, 1), 5, 0, (2, 0)),
            ((5, 0), 6, 0, None),
            ((12, 10), 3, 5, (11, 5)),
        ],
    )
    def test_where_to_look_if_not_here(self, span, reaching, shortest, following):
        """Farther up from the longest if none reaches, down from the least if all do; else here."""
        number = span[0] - span[1] + 1
        look = Look(*span, [0.9] * reaching + [0.1] * (number - reaching) + [0.0], [0.0] * (number + 1))
        assert waves._next_span(range(20), look, 0.5, shortest) == following

    @pytest.mark.parametrize("aim", [2.5e-3, 1e-9])
    def test_widths_that_tell_the_answer_from_the_threshold(self, aim):
        """Four fifths of the room of the last that reaches, the first that misses and the empty one."""
        precisions = [0.99, 0.951, 0.9499, 0.8, 0.9501]
        look = Look(7, 4, precisions, [0.0] * 5)
        found = waves._widths(look, 0.95, aim)
        wanted = [aim, min(aim, 0.8e-3), min(aim, 0.8e-4), aim, min(aim, 0.8e-4)]
        assert found == pytest.approx(wanted, rel=1e-6)
        assert waves._widths(look, 1.0, aim) == [aim] * 5
        # None reaches, or all: the first, or the last of them; and no finer than is worth it.
        below = waves._widths(Look(5, 4, [0.9499, 0.9, 0.95], [0.0] * 3), 0.95, aim)
        assert below == pytest.approx([min(aim, 0.8e-4), aim, min(aim, 2e-6)], rel=1e-6)
        above = waves._widths(Look(5, 4, [0.99, 0.95, 0.2], [0.0] * 3), 0.95, aim)
        assert above == pytest.approx([aim, 1e-15, aim], rel=1e-6, abs=0.0)

    def test_what_is_proven(self):
        """The shortest that is known to reach, where the one before it is known to miss."""
        reach, miss, open_ = Interval(0.9, 0.9, 1.0), Interval(0.1, 0.2, 0.89), Interval(0.8, 0.9, 0.9)
        assert waves.reaching({3: reach, 0: reach, 2: open_, 5: reach}, 0.9, 1) == [3, 5]
        assert waves.reaching({3: reach, 0: reach}, 0.9, 0) == [3, 0]
        assert waves.proven({3: reach, 2: miss}, 0.9, 1)
        assert not waves.proven({3: reach, 2: open_}, 0.9, 1)
        assert not waves.proven({3: reach, 1: miss}, 0.9, 1)
        assert waves.proven({1: reach, 0: reach}, 0.9, 1)
        assert not waves.proven({1: reach}, 0.9, 0)
        assert waves.proven({2: open_}, 0.9, 1)


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("step", [1.0, 0.25])
@pytest.mark.parametrize("strict", [True, False])
def test_on_a_lattice_each_length_is_known(keep, step, strict):
    """To rounding alone; down to the first that misses, and the empty one besides."""
    rungs, drops = np.array([4.0, 3, 3, 2, 1]) * step, np.array([3.0, 2, 1]) * step
    score = AdditiveScore.from_slopes(
        -4 * step, np.concatenate([rungs, -drops]), np.ones(8, dtype=np.int64), strict=strict
    )
    ladder, p = Ladder.of(score, keep), Fraction(keep)
    truth = {}
    for length in range(6):
        total = Fraction(0)
        for row in product([0, 1], repeat=8 - length):
            value = score.bias + rungs[:length].sum() + np.array(row) @ score.slopes[length:]
            total += (
                p ** sum(row)
                * (1 - p) ** (8 - length - sum(row))
                * bool(value > 0 or (value == 0 and not strict))
            )
        truth[length] = total
    for stop in (0.0, 0.5, 0.7, 0.9, 1.1):
        for start in range(6):
            for last in range(start + 1):
                found = on_lattice(ladder, step, range(start, last - 1, -1), stop)
                wanted = []
                for length in range(start, last - 1, -1):
                    wanted.append(length)
                    if truth[length] < stop - 1e-9:
                        break
                assert set(found) == {*wanted, 0}
                for length, tail in found.items():
                    assert tail.low <= truth[length] <= tail.high
                    assert tail.width < 1e-13


class TestBranch:
    """Chains of words that can be ranked, and what is decided about them."""

    @staticmethod
    def score():
        """Two words that occur twice and can be ranked, two that cannot, one alone, one that only hurts."""
        tables = [[0, 3, 4], [0, 2, 3], [0, 1, 5], [0, 2.5], [0, -1, -2], [0, 0, 0]]
        return AdditiveScore(-4.0, tuple(np.array(t, dtype=float) for t in tables), strict=True)

    def test_words_of_equal_multiplicity_are_ranked_where_one_is_never_behind(self):
        """The largest first; one that crosses begins a chain of its own; what cannot help is in none."""
        assert [c.units for c in _chains(self.score())] == [(2,), (0, 1), (3,)]
        both = AdditiveScore(0.0, (np.array([0.0, 1.0, 0.5]),), strict=True)
        assert _chains(both) is None
        equal = AdditiveScore(0.0, (np.array([0.0, 1.0]), np.array([0.0, 1.0])), strict=True)
        assert [c.units for c in _chains(equal)] == [(0, 1)]

    @pytest.mark.parametrize("most", [1, 2, 5])
    def test_what_is_decided_and_what_is_left(self, most, monkeypatch):
        """Options of each word up to the last count that changes anything; all else is others."""
        seen = []
        monkeypatch.setattr(branch, "Reach", lambda *given: seen.append(given))
        score, keep = self.score(), 0.3
        found = _Search.of(score, _chains(score), keep, most)
        options, others, need, upto, step = seen[0]
        decided = [2, 0, *([1] if most > 1 else []), 3]
        assert found.units == decided
        assert found.heads == [True, True, *([False] if most > 1 else []), True]
        assert upto == most

        def law(n):
            return [math.comb(n, c) * keep**c * (1 - keep) ** (n - c) for c in range(n + 1)]

        for j, unit in zip(decided, options, strict=True):
            table = score.tables[j]
            assert len(unit) == min(len(table) - 1, most) + 1
            for a, (values, weights) in enumerate(unit):
                assert values.tolist() == (table[a:] - table[0]).tolist()
                assert weights == pytest.approx(law(len(table) - 1 - a))
        rest = [([0.0, 2.0, 3.0], law(2))] * (most == 1) + [([2.0, 1.0, 0.0], law(2))]
        assert [(v.tolist(), pytest.approx(w)) for v, w in others] == rest
        assert need == 4.0 + 2.0  # what hurts most is in the lowest score
        assert step > 0.0

    def test_every_anchor_of_a_length_is_a_leaf_where_nothing_is_ruled_out(self):
        """In a chain none keeps more than the one before it; no word more than can change anything."""
        score = self.score()
        chains = _chains(score)
        for length in range(1, 7):
            search = _Search.of(score, chains, 0.5, 7)
            search.bar = 0.0
            found = list(search._leaves(np.ones(1), 0, length, []))
            wanted = set()
            for a, b, c, d in product(range(3), range(3), range(3), range(2)):
                if a + b + c + d == length and b <= a:
                    wanted.add(tuple(sorted([0] * a + [1] * b + [2] * c + [3] * d)))
            assert len(found) == len(set(found))
            assert set(found) == wanted
            # Only those stay whose bound is at least the bar.
            search = _Search.of(score, chains, 0.5, 7)
            search.bar = search.possible(length)
            assert set(search._leaves(np.ones(1), 0, length, [])) <= wanted

    def test_budgets_end_the_search(self, monkeypatch):
        """A table of more operations is not made, and no more branches are looked at."""
        score = self.score()
        chains, most = _chains(score), 3
        operations = sum(
            sum(len(score.tables[j]) - a for a in range(min(len(score.tables[j]) - 1, most) + 1))
            for j in (0, 1, 2, 3)
        ) * (most + 1)
        monkeypatch.setattr(branch, "_OPERATIONS", operations)
        assert _Search.of(score, chains, 0.5, most) is not None
        monkeypatch.setattr(branch, "_OPERATIONS", operations - 1)
        assert _Search.of(score, chains, 0.5, most) is None


class TestDominance:
    """What one more occurrence brings, and who goes before whom."""

    def test_steps_are_those_within_a_word(self):
        """The least and the most of each; what lies between two words is none."""
        values = np.array([0.0, 2.0, 3.0, 0.0, -1.0, 0.0, 5.0, 4.0, 9.0])
        least, most = _steps(values, np.array([2, 1, 3]))
        assert least.tolist() == [1.0, -1.0, -1.0]
        assert most.tolist() == [2.0, -1.0, 5.0]

    def test_occurrences_at_a_mark_or_above_it(self):
        """Of words with so many each."""
        ends, sizes = np.array([1.0, 3.0, 3.0, 2.0]), np.array([1, 2, 4, 8])
        marks = np.array([0.0, 1.0, 2.0, 2.5, 3.0, 4.0])
        assert _running(ends, sizes, marks, "left").tolist() == [15, 15, 14, 6, 6, 0]
        assert _running(ends, sizes, marks, "right").tolist() == [15, 14, 6, 6, 0, 0]

    @pytest.mark.parametrize("total", range(7))
    def test_numbers_that_add_up(self, total):
        """One from each range, the largest first."""
        choices = [range(3), range(2), range(4)]
        wanted = sorted((c for c in product(*choices) if sum(c) == total), reverse=True)
        assert list(_summing(choices, total)) == wanted

    @pytest.mark.parametrize("seed", range(40))
    def test_candidates_keep_what_is_certain_and_nothing_that_is_out_of_the_question(self, seed):
        """All numbers kept between these that add up to the length; none if they are more than a limit."""
        rng = np.random.default_rng(seed)
        least = np.rint(rng.normal(0.5, 2, 5)) / 2
        order = Dominance(least, least + rng.choice([0.0, 0.5, 1.5], 5), rng.integers(1, 4, 5), 0.0)
        sizes = order.sizes.tolist()
        for length in range(1, 5):
            found = order.candidates(length, 10**6)
            if length == 1:
                first = int(least.argmax())
                rivals = [m for j, m in enumerate(order.most.tolist()) if j != first]
                if least[first] > max(0.0, *rivals):
                    assert found == [(first,)]
                    continue
            if sum(m for m, low in zip(sizes, least.tolist(), strict=True) if low >= 0) < length:
                assert found is None
                continue
            ranges = []
            for i in range(5):
                others = [j for j in range(5) if j != i]
                below = sum(sizes[j] for j in others if order.most[j] >= least[i])
                ahead = sum(sizes[j] for j in others if least[j] > order.most[i])
                low, high = (min(max(length - n, 0), sizes[i]) for n in (below, ahead))
                ranges.append(range(low, high + 1))
            wanted = [
                tuple(j for j, n in enumerate(numbers) for _ in range(n))
                for numbers in product(*ranges)
                if sum(numbers) == length
            ]
            assert sorted(found) == sorted(wanted)
            assert len(order.candidates(length, len(wanted))) == len(wanted)
            assert order.candidates(length, len(wanted) - 1) is None

    @pytest.mark.parametrize("length", [1, 3])
    def test_what_an_occurrence_brings_while_the_norm_stays_in_its_range(self, length):
        """Its own part, and what the root gains: least where much is there, most where little is."""
        rng, seen = np.random.default_rng(length), set()
        for _ in range(30):
            leads = random_leads(rng, words=5)
            lead = Lead(leads, 0, 0.5, 1e-4)
            order = Dominance.of(lead, length)
            parts = [leads.weights[j, 0] * leads.features[j, : m + 1] for j, m in enumerate(leads.sizes)]
            own = [(float(np.diff(x).min()), float(np.diff(x).max())) for x in parts]
            if not lead.curved:
                assert order.least == pytest.approx([least for least, _ in own])
                assert order.most == pytest.approx([most for _, most in own])
                assert order.slack == 0.0
                continue
            low, high = lead.norm_range(12.0)
            steps = [np.diff(leads.squares[j, : m + 1]) for j, m in enumerate(leads.sizes)]
            tops = sorted((float(s.max()) for s in steps for _ in s[:length]), reverse=True)
            high, low = high + sum(tops[:length]), max(low - sum(tops[:2]), 0.0)
            for j, s in enumerate(steps):
                little = lead.bias * (math.sqrt(high + s.min()) - math.sqrt(high))
                much = lead.bias * (math.sqrt(low + s.max()) - math.sqrt(low))
                assert order.least[j] == pytest.approx(own[j][0] + min(little, much), rel=1e-9, abs=1e-12)
                assert order.most[j] == pytest.approx(own[j][1] + max(little, much), rel=1e-9, abs=1e-12)
            assert order.slack == pytest.approx(4 * length * math.exp(-12))
            seen.add(lead.bias > 0)
        assert seen == {True, False}


class Chooser:
    """One who sees how earlier coins fell: the recursion itself, in fractions."""

    def __init__(self, score, order, may, others, keep):
        self.score, self.order, self.may, self.keep = score, order, may, Fraction(keep)
        self.tail = Counter()
        for row in product([0, 1], repeat=len(others)):
            chance = self.keep ** sum(row) * (1 - self.keep) ** (len(row) - sum(row))
            self.tail[self.value({j for j, on in zip(others, row, strict=True) if on})] += chance
        self.best = cache(self.best)

    def value(self, kept):
        """What some links bring."""
        windows = zip(self.score.windows, self.score.weights, strict=True)
        return sum(int(weight) for window, weight in windows if kept.issuperset(window))

    def best(self, e, left, kept):
        """The chance of enough, if so many more may be kept from one link on."""
        if e == len(self.order):
            need = math.floor(-(self.score.bias + self.score.error) - self.value(kept) - 1e-6)
            return sum(chance for total, chance in self.tail.items() if total >= need)
        link, p = self.order[e], self.keep
        by_chance = p * self.best(e + 1, left, kept | {link}) + (1 - p) * self.best(e + 1, left, kept)
        if left and self.may[link]:
            return max(by_chance, self.best(e + 1, left - 1, kept | {link}))
        return by_chance

    def after(self, laws, e, *, keeps):
        """The law of what was kept so far, with one more link."""
        new, chance = Counter(), Fraction(1) if keeps else self.keep
        for kept, often in laws.items():
            new[kept | {self.order[e]}] += often * chance
            new[kept] += often * (1 - chance)
        return new


@pytest.mark.parametrize("keep", [0.5, 0.25])
@pytest.mark.parametrize("bias", [-4.5, -1.5, 1.5])
@pytest.mark.parametrize("seed", range(4))
def test_foresight_on_a_lattice_is_the_value_of_the_best_chooser(seed, bias, keep, monkeypatch):
    """At every link and for every number left, with neighbours and what they share."""
    rng = np.random.default_rng(seed)
    windows = (*((i,) for i in range(8)), (0, 1), (1, 2), (5, 7), (6, 7))
    weights = rng.integers(-2, 4, 12).astype(float)
    score = ChainScore(bias, windows, weights, np.ones(8, dtype=np.int64), strict=True)
    monkeypatch.setattr(foresight, "deviation", lambda *_: (0.0, float(foresight._PER)))  # cells of one
    may = np.isin(np.arange(8), [0, 2, 4])
    found = Foresight.of(Links.of(score), may, keep, 2)
    assert sorted(found.order) == [0, 1, 2, 4]
    chooser = Chooser(score, found.order, may, [3, 5, 6, 7], keep)

    def look(law, e, left, laws):
        """Each way to decide the next link."""
        wanted = sum(chance * chooser.best(e, left, kept) for kept, chance in laws.items())
        assert found.bound(law, e, left) == pytest.approx(min(1.0, float(wanted)), abs=1e-9)
        if e < len(found.order):
            for keeps in [False, True] if left and may[found.order[e]] else [False]:
                after = found.extended(law, e, kept=keeps)
                look(after, e + 1, left - keeps, chooser.after(laws, e, keeps=keeps))

    for left in range(3):
        look(found.start(), 0, left, {frozenset(): Fraction(1)})


def test_foresight_is_given_up_where_its_tables_would_be_too_large(monkeypatch):
    """Numbers of all states, lengths and cells; or where nothing is left to chance."""
    score = ChainScore(
        -1.5, ((0,), (1,), (0, 1)), np.array([1.0, 2.0, 1.0]), np.ones(2, dtype=np.int64), True
    )
    links, every = Links.of(score), np.ones(2, dtype=bool)
    found = Foresight.of(links, every, 0.5, 2)
    numbers = sum(found.grid.links.live) * 3 * found.grid.length
    monkeypatch.setattr(foresight, "_NUMBERS", numbers)
    assert Foresight.of(links, every, 0.5, 2) is not None
    monkeypatch.setattr(foresight, "_NUMBERS", numbers - 1)
    assert Foresight.of(links, every, 0.5, 2) is None
    flat = ChainScore(-1.5, ((0,), (1,)), np.zeros(2), np.ones(2, dtype=np.int64), True)
    assert Foresight.of(Links.of(flat), every, 0.5, 2) is None


@pytest.mark.parametrize("threshold", [0.55, 0.7, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("guess", [1, 3, 9, 20])
def test_prefixes_on_a_lattice_are_found_from_any_guess(guess, threshold):
    """The first that reaches and the one before it are among those looked at, wherever one begins."""
    slopes = np.array([3.0, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, -2, -1, -1, -3, 1, 2, 1, 1, 1])
    score = AdditiveScore.from_slopes(-8.0, slopes, np.ones(20, dtype=np.int64), strict=True)
    ladder = Ladder.of(score, 0.5)
    every = on_lattice(ladder, 1.0, range(len(ladder), -1, -1), 0.0)
    every[len(ladder)] = prefixes._all_rungs(ladder)
    length = min(n for n, tail in every.items() if n and tail.low >= threshold)
    looked = prefixes._by_lattice(ladder, 1.0, threshold, guess, 1)
    assert min(waves.reaching(looked, threshold, 1)) <= max(length, guess + 2)
    if guess + 2 >= length:
        assert min(waves.reaching(looked, threshold, 1)) == length
        assert waves.proven(looked, threshold, 1)
    assert all(looked[n] == every[n] or n == len(ladder) for n in looked)


def test_whether_every_rung_is_certain_is_seen_by_the_lowest_score():
    """Beyond the error, and not at it."""
    for bias, error, certain in (
        (-1.0, 0.0, True),
        (-3.0, 0.0, False),
        (-2.0, 1.0, False),
        (-2.0, 0.5, True),
    ):
        ladder = SimpleNamespace(floor=bias, rungs=np.array([2.0, 1.0]), error=error)
        found = prefixes._all_rungs(ladder)
        assert found == (Interval.exactly(1.0) if certain else Interval(0.0, 1.0, 1.0))


@pytest.mark.parametrize("shortest", [0, 1])
@pytest.mark.parametrize("length", range(14))
def test_of_precisions_that_never_fall_the_first_that_reaches_is_found(length, shortest, monkeypatch):
    """One by one up to four, then by bisection; the one before it is known to miss."""
    looked_at = []
    values = [Interval.exactly(0.5 if n < length else 0.9) for n in range(14)]
    monkeypatch.setattr(prefixes, "enumerate_prefixes", lambda _: lambda n: looked_at.append(n) or values[n])
    found = prefixes._by_enumeration(range(13), 0.9, shortest)
    wanted = max(length, shortest)
    assert min(waves.reaching(found, 0.9, shortest)) == wanted
    assert waves.proven(found, 0.9, shortest)
    assert sorted(found) == sorted(looked_at)
    few = sorted({0, *range(shortest, min(wanted, 4) + 1)})
    assert looked_at[: len(few)] == few
    assert len(looked_at) <= len(few) + 1 + math.ceil(math.log2(10))
    if wanted <= 4:
        assert looked_at == few


@pytest.mark.parametrize("miss", range(6))
def test_lengths_too_close_to_tell_are_met_in_the_middle(miss, monkeypatch):
    """From the shortest that is known to reach downwards, to the first that misses or costs too much."""
    score = AdditiveScore.from_slopes(
        -3.0, np.array([5.0, 4, 3, 2, 1]), np.array([1, 1, 2, 1, 3]), strict=True
    )
    ladder, asked = Ladder.of(score, 0.5), []

    def tail(own, counts, keep, width):
        assert (own, keep, width) == (score, 0.5, 0.0)
        asked.append(counts.tolist())
        return Interval.exactly(0.95 if counts.sum() > miss else 0.5)

    monkeypatch.setattr(prefixes, "additive_tail", tail)
    rows = [
        [0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 2, 0, 0],
        [1, 1, 2, 1, 0],
    ]
    for shortest in (0, 1):
        asked.clear()
        found = prefixes._in_the_middle(score, ladder, 0.9, shortest, {6: Interval.exactly(0.95)})
        last = max(miss, shortest)
        assert asked == rows[last:6][::-1]
        assert sorted(found) == [*range(last, 6), 6]
    # So many combinations of counts are what may be met.
    monkeypatch.setattr(prefixes, "HALVES", 8)
    asked.clear()
    prefixes._in_the_middle(score, ladder, 0.9, 1, {6: Interval.exactly(0.95)})
    states = [math.prod(m - c + 1 for m, c in zip([1, 1, 2, 1, 3], row, strict=True)) for row in rows]
    assert states == [96, 48, 24, 16, 8, 4]
    assert (
        asked
        == [row for row, n in zip(rows, states, strict=True) if n <= 8 and sum(row) >= max(miss, 1)][::-1]
    )


class TestNothingSpeaksForIt:
    """No coefficient is positive: removing words can only help."""

    @pytest.mark.parametrize(("allow_empty", "kept"), [(True, ()), (False, (1,))])
    def test_the_word_that_hurts_least_is_kept_where_one_must_be(self, allow_empty, kept):
        """With its own precision, and that of nothing."""
        slopes, ones = np.array([-3.0, -1.0, -2.0]), np.ones(3, dtype=np.int64)
        score = AdditiveScore.from_slopes(2.5, slopes, ones, strict=True)
        found = prefixes.shortest_prefix(score, 0.4, allow_empty=allow_empty)
        truths = {}
        for anchor in ((), (1,)):
            free = [s for j, s in enumerate(slopes.tolist()) if j not in anchor]
            base = 2.5 + sum(slopes[list(anchor)])
            rows = list(product([0, 1], repeat=len(free)))
            truths[anchor] = sum(
                base + sum(s for s, on in zip(free, row, strict=True) if on) > 0 for row in rows
            ) / len(rows)
        assert found.kept == kept
        assert found.tail == Interval.exactly(truths[kept])
        assert found.baseline == Interval.exactly(truths[()])
        assert found.reached == found.proven == (truths[kept] >= 0.4)
        assert found.looked == {0: found.baseline, len(kept): found.tail}
