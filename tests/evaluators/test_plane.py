"""The joint law of a sum and a norm: every step of it on cells where it can be worked out by hand."""

import math
from itertools import product

import numpy as np
import pytest

from kedge.evaluators.grids import plane
from kedge.evaluators.grids.plane import Plane, _Grid, _moments

SPARE = 1e-12 + 3 * math.exp(-10)


def made(bias, middle=1.0, error=0.0):
    """A score of which only the curve and its error are looked at."""
    none = np.zeros((1, 2))
    return Plane(none, none, np.array([1]), np.array([0]), 0.5, bias, middle, error)


def outcomes(laws):
    """(T, D, chance) of every combination."""
    for picks in product(*(range(len(w)) for _, _, w in laws)):
        chosen = [(t[i], d[i], w[i]) for (t, d, w), i in zip(laws, picks, strict=True)]
        yield sum(t for t, _, _ in chosen), sum(d for _, d, _ in chosen), math.prod(w for *_, w in chosen)


LAWS = [
    (np.array([0.0, 0.5]), np.array([0.0, 1.0]), np.array([0.5, 0.5])),
    (np.array([0.0, -0.75]), np.array([0.0, 1.0]), np.array([0.5, 0.5])),
    (np.array([0.0, 1.0]), np.array([0.0, 2.0]), np.array([0.25, 0.75])),
    (np.array([0.0, -0.25, 1.5]), np.array([0.0, 1.0, 4.0]), np.array([0.25, 0.5, 0.25])),
]


@pytest.mark.parametrize("bias", [0.7, -0.7])
@pytest.mark.parametrize("error", [0.0, 0.3])
@pytest.mark.parametrize("fixed", [(0.1, 0.5), (-1.1, 2.25), (-0.4, 0.0)])
def test_where_values_are_whole_cells_only_the_error_is_open(bias, error, fixed):
    """The curve is looked at in the middle of each row; what may stray counts three times, rounding once."""
    score = made(bias, 1.5, error)
    found = score._on_cells(LAWS, fixed, (0.25, 0.5), (20, 20))
    total, norm = fixed
    low = high = 0.0
    for t, d, chance in outcomes(LAWS):
        value = total + t + bias * (math.sqrt(norm + d) - (norm + d) / 3.0)
        low += chance * (value > error)
        high += chance * (value >= -error)
    assert found.low == pytest.approx(max(low - SPARE, 0.0), abs=1e-13)
    assert found.high == pytest.approx(min(high + SPARE, 1.0), abs=1e-13)
    assert found.mean == pytest.approx((low + high) / 2, abs=1e-13)


def test_a_value_at_the_border_is_of_neither_side():
    """Zero itself is above no bound from below, and below none from above."""
    found = made(0.0)._on_cells(LAWS[:2], (0.25, 0.0), (0.25, 0.5), (20, 20))
    values = [(0.25 + t, chance) for t, _, chance in outcomes(LAWS[:2])]
    assert 0.0 in [value for value, _ in values]
    assert found.low == pytest.approx(sum(c for v, c in values if v > 0) - SPARE, abs=1e-13)
    assert found.high == pytest.approx(sum(c for v, c in values if v >= 0) + SPARE, abs=1e-13)


@pytest.mark.parametrize("rows", [0.07, 0.4])
@pytest.mark.parametrize("columns", [0.07, 0.4])
@pytest.mark.parametrize("fixed", [(0.1, 0.5), (-1.1, 2.25), (-0.6, 0.0)])
def test_what_is_rounded_off_moves_the_middle_and_opens_the_ends(rows, columns, fixed):
    """By its mean; and by Hoeffding's reach of its squared ranges, of the sum and of the norm."""
    bias, middle = 0.9, 1.3
    found = made(bias, middle)._on_cells(LAWS, fixed, (columns, rows), (60, 60))
    total, norm = fixed
    rests, places = np.zeros(2), []
    for t, d, w in LAWS:
        cells = [np.rint(x / step) for x, step in ((t, columns), (d, rows))]
        left = [x - c * step for x, c, step in zip((t, d), cells, (columns, rows), strict=True)]
        total, norm = total + float(left[0] @ w), norm + float(left[1] @ w)
        rests += [np.ptp(x) ** 2 for x in left]
        places.append((cells[0], cells[1], w))
    off_t, off_d = np.sqrt(0.5 * 10 * rests)
    low = high = 0.0
    for t, d, chance in outcomes(places):
        about = np.linspace(norm + rows * d - off_d, norm + rows * d + off_d, 2001)
        about = np.append(np.maximum(about, 0.0), np.clip(middle**2, max(about[0], 0.0), max(about[-1], 0.0)))
        curve = bias * (np.sqrt(about) - about / (2 * middle))
        low += chance * (total + columns * t + curve.min() > off_t)
        high += chance * (total + columns * t + curve.max() >= -off_t)
    assert found.low == pytest.approx(max(low - SPARE, 0.0), abs=1e-12)
    assert found.high == pytest.approx(min(high + SPARE, 1.0), abs=1e-12)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("off", [0.75, 1.25])
