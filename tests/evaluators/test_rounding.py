"""Each margin for rounding has the size that its derivation gives: one that is halved or doubled is seen.

Nothing here is about answers. A bound is read off, and compared with the formula that its docstring gives,
worked out by itself.
"""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from chains import chain_reading, made_chain
from scipy import fft

from kedge.evaluators import additive, chain
from kedge.evaluators.chain import Chained
from kedge.evaluators.enumeration import _rounding
from kedge.evaluators.grids import gridsum
from kedge.evaluators.grids.gridsum import GridSum
from kedge.evaluators.grids.links import Links
from kedge.evaluators.grids.sums import all_sums, free_part, middle
from kedge.evaluators.grids.tails import grid_tail
from kedge.evaluators.harmonics import FIRST, Circle, Spectra, _unheard
from kedge.evaluators.leaves import LeafChances
from kedge.evaluators.loudness import _added_up
from kedge.evaluators.rests import _halves, _met
from kedge.evaluators.variables import Variables
from kedge.evaluators.waves import Waves
from kedge.model.scores.additive import UNIT, AdditiveScore
from kedge.model.scores.chain import ChainScore
from kedge.model.scores.leaves import LeafBoxes
from kedge.results.interval import UNKNOWN
from kedge.search.exact import adaptive, branch, prefix_tails
from kedge.search.exact.branch import _chains, _Search
from kedge.search.exact.foresight import Foresight
from kedge.search.exact.ladder import Ladder, enumerate_prefixes


def close(value, rel=1e-6, abs=0.0):  # noqa: A002  (as pytest calls it, whose own allows 1e-12)
    """A number that is this close, however small it is."""
    return pytest.approx(value, rel=rel, abs=abs)


def made(words, seed=0, *, size=1, rounding=None, bias=None):
    """A linear score whose sums are rounded."""
    rng = np.random.default_rng(seed)
    slopes = rng.uniform(0.1, 3.0, words)
    sizes = np.full(words, size)
    bias = -float(slopes @ sizes) / 2 if bias is None else bias
    return AdditiveScore.from_slopes(bias, slopes, sizes, strict=True, rounding=rounding)


def of_sums(score, terms):
    """Twice one rounding for each term and eight more, of numbers as large as all terms together."""
    largest = Fraction(abs(score.bias)) + sum(
        Fraction(abs(s)) * int(m) for s, m in zip(score.slopes.tolist(), score.sizes.tolist(), strict=True)
    )
    return float(2 * (terms + 8) * Fraction(1, 2**53) * largest)


@pytest.mark.parametrize("words", [2, 7, 30])
def test_sums_of_a_score_are_off_by_a_rounding_for_each_term(words):
    """The model's own by the bound it is given; ours besides; neither where nothing is rounded."""
    plain, told = made(words), made(words, rounding=0.25)
    assert plain.error == close(of_sums(plain, words), rel=1e-9)
    assert told.error == 0.25
    for score in (plain, told):
        assert score.added_up(words) == close(of_sums(score, words), rel=1e-9)
    whole = AdditiveScore.from_slopes(0.5, np.arange(words) + 1.0, np.ones(words, dtype=int), strict=True)
    assert whole.error == whole.added_up(words) == 0.0


@pytest.mark.parametrize("words", [3, 12, 40])
@pytest.mark.parametrize("rounding", [None, 0.01])
def test_everyone_who_adds_up_allows_for_both_roundings(words, rounding, monkeypatch):
    """The model's, and one's own by the number of terms added."""
    score = made(words, rounding=rounding, size=2)
    both = score.error + of_sums(score, words)
    seen = []
    for name in ("all_sums", "middle"):
        monkeypatch.setattr(additive, name, lambda _, error, **__: seen.append(error) or UNKNOWN)
    monkeypatch.setattr(additive, "_refine", lambda _, __, error, *___: seen.append(error) or (UNKNOWN, True))
    additive.additive_tail(score, np.zeros(words, dtype=np.int64), 0.5)
    monkeypatch.setattr(branch, "Reach", lambda _, __, need, *___: seen.append(-(need + score.bias)))
    _Search.of(score, _chains(score), 0.5, 2)
    assert seen == [close(both, rel=1e-9), close(both, rel=0.01)]
    occurrences = Ladder.of(score, 0.5).error
    assert occurrences == close(score.error + of_sums(score, 2 * words), rel=1e-9)


