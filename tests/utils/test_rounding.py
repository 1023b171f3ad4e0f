"""Shown numbers: rounded, but never over the threshold, nor to certainty."""

import json
import subprocess
from importlib.resources import files

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kedge.results.interval import Interval
from kedge.utils.rounding import percent, rounded, spread

SHARES = st.floats(0, 1)
THRESHOLDS = st.one_of(st.floats(0.01, 1), st.integers(1, 1000).map(lambda k: k / 1000))


@given(SHARES, THRESHOLDS)
@example(0.9499999, 0.95)
@example(0.95, 0.95)
@example(0.99961, 0.9996)
@example(5e-324, 1.0)
def test_rounding_tells_no_lie(share, threshold):
    """What is shown is on the same side of the threshold, certain only if it is, and at most 0.001 off."""
    shown = float(rounded(share, threshold))
    assert (shown >= threshold) == (share >= threshold)
    assert (shown == 1) == (share == 1)
    assert (shown == 0) == (share == 0)
    assert abs(shown - share) <= 0.001
    assert float(rounded(share)) == pytest.approx(share, abs=5e-4 + 5e-4 * (min(share, 1 - share) < 5e-4))


@given(SHARES, SHARES, THRESHOLDS)
@example(0.07000000000000002, 0.5, 0.07000000000000002)
@example(0.1, 0.07000000000000001, 0.07000000000000002)
def test_intervals_are_rounded_outwards(one, other, threshold):
    """An interval never reads as narrower than it is, nor as on another side of the threshold."""
    low, high = sorted((one, other))
    first, last = map(float, spread(Interval(low, low, high), threshold))
    assert first <= low + 1e-12
    assert high - 1e-12 <= last
    assert (first >= threshold, last >= threshold) == (low >= threshold, high >= threshold)


def test_the_number_is_rounded_and_not_cut():
    """The digits a reader expects, and the same ones in per cent."""
    assert (rounded(0.6796875), percent(0.6796875)) == ("0.680", "68%")
    assert (rounded(0.9496, 0.95), percent(0.9496, 0.95)) == ("0.949", "94.9%")
    assert (rounded(0.9496), percent(0.9496)) == ("0.950", "95%")
    assert (rounded(0.9996), percent(0.9996)) == ("0.999", "99.9%")
    assert (rounded(0.0002), percent(0.0002)) == ("0.001", "0.1%")
    assert (percent(1), percent(0), percent(0.2), percent(0.125)) == ("100%", "0%", "20%", "12.5%")
    assert percent(0.99957, 0.9995) == "99.96%"


@pytest.mark.node
def test_the_page_shows_the_same_digits(tmp_path):
    """The workbench's script rounds as the library does."""
    cases = [(k / 1024, t) for k in range(1025) for t in (0.95, 0.5, 0.9996)]
    cases += [
        (0.9496, 0.95),
        (0.94999999, 0.95),
        (1e-9, 0.95),
        (1 - 1e-12, 1.0),
        (0.57, 0.57),
        (0.99961, 0.9996),
        (0.07000000000000002, 0.07000000000000002),
    ]
    source = (files("kedge.workbench") / "static" / "numbers.js").read_text(encoding="utf-8")
    script = tmp_path / "numbers.mjs"
    script.write_text(
        source + f"const cases = {json.dumps(cases)};\n"
        "const plain = cases.map(([s]) => rounded(s)), near = cases.map(([s, t]) => rounded(s, t));\n"
        "const wide = cases.map(([s, t]) => between({ low: s / 2, high: s }, t));\n"
        "console.log(JSON.stringify([plain, near, wide]));\n",
        encoding="utf-8",
    )
    found = subprocess.run(["node", script], capture_output=True, check=True, text=True)  # noqa: S607
    plain, near, wide = json.loads(found.stdout)
    assert plain == [rounded(s) for s, _ in cases]
    assert near == [rounded(s, t) for s, t in cases]
    assert wide == ["between {} and {}".format(*spread(Interval(s / 2, s, s), t)) for s, t in cases]
