"""Bounds and searches where nothing is rounded: on a lattice the bound is a number that can be worked out."""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest
from chains import made_chain
from counting import anchors
from readings import reading_of

import kedge
from kedge.evaluators import Enumeration
from kedge.evaluators.grids.links import Grid, Links
from kedge.model.scores.additive import AdditiveScore
from kedge.model.scores.chain import ChainScore
from kedge.results.interval import UNKNOWN
from kedge.search import Goal
from kedge.search.exact import foresight, prefixes, tree
from kedge.search.exact.adaptive import Reach
from kedge.search.exact.branch import Branch
from kedge.search.exact.chain import Chain
from kedge.search.exact.ladder import Ladder, enumerate_prefixes
from kedge.search.exact.prefixes import shortest_prefix
from kedge.search.exact.tree import Tree
from kedge.search.guided.proof import Proof
from kedge.text.units import Units


def binomials(n, keep):
    """Chances of 0..n occurrences staying, as fractions."""
    keep = Fraction(keep)
    return [math.comb(n, k) * keep**k * (1 - keep) ** (n - k) for k in range(n + 1)]


@pytest.mark.parametrize("keep", [0.5, 0.25])
@pytest.mark.parametrize("seed", range(8))
def test_on_a_lattice_the_bound_is_the_value_of_the_best_chooser(seed, keep):
    """One who sees how the units before fell, by the recursion itself: at every branch and number left.

    The need is rounded down to whole cells, and what others than the first units bring to a cell more.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 3, 5).tolist()
    tables = [[0, *np.cumsum(rng.integers(0, 5, m)).tolist()] for m in sizes]
    free = [
        [(t[a:], binomials(m - a, keep)) for a in range(m + 1)] for t, m in zip(tables, sizes, strict=True)
    ]
    bar = int(rng.integers(0, sum(t[-1] for t in tables) + 1))

    @cache
    def best(unit, left, need):
        """The largest chance that the units from one on bring so much."""
        if unit == 3:
            pairs = product(*(zip(*unit[0], strict=True) for unit in free[3:]))
            return sum(w * x for (v, w), (u, x) in pairs if v + u >= need - 1)
        options = free[unit][: left + 1]
        return max(
            sum(w * best(unit + 1, left - a, need - v) for v, w in zip(*option, strict=True))
            for a, option in enumerate(options)
        )

    step = 0.25  # so that products with it are exact
    arrays = [[(step * np.array(v), np.array(w, dtype=float)) for v, w in unit] for unit in free]
    reach = Reach(arrays[:3], [unit[0] for unit in arrays[3:]], step * (bar + 0.5), 3, step)

    def look(law, decided, unit, left):
        """Each branch below this one; the law is that of the decided units, in fractions."""
        wanted = sum(chance * best(unit, left, bar - have) for have, chance in law.items())
        assert reach.bound(decided, unit, left) == pytest.approx(float(wanted), abs=1e-9)
        for a, (values, weights) in enumerate(free[unit][: left + 1] if unit < 3 else []):
            after = {}
            for have, chance in law.items():
                for v, w in zip(values, weights, strict=True):
                    after[have + v] = after.get(have + v, 0) + chance * w
            look(after, reach.extended(decided, unit, a), unit + 1, left - a)

    for left in range(4):
        look({0: Fraction(1)}, np.ones(1), 0, left)


def single_links(weights, bias, *, rounding=None):
    """Links without neighbours."""
    n = len(weights)
    windows = tuple((i,) for i in range(n))
    score = ChainScore(bias, windows, np.array(weights), np.ones(n, dtype=np.int64), True, rounding)
    return Links.of(score)


@pytest.mark.parametrize("keep", [0.5, 0.25])
@pytest.mark.parametrize("bias", [-17.5, -6.25, -1.75, 0.25])
def test_the_end_of_foresight_is_the_tail_of_the_other_links(keep, bias):
    """At every cell of the sum so far, where weights are whole cells: no more and no less."""
    links = single_links([1.0, 2.0, 3.0, -1.0, 2.0, -2.0, 4.0], bias)
    own = foresight._part(links, [0, 1, 2])
    others = foresight._part(links, [3, 4, 5, 6])
    grid = Grid(own, np.rint(own.gains(own.weights)).astype(np.int64), keep)
    end = foresight._end(links, others, 1.0, grid, keep)
    sums = [(sum(c), len(c)) for n in range(5) for c in combinations([-1, 2, -2, 4], n)]
    for place, found in enumerate(end.tolist()):
        # A cell stands for what rounds up to it, so that one that misses by less than a cell counts.
        need = math.floor(-bias - (place - grid.origin))
        truth = sum(keep**n * (1 - keep) ** (4 - n) for value, n in sums if value >= need)
        assert found == pytest.approx(min(1.0, truth), abs=1e-9)


@pytest.mark.parametrize("rest", [0.49, -0.49, 0.3])
def test_what_all_links_leave_over_moves_the_end(rest):
    """Ninety links that round to the same side: their leftover has a mean, and strays around it."""
    weight, n, step = 1.0 + rest, 90, 1.0
    for bias in (-0.35 * n, -0.5 * n * weight, -0.55 * n * weight, -0.62 * n * weight):
        links = single_links([1.0, *[weight] * n], bias, rounding=1e-9)
        own, others = foresight._part(links, [0]), foresight._part(links, list(range(1, n + 1)))
        grid = Grid(own, np.rint(own.gains(own.weights)).astype(np.int64), 0.5)
        found = float(foresight._end(links, others, step, grid, 0.5)[grid.origin])
        law = [float(x) for x in binomials(n, 0.5)]
        strays = math.sqrt(7.0 * n) * abs(rest)
        truth = sum(p for k, p in enumerate(law) if bias + k * weight > 0)
        most = sum(p for k, p in enumerate(law) if k >= -(bias + n * rest / 2 + strays) // step)
        assert truth <= found <= most + 1e-6


def rule_of(rng):
    """Any of a few pairs and single words."""
    words = list("abcdef")
    parts = [rng.choice(words, int(rng.integers(1, 4)), replace=False).tolist() for _ in range(3)]
    return kedge.rules.any_of(*parts)


@pytest.mark.parametrize("seed", range(12))
def test_certified_answers_of_trees_are_irreducible_at_thresholds_that_are_attained(monkeypatch, seed):
    """With the search cut off: what remains cannot lose a word, where that would just reach."""
    monkeypatch.setattr(tree, "_BUDGET", 0)
    rng = np.random.default_rng(seed)
    text = " ".join(["a b c d e f", *rng.choice(list("abcdef"), 2)])
    reading = reading_of(rule_of(rng), text)
    truth = Enumeration(reading)
    for eighths in range(8, 64):
        found = Tree()(reading, Goal(eighths / 64, ties="first"), np.random.default_rng(0))
        less = [found.kept[:k] + found.kept[k + 1 :] for k in range(len(found.kept))]
        assert truth([found.kept]).mean[0] >= eighths / 64
        if len(found.kept) > 1:
            assert truth(less).mean.max() < eighths / 64


def thresholds(attained):
    """Each value, and the numbers next to it on either side; and certainty."""
    yield 1.0
    for value in sorted(attained):
        if 0.5 < value < 1.0:
            yield from (math.nextafter(value, 0.0), value, math.nextafter(value, 1.0))


def units_of(sizes):
    """Occurrences one after the other."""
    ends = np.cumsum(sizes).tolist()
    return Units(tuple(tuple(range(e - m, e)) for e, m in zip(ends, sizes, strict=True)))


def precisions(score, sizes, keep):
    """Anchor to precision, from every sample, in fractions."""
    shape = [m + 1 for m in sizes]
    rows = np.array(list(np.ndindex(*shape)), dtype=np.int64)
    holds = {tuple(row): bool(h) for row, h in zip(rows.tolist(), score.holds(rows), strict=True)}
    found = {}
    for kept in holds:
        laws = [binomials(m - a, keep) for a, m in zip(kept, sizes, strict=True)]
        above = (row for row in holds if holds[row] and all(x >= a for x, a in zip(row, kept, strict=True)))
        found[kept] = sum(
            math.prod(law[x - a] for law, x, a in zip(laws, row, kept, strict=True)) for row in above
        )
    return found


def judge(status, kept, sizes, truth, threshold):
    """An exact answer is the best of the shortest; any other reaches."""
    counts = tuple(np.bincount(np.array(kept, dtype=int), minlength=len(sizes)).tolist())
    if status != "not_reached":
        assert truth[counts] >= Fraction(threshold)
    if status == "exact":
        length = min(sum(a) for a, p in truth.items() if sum(a) and p >= Fraction(threshold))
        assert len(kept) == length
        assert truth[counts] == max(truth[a] for a in anchors(sizes, length))


@pytest.mark.parametrize("keep", [0.5, 0.25])
@pytest.mark.parametrize("seed", range(5))
def test_branches_at_attained_thresholds_and_a_bit_beside(seed, keep):
    """Scores that bend, of whole numbers: the answer changes exactly at the precision of an anchor."""
    rng = np.random.default_rng(seed)
    sizes = [1, 2, 1, 2]
    tables = tuple(np.append(0.0, np.cumsum(rng.integers(0, 4, m)) + 1.0) for m in sizes)
    score = AdditiveScore(-float(sum(t[-1] for t in tables)) / 2, tables, strict=bool(seed % 2))
    truth, exact = precisions(score, sizes, keep), 0
    reading = SimpleNamespace(additive=score, keep=keep, units=units_of(sizes))
    for threshold in thresholds({float(p) for p in truth.values()}):
        found = Branch()(reading, Goal(threshold), rng)
        judge(found.status, found.kept, sizes, truth, threshold)
        exact += found.status == "exact"
        assert threshold < 1.0 or found.status == "exact"
    assert keep != 0.5 or exact


@pytest.mark.parametrize("keep", [0.5, 0.25])
@pytest.mark.parametrize("seed", range(5))
def test_chains_at_attained_thresholds_and_a_bit_beside(seed, keep):
    """The same for sums over neighbours."""
    score = made_chain(seed, 6, 2, whole=True)
    sizes = [1] * 6
    truth, exact = precisions(score, sizes, keep), 0
    reading = SimpleNamespace(chain=score, keep=keep, units=units_of(sizes))
    for threshold in thresholds({float(p) for p in truth.values()}):
        found = Chain()(reading, Goal(threshold), np.random.default_rng(0))
        judge(found.status, found.kept, sizes, truth, threshold)
        exact += found.status == "exact"
    assert keep != 0.5 or exact or all(p in {0, 1} for p in truth.values())


@pytest.mark.parametrize("keep", [0.5, 0.25])
@pytest.mark.parametrize("seed", range(5))
def test_prefixes_at_attained_thresholds_and_a_bit_beside(seed, keep):
    """The same for linear scores, with ties among the weights."""
    rng = np.random.default_rng(seed)
    sizes, slopes = [1, 2, 1, 2], rng.integers(-2, 4, 4).astype(float)
    slopes[0] = 3.0
    bias = -0.5 * float(slopes @ sizes) - 0.5 * (seed % 3)
    score = AdditiveScore.from_slopes(bias, slopes, np.array(sizes), strict=bool(seed % 2))
    if not score.holds(np.array([sizes]))[0]:
        score = AdditiveScore.from_slopes(-bias, slopes, np.array(sizes), strict=bool(seed % 2))
    truth = precisions(score, sizes, keep)
    for threshold in thresholds({float(p) for p in truth.values()}):
        found = shortest_prefix(score, threshold, keep=keep)
        status = "exact" if found.proven else "certified" if found.reached else "not_reached"
        judge(status, found.kept, sizes, truth, threshold)
        assert keep != 0.5 or status == "exact" or max(truth.values()) < threshold


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("bias", [0.0, 5e-13, -5e-13, 2.0, -2.0])
def test_the_empty_text_is_on_the_side_of_its_bias(bias, strict):
    """A sum of no terms is not rounded, so that the bias is known where other sums of this size are not."""
    slopes = np.array([2.0, -2.0])
    score = AdditiveScore.from_slopes(bias, slopes, np.ones(2, dtype=np.int64), strict=strict, rounding=1e-12)
    interval = enumerate_prefixes(Ladder.of(score, 0.5))(0)
    sums = [bias + 2.0, bias - 2.0]
    alone = bias > 0 or (bias == 0 and not strict)
    both = bias  # both words kept: the same number, but rounded
    unsure = abs(both) <= score.error
    sure = alone + sum(s > 1e-9 for s in sums) + (not unsure and both > 0)
    doubt = unsure + sum(abs(s) <= 1e-9 for s in sums)
    assert interval.low == sure / 4
    assert interval.high == (sure + doubt) / 4


def test_a_proof_of_which_nothing_is_known_rests_on_no_sample():
    """And has neither a level nor a wealth."""
    proof = Proof((0,), UNKNOWN)
    assert (proof.proved, proof.trials, proof.level, proof.log_wealth) == (False, 0, None, 0.0)


def test_in_the_middle_goes_on_to_the_first_length_that_misses():
    """And no further: each length on the way is known, so that the answer is proved."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        slopes = np.append(rng.uniform(0.5, 1.5, 9), -0.7)
        score = AdditiveScore.from_slopes(-3.9, slopes, np.ones(10, dtype=np.int64), strict=True)
        ladder = Ladder.of(score, 0.5)
        precision = enumerate_prefixes(ladder)
        looked = {9: precision(9)}
        prefixes._in_the_middle(score, ladder, 0.9, 1, looked)
        least = min(looked)
        assert sorted(looked) == list(range(least, 10))
        assert looked[least].high < 0.9 <= looked[least + 1].low
        assert least < 7
        assert all(looked[n].mean == pytest.approx(precision(n).mean, abs=1e-12) for n in looked)


@pytest.mark.parametrize("length", [1, 3, 5])
def test_what_a_leaf_can_still_become_by_every_choice(length):
    """For each number of units decided and of occurrences left, by trying all of them."""
    rng, sizes = np.random.default_rng(length), np.array([3, 2, 3, 1])
    factors = [rng.random((m + 1, 7)) for m in sizes.tolist()]
    chances = SimpleNamespace(factors=factors, label=np.ones(7, dtype=bool))
    up, down = tree._reach(chances, sizes, length)
    for i in range(len(sizes) + 1):
        for left in range(length + 1):
            choices = (c for c in product(*(range(m + 1) for m in sizes[i:].tolist())) if sum(c) <= left)
            every = [
                np.prod([f[a] for f, a in zip(chances.factors[i:], c, strict=True)], axis=0)
                if c
                else np.ones(len(chances.label))
                for c in choices
            ]
            assert up[i][left] == pytest.approx(np.max(every, axis=0))
            assert down[i][left] == pytest.approx(np.min(every, axis=0))