@pytest.mark.parametrize("keep", [0.3, 0.7])
def test_few_sums_of_uneven_coins_allow_for_nine_units_a_value(keep):
    """And where both halves are met in the middle for two units an entry of both tables."""
    score = made(7, size=2)
    free = free_part(score, np.array([1, 0, 0, 0, 0, 0, 0]), keep)
    found = all_sums(free, 0.0, strict=True)
    values = 2 + 6 * 3
    for side in (found.mean - found.low, found.high - found.mean):
        assert side == close(9 * values * UNIT, rel=0.05)
    found = middle(free, 0.0, strict=True)
    left, right = sorted([2 * 3 * 3 * 3, 3 * 3 * 3])
    for side in (found.mean - found.low, found.high - found.mean):
        assert min(left, right) * 4 * UNIT * 0.9 <= side <= 2 * (left + right + 60) * UNIT


class Sized(list):
    """As much of a text's units as is looked at."""

    @property
    def sizes(self):
        """How often each occurs."""
        return np.array(self)


def test_an_enumeration_allows_for_nine_units_an_occurrence_and_one_a_word():
    """Twice; none for fair coins that doubles hold."""
    for sizes in ([3], [1, 4, 2], [60], [30, 21]):
        wanted = 2 * UNIT * (9 * sum(sizes) + len(sizes))
        for keep, coins, found in ((0.3, 1, wanted), (0.5, 50, 0.0), (0.5, 51, wanted)):
            reading = SimpleNamespace(units=Sized(sizes), keep=keep)
            assert _rounding(reading, coins) == close(found, rel=1e-12)


@pytest.mark.parametrize(("words", "span"), [(13, 1), (20, 2), (20, 3), (31, 1)])
def test_a_pass_along_a_text_allows_for_two_operations_a_state_and_link(words, span, monkeypatch):
    """Twice, with those of the sum at its end; and for the score's own error, where anything is rounded."""
    seen = []

    def tail(cells, step, base, squares, *, error, strict):
        seen.append((cells.error, error, strict, step, base, squares))
        return UNKNOWN

    monkeypatch.setattr(chain, "grid_tail", tail)
    score = made_chain(3, words, span)
    chained = Chained(chain_reading(score))
    assert chained.links.span == span - 1
    chained._on_grid(np.zeros(words, dtype=bool), 0.01)
    assert seen[0][0] == close((2 * 2 ** (span - 1) * words + 64) * 2 * UNIT, rel=1e-12)
    assert seen[0][1:3] == (score.error, score.strict)
    assert score.error > 0.0
    whole = made_chain(3, words, span, whole=True)
    Chained(chain_reading(whole))._on_grid(np.zeros(words, dtype=bool), 1.0)
    assert seen[1][1] == seen[1][5] == 0.0


def test_few_links_of_uneven_coins_allow_for_sixteen_units_a_free_link():
    """To both sides."""
    score = made_chain(2, 9, 2, whole=True)
    for anchor in ((), (1,), (1, 4, 6)):
        found = Chained(chain_reading(score, 0.3)).refine(anchor)
        assert 0.01 < found.mean < 0.99
        for side in (found.mean - found.low, found.high - found.mean):
            assert side == close(16 * (9 - len(anchor)) * UNIT, rel=0.05)