def test_rounding_of_large_numbers_is_allowed_for(side, off):
    """A part in a million million of the constant, and of the grid's half."""
    coin = [(np.array([0.0, 0.5]), np.zeros(2), np.array([0.5, 0.5]))]
    score = made(-2e12, 1.0)  # its curve is -1e12 at a norm of one
    found = score._on_cells(coin, (1e12 + side * off - 0.25, 1.0), (0.5, 1.0), (8, 2))
    inside = [side * off - 0.25, side * off + 0.25]  # and the margin is one
    assert found.low == pytest.approx(max(sum(v > 1 for v in inside) / 2 - SPARE, 0), abs=1e-12)
    assert found.high == pytest.approx(min(sum(v >= -1 for v in inside) / 2 + SPARE, 1), abs=1e-12)
    # The same of a grid that reaches as far, around a small constant.
    wide = [(np.array([0.0, 1e12]), np.zeros(2), np.array([0.5, 0.5]))]
    for where, least, most in ((2.5, 0.5, 1.0), (3.5, 1.0, 1.0), (-2.5, 0.5, 1.0), (-3.5, 0.5, 0.5)):
        found = made(0.0)._on_cells(wide, (where, 1.0), (1e12, 1.0), (3, 2))
        assert found.low == pytest.approx(least - SPARE, abs=1e-12)
        assert found.high == pytest.approx(min(most + SPARE, 1.0), abs=1e-12)


@pytest.mark.parametrize("bias", [0.8, -0.8])
@pytest.mark.parametrize("off", [0.0, 0.3, 5.0])
def test_the_curve_between_two_norms(bias, off):
    """Its ends, and its top where that lies between; below a norm of zero it is that of zero."""
    score = made(bias, 1.2)
    norms = np.array([-1.0, 0.0, 0.1, 1.0, 1.3, 1.44, 1.7, 4.0, 9.0])
    least, most = score._curve(norms, off)
    for k, norm in enumerate(norms.tolist()):
        about = np.maximum(np.linspace(norm - off, norm + off, 20_001), 0.0)
        curve = bias * (np.sqrt(about) - about / 2.4)
        assert least[k] <= curve.min() + 1e-12
        assert curve.max() - 1e-12 <= most[k]
        assert (least[k], most[k]) == pytest.approx((curve.min(), curve.max()), abs=2e-3)


@pytest.mark.parametrize("size", [(8, 9), (2, 3), (1, 40), (40, 1)])
@pytest.mark.parametrize("seed", range(4))
def test_a_window_holds_what_stays_in_it(size, seed):
    """Cell by cell: fair coins, uneven ones, and values that next to never come up; the rest is lost."""
    height, width = size
    rng = np.random.default_rng(seed)
    grid, law, middle = _Grid(height, width), {(0, 0): 1.0}, [0, 0]
    ahead = np.zeros(2)
    for k in range(9):
        n = 2 if k % 3 else 3
        places = [tuple(p) for p in rng.integers(-3, 4, (n, 2)).tolist()]
        weights = [0.5, 0.5] if n == 2 and k % 2 else rng.dirichlet(np.ones(n)).tolist()
        if n == 3 and seed == 3:
            weights = [1 - 1e-17, 1e-17, 0.0]
        grid.add(places, weights)
        ahead += np.array(places).T @ weights
        stays = min(
            places,
            key=lambda at: (
                ((ahead[0] - at[0]) / (2 * height + 1)) ** 2 + ((ahead[1] - at[1]) / (2 * width + 1)) ** 2
            ),
        )
        ahead -= stays
        middle = [middle[0] + stays[0], middle[1] + stays[1]]
        new = {}
        for (row, column), chance in law.items():
            for (down, right), w in zip(places, weights, strict=True):
                at = row + down, column + right
                if abs(at[0] - middle[0]) <= height and abs(at[1] - middle[1]) <= width:
                    new[at] = new.get(at, 0.0) + chance * w
        law = new
    assert (grid.row, grid.column) == tuple(middle)
    found = grid.law()
    wanted = np.zeros((2 * height + 1, 2 * width + 1))
    for (row, column), chance in law.items():
        wanted[row - middle[0] + height, column - middle[1] + width] = chance
    assert found == pytest.approx(wanted, abs=1e-15)