def test_leaves_allow_for_nine_units_an_occurrence_two_a_word_and_one_a_leaf():
    """Twice, of the words asked about; none for fair coins that doubles hold."""
    inf = np.inf
    low = np.array([[-inf, -inf, -inf], [1.0, -inf, -inf], [1.0, -inf, 0.0]])
    high = np.array([[1.0, inf, inf], [inf, inf, 0.0], [inf, inf, inf]])
    boxes = LeafBoxes(low, high, np.array([True, False, True]))
    for sizes, keep in (([3, 5, 2], 0.3), ([30, 1, 21], 0.5), ([30, 1, 20], 0.5), ([30, 1, 20], 0.4)):
        chances = LeafChances(boxes, np.array(sizes), keep)
        coins = sizes[0] + sizes[2]
        assert chances.asked == [0, 2]
        wanted = 2 * UNIT * (9 * coins + 2 * 2 + 3 + 4) if keep != 0.5 or coins > 50 else 0.0
        assert chances.slack == close(wanted, rel=1e-12)
        known = chances.known(0.5)
        assert (known.low, known.mean, known.high) == (0.5 - chances.slack, 0.5, 0.5 + chances.slack)


@pytest.mark.parametrize("keep", [0.3, 0.6])
def test_prefixes_of_uneven_coins_allow_for_sixteen_units_a_coin(keep):
    """At every length, but where all samples agree."""
    slopes = np.array([3.0, 2.5, 1.0, -1.5, -2.0, 0.5])
    score = AdditiveScore.from_slopes(-3.25, slopes, np.ones(6, dtype=np.int64), strict=True)
    precision = enumerate_prefixes(Ladder.of(score, keep))
    for length in range(3):
        found = precision(length)
        assert 0.01 < found.mean < 0.99
        for side in (found.mean - found.low, found.high - found.mean):
            assert side == close(16 * 6 * UNIT, rel=0.05)


def test_a_law_on_a_grid_counts_its_operations():
    """One for a fair coin, one for each value of another variable and one more; 64 at the end; twice."""
    assert GridSum.of([]).error == close(64 * 2 * UNIT, rel=1e-12)
    assert GridSum.of([3] * 40).error == close((40 + 64) * 2 * UNIT, rel=1e-12)
    three = ((0, 1, 2), (0.2, 0.3, 0.5))
    mixed = GridSum.of([3] * 40 + [three] * 7, reach=4, widest=2)
    assert mixed.error == close((40 + 7 * 4 + 64) * 2 * UNIT, rel=1e-12)
    mixed.coin(2)
    mixed.include(three)
    assert mixed.error == close((41 + 8 * 4 + 64) * 2 * UNIT, rel=1e-12)


@pytest.mark.parametrize("direct", [True, False])
def test_two_laws_that_are_convolved_count_the_operations_of_both(direct, monkeypatch):
    """And a product for each cell of the smaller one; or, by Fourier transforms, what these are off by."""
    monkeypatch.setattr(gridsum, "_DIRECT", 1 << 30 if direct else 0)
    a, b = GridSum.of([1] * 300 + [((0, 2), (0.1, 0.9))]).law(), GridSum.of([1] * 150).law()
    found = gridsum._convolve(a, b)
    n = len(a.cells) + len(b.cells) - 1
    assert (a.operations, b.operations) == (303, 150)
    assert found.operations == 453 + (len(b.cells) if direct else 0)
    if direct:
        assert found.absolute == 0.0
    else:
        size = fft.next_fast_len(n, real=True)
        assert found.absolute == close(48 * UNIT * math.log2(size) * math.sqrt(n), rel=1e-12)
        again = gridsum._convolve(found, found)
        n = 2 * len(found.cells) - 1
        more = 48 * UNIT * math.log2(fft.next_fast_len(n, real=True)) * math.sqrt(n)
        assert again.absolute == close(2 * found.absolute + more, rel=1e-12)
    # What is cut off lies beyond the reach: exp(-2 y^2 / squares) with y^2 = 18 squares.
    squares = 450 + 4
    mean = 225 + 1.8
    reach = math.sqrt(18 * squares) + 1
    assert (found.mean, found.squares) == (close(mean), close(squares))
    assert found.first == max(a.first + b.first, math.floor(mean - reach))
    last = found.first + len(found.cells) - 1
    assert last == min(a.first + b.first + len(a.cells) + len(b.cells) - 2, math.ceil(mean + reach))


class Asked:
    """A law that remembers which cells it was asked about."""

    error = 0.0

    def __init__(self):
        self.cells = []

    def above(self, cell):
        """Next to nothing."""
        self.cells.append(cell)
        return 0.25

    below = above
    at = above


@pytest.mark.parametrize("zero", [4e12, -4e12, 2.5e13])
def test_a_place_on_a_grid_is_known_to_a_part_in_a_million_million(zero):
    """Of a far place that is many cells, to either side; the score's error and what strays come on top."""
    law = Asked()
    grid_tail(law, 0.5, -zero * 0.5, 0.0, error=20.0, strict=True)
    above, below = law.cells[:2]
    assert above - zero == close(40 + 1e-12 * (1 + abs(zero)), abs=1.1)
    assert zero - below == close(40 + 1e-12 * (1 + abs(zero)), abs=1.1)
    near = Asked()
    grid_tail(near, 0.5, -1.0, 8.0, error=1.0, strict=True, log_eta=9.0)
    assert near.cells[:2] == [2 + 2 + 12 + 1, 2 - 2 - 12] or near.cells[:2] == [2 + 2 + 12 + 1, -12]


class TestHarmonics:
    """What a sum on a circle is off by."""

    @pytest.mark.parametrize("count", [FIRST, 100, 340, 341, 342, 5000])
    @pytest.mark.parametrize("nothing", [0.0, 1e-3])
    def test_what_is_not_heard_and_what_is_rounded(self, count, nothing):
        """A factor by 12 K units or 16 k^2 of the first few; each weighs 2 + ln K; a sum 8 K units more."""
        each, besides = _unheard(count, nothing)
        weigh = 2 + math.log(count)
        assert each == close(max(12 * (count + 1), 16 * 16 * 16) * UNIT * weigh, rel=1e-12)
        assert besides == close(2 * nothing * weigh + 8 * count * UNIT, rel=1e-12)

    @pytest.mark.parametrize("terms", [3 * 10**9, 10**10])
    @pytest.mark.parametrize("count", [16, 60])
    @pytest.mark.parametrize("mean", [-0.1, 0.0, 0.2])
    def test_the_width_of_an_interval(self, terms, count, mean):
        """Of a sum that is not heard at all: both kernels at one, the seam, and a rounding for each term."""
        circle, squares, nothing = Circle(1.0), 0.1, 1e-5
        means = np.array([[mean - 0.01], [mean], [mean + 0.02]])
        silent = Spectra(circle, np.zeros((1, FIRST)), np.empty(0), means, np.array([squares]), terms)
        low, middle, high = silent.bounds(count, nothing)[:, 0]
        each, besides = _unheard(count, nothing)
        outside = 1.001 * math.exp(-0.5 / squares)
        width = 2 / (2 * count + 2) + outside + (terms + 2) * each + besides
        lowest, highest = 0.5 + mean - 0.01 - width, 0.5 + mean + 0.02 + width
        if mean - 0.01 > 0:
            lowest = max(lowest, 1 - 1.001 * math.exp(-2 * (mean - 0.01) ** 2 / squares))
        if mean + 0.02 < 0:
            highest = min(highest, 1.001 * math.exp(-2 * (mean + 0.02) ** 2 / squares))
        assert low == close(max(lowest, 0.0), rel=1e-9)
        assert high == close(min(highest, 1.0), rel=1e-9)
        assert low <= middle <= high

    def test_beyond_a_turn_only_what_is_rare_is_known(self):
        """Wherever zero is farther than half a turn from the mean."""
        circle, squares = Circle(2.0), np.full(8, 0.5)
        at = np.array([-3.0, -1.5, -1.0, -0.9, 0.9, 1.0, 1.5, 3.0])
        silent = Spectra(circle, np.zeros((8, FIRST)), np.empty(0), np.array([at, at, at]), squares, 4)
        low, _, high = silent.bounds(16, 0.0)
        rare = 1.001 * np.exp(-2 * at * at / 0.5)
        width = 1 / 17 + 1.001 * math.exp(-4)
        for m, far, least, most in zip(at.tolist(), rare.tolist(), low.tolist(), high.tolist(), strict=True):
            mid = 0.5 + max(min(m / 2, 0.5), -0.5)
            assert least == close(
                max(mid - width if m > -1 else 0.0, 1 - far if m > 0 else 0.0, 0.0), abs=1e-9
            )
            up = min(mid + width if m < 1 else 1.0, far if m < 0 else 1.0)
            assert most == close(max(least, min(up, 1.0)), abs=1e-9)