def test_what_is_lost_counts_for_both_sides():
    """A window too small for its law: the interval is wider by what left it."""
    coins = [(np.array([-1.0, 1.0]), np.zeros(2), np.array([0.5, 0.5]))] * 6
    found = made(0.0)._on_cells(coins, (0.5, 1.0), (1.0, 1.0), (3, 1))
    grid = _Grid(1, 3)
    for _ in coins:
        grid.add([(0, -1), (0, 1)], [0.5, 0.5])
    lost = 1.0 - float(grid.law().sum())
    assert lost > 0.01
    values = {c - 3 + grid.column + 0.5: p for c, p in enumerate(grid.law()[1].tolist())}
    assert found.low == pytest.approx(sum(p for v, p in values.items() if v > 0) - lost - SPARE, abs=1e-12)
    assert found.high == pytest.approx(sum(p for v, p in values.items() if v > 0) + lost + SPARE, abs=1e-12)


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_what_is_kept_for_sure_is_a_constant(keep, monkeypatch):
    """Words that are kept whole, and what each count of the others adds."""
    parts = np.arange(12.0).reshape(4, 3) ** 1.5
    squares = np.arange(12.0).reshape(4, 3)
    sizes, kept = np.array([2, 1, 2, 1]), np.array([1, 1, 0, 0])
    seen = []
    monkeypatch.setattr(Plane, "_on_cells", lambda _, *given: seen.append(given))
    Plane(parts, squares, sizes, kept, keep, 0.5, 1.0, 0.0).tail(0.05)
    laws, fixed, size, extent = seen[0]
    assert fixed == (pytest.approx(parts[1, 1]), pytest.approx(squares[1, 1]))
    wanted = [(0, 1, [1 - keep, keep]), (2, 0, [(1 - keep) ** 2, 2 * keep * (1 - keep), keep**2])]
    wanted.append((3, 0, [1 - keep, keep]))
    for (t, d, w), (j, first, law) in zip(laws, wanted, strict=True):
        assert t.tolist() == parts[j, first : sizes[j] + 1].tolist()
        assert d.tolist() == squares[j, first : sizes[j] + 1].tolist()
        assert w == pytest.approx(law)
    assert min(*size, *extent) > 0
    # Nothing to be worked out where there is nothing left to chance, of the sum or of the norm.
    flat = np.zeros((4, 3))
    for t, d in ((flat, squares), (parts, flat)):
        assert Plane(t, d, sizes, kept, keep, 0.5, 1.0, 0.0).tail(0.05) is None
    assert len(seen) == 1
    monkeypatch.setattr(plane, "_BUDGET", 10)
    assert Plane(parts, squares, sizes, kept, keep, 0.5, 1.0, 0.0).tail(0.05) is None


def test_mean_and_deviation_of_a_sum():
    """Of independent values, and a constant."""
    few = np.array([0.0, 1.0]), np.array([0.25, 0.75])
    more = np.array([1.0, 2.0, 5.0]), np.array([0.5, 0.3, 0.2])
    mean, deviation = _moments([few, more], 3.0)
    assert mean == pytest.approx(3 + 0.75 + 2.1)
    assert deviation == pytest.approx(math.sqrt(0.75 * 0.25 + 0.5 * 1.1**2 + 0.3 * 0.1**2 + 0.2 * 2.9**2))