@pytest.mark.parametrize("multiples", [2, 3, 8])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_running_sums_of_squared_distances_allow_for_their_rounding(n, multiples):
    """Four units for each of the numbers added, and eight more, of the largest that is in them.

    Of k^2 s^2, 4 k s j and 2 j^2 for each coin: of many equal coins, so that it is seen.
    """
    shares, k = np.full(n * 1000, 0.25), np.array([17.0, 40.0])
    parts = np.array([[3.0, 5.0], [1.0, 2.0], [7.0, 8.0]]) * 1e-9
    plain = k * (k * parts[0] - 2 * parts[1]) + parts[2]
    coins = n * 1000
    largest = k * k * coins / 16 + 4 * multiples * k * coins / 4 + 2 * multiples**2 * coins
    wanted = 4 * ((multiples + 1) * coins + 8) * UNIT * largest
    assert plain - _added_up(shares, k, parts, multiples) == close(wanted, rel=1e-6)


class TestRests:
    """A sum without one of its words."""

    @pytest.mark.parametrize("keep", [0.3, 0.5])
    def test_met_in_the_middle(self, keep):
        """Two units for each combination of each half, eight for each value; none for few fair coins."""
        score = made(5, size=2)
        exact = AdditiveScore.from_slopes(-4.5, np.array([1.0, 2, 3, 1, 2]), np.full(5, 2), strict=True)
        variables = Variables.of(exact, keep)
        halves = _halves(variables)
        sums = sorted(3 ** len(half) for half in halves)
        assert sums == [9, 27]
        _, widths = _met(exact, variables, halves, keep)
        wanted = (8 * 15 + 2 * (9 + 27)) * UNIT if keep != 0.5 else 0.0
        assert widths == close(np.full(15, wanted), rel=1e-9)
        assert (_met(score, Variables.of(score, keep), halves, keep)[1] >= wanted).all()

    @pytest.mark.parametrize("sizes", [(25, 25), (26, 25)])
    def test_fair_coins_are_added_without_rounding_up_to_fifty_occurrences(self, sizes):
        """With one more the law itself is rounded."""
        score = AdditiveScore.from_slopes(-9.5, np.ones(2), np.array(sizes), strict=True)
        variables = Variables.of(score, 0.5)
        _, widths = _met(score, variables, _halves(variables), 0.5)
        wanted = 0.0 if sum(sizes) == 50 else (8 + 2) * (sum(sizes) + 2) * UNIT
        assert widths == close(np.full(sum(sizes) + 2, wanted), rel=1e-9)

    def test_by_waves(self):
        """The slope of both polynomials times the error; then angles, products and sums; what lies beyond."""
        for words, rounding in ((20, None), (20, 1e-3), (300, None), (300, 0.1)):
            score = made(words, rounding=rounding, size=2)
            variables = Variables.of(score, 0.5)
            found = Waves.of(score, variables)
            surely = abs(score.bias) + float(np.abs(score.slopes) @ score.sizes)
            degree, values = found.degree, len(variables.values)
            error = score.error + of_sums(score, words)
            wanted = (2 + math.pi) * degree / found.period * error
            wanted += 16 * UNIT * (degree * (1 + surely / found.period) + values * (2 + math.log(degree)))
            if found.period < 2 * surely:
                wanted += 2 * math.exp(-16)
            assert found.slack == close(wanted, rel=1e-9)


class TestChoosers:
    """The bound for a chooser: each number upwards, so that it is above every anchor."""

    @pytest.mark.parametrize("need", [3.0, 7.25, -2.0, 0.0])
    def test_a_need_is_rounded_down(self, need):
        """A need of whole cells counts as less than that many: to bring as much is enough."""
        reach = adaptive.Reach([[(np.array([0.0, 1.0]), np.array([0.5, 0.5]))]], [], need, 1, 0.25)
        assert reach.need == math.floor(need * 4) - (need * 4).is_integer()

    def test_values_are_rounded_up(self):
        """To whole cells, and those that are whole to themselves."""
        cells, weights = adaptive._upwards((np.array([0.0, 0.5, 0.51, 1.0, 1.24]), np.ones(5)), 0.25)
        assert cells == [0, 2, 3, 4, 5]
        assert weights == [1.0] * 5

    @pytest.mark.parametrize("chance", [0.25, 0.5])
    def test_a_bound_is_larger_by_a_part_in_a_million_million(self, chance):
        """Of what was added up; along a text by a part in ten thousand million."""
        coin = [(np.array([0.0, 2.0]), np.array([1 - chance, chance]))]
        reach = adaptive.Reach([coin], [], 1.5, 1, 1.0)
        assert reach.bound(np.ones(1), 0, 0) == close(chance * (1 + 1e-12), rel=1e-15)
        links = Links.of(ChainScore(-0.5, ((0,), (1,)), np.ones(2), np.ones(2, dtype=np.int64)))
        fore = Foresight.of(links, np.ones(2, dtype=bool), chance, 1)
        law, low, high = fore.start()
        table = float(fore.tables[0][0, 0, low])
        assert fore.bound((law, low, high), 0, 0) == close(table * (1 + 1e-10), rel=1e-14)

    @pytest.mark.parametrize("least", [0.0, 0.1, 0.12])
    def test_others_bring_what_is_left_over_besides(self, least):
        """Its mean, what it strays, and the chance that it strays farther; 1e-10 for the running sum."""
        law = np.array([0.5, 0.25, 0.25])
        others = [(np.array([0.0, 1.0 + least, 2.0]), law)] * 3
        step, length = 0.5, 20
        found = adaptive._others(others, step, length)
        rest = np.array([0.0, least, 0.0])
        mean, squares = 3 * float(rest @ law), 3 * least**2
        stray = math.sqrt(0.5 * squares * 14)
        first = math.floor(-(mean + stray) / step - 1e-9)
        sums = {0: 1.0}
        for _ in range(3):
            new = {}
            for have, chance in sums.items():
                for cell, w in zip((0, 2, 4), law.tolist(), strict=True):
                    new[have + cell] = new.get(have + cell, 0.0) + chance * w
            sums = new
        eta = math.exp(-14) if least else 0.0
        for k in range(length):
            tail = sum(chance for cell, chance in sums.items() if cell >= first + k)
            wanted = min(1.0, tail + eta + (3 * 4 + 64) * 2 * UNIT + 1e-10)
            assert found[k] == close(wanted, abs=2e-12)


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_many_lengths_are_looked_at_with_the_error_of_each(keep, monkeypatch):
    """The rows that are handed to a circle: a mean moved by the error either way, squares, and coins."""
    score = made(20, rounding=0.125, bias=-20.0)
    ladder = Ladder.of(score, keep)
    seen = []

    class Watched(Spectra):
        """Remembers its means, squares and terms."""

        def __init__(self, circle, phi, more, means, squares, terms):
            seen.append((means, squares, terms, circle.period))
            super().__init__(circle, phi, more, means, squares, terms)

    monkeypatch.setattr(prefix_tails, "Spectra", Watched)
    prefix_tails.PrefixWaves([ladder], 1e-4, [(7, 4)])
    means, squares, terms, period = seen[0]
    rungs = np.sort(score.slopes)[::-1]
    for row, length in enumerate((7, 6, 5, 4, 0)):
        mean = score.bias + float(rungs[:length].sum()) + float(rungs[length:].sum()) * keep
        assert means[:, row] == close([mean - ladder.error, mean, mean + ladder.error])
        assert squares[row] == close(float(rungs[length:] @ rungs[length:]))
        assert terms[row] == 20
        # What is outside one turn is a twentieth of the finest width.
        assert 2 * math.exp(-0.5 * period[row] ** 2 / float(rungs @ rungs)) == close(2 * 1e-4 / 20)
