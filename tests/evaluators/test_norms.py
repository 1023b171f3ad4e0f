"""The norm that a lead is divided by: its range, and the two sums around the lead, by their formulas."""

import math

import numpy as np
import pytest
from leading import random_leads

from kedge.evaluators import leads as leads_module
from kedge.evaluators.leads import Cells, Lead, _around, _beside, _range, lead_tails
from kedge.evaluators.wordsums import Between
from kedge.results.interval import Interval


def words_of(lead, kept):
    """For each word what its counts add to lead and squared norm, and their chances."""
    leads, rows = lead.leads, []
    for j, (k, m) in enumerate(zip(kept.tolist(), leads.sizes.tolist(), strict=True)):
        x = leads.features[j, k : m + 1]
        n = m - k
        law = [math.comb(n, c) * lead.keep**c * (1 - lead.keep) ** (n - c) for c in range(n + 1)]
        rows.append((leads.weights[j, lead.rival] * x, x * x, np.array(law)))
    return rows


def drawn(count, *, normed, keep=0.5, outside=1e-2):
    """Leads of several documents, each with an anchor."""
    rng = np.random.default_rng(count)
    for _ in range(count):
        leads = random_leads(rng, normed=normed)
        kept = np.array([rng.integers(0, m + 1) if rng.random() < 0.4 else 0 for m in leads.sizes])
        yield Lead(leads, 0, keep, outside), kept


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_what_words_bring_given_an_anchor(keep):
    """Counts from those kept on; one document after another."""
    each = list(drawn(12, normed=True, keep=keep))
    for lead, kept in each:
        cells, rows = lead.given(kept), words_of(lead, kept)
        assert cells.often.tolist() == [len(w) for *_, w in rows]
        assert cells.starts.tolist() == [sum(len(w) for *_, w in rows[:j]) for j in range(len(rows))]
        for k, name in enumerate(("parts", "squares", "law")):
            assert getattr(cells, name) == pytest.approx(np.concatenate([row[k] for row in rows]))
    joined, words = _beside([lead.given(kept) for lead, kept in each])
    assert words.tolist() == [len(kept) for _, kept in each]
    for name in ("parts", "squares", "law", "often"):
        alone = np.concatenate([getattr(lead.given(kept), name) for lead, kept in each])
        assert getattr(joined, name).tolist() == alone.tolist()


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("log_eta", [2.0, 9.0])
def test_the_range_of_a_norm_is_chernoffs_bound(keep, log_eta):
    """At the rate of a Gaussian: mean +- (ln 1/eta + ln E e^(+-r (D - mean))) / r, and a part in 1e9 more."""
    each = list(drawn(12, normed=True, keep=keep))
    cells, words = _beside([lead.given(kept) for lead, kept in each])
    low, high, variance = _range(cells, words, log_eta)
    for s, (lead, kept) in enumerate(each):
        laws = [(d, w) for _, d, w in words_of(lead, kept)]
        mean = math.fsum(float(d @ w) for d, w in laws)
        spread = math.fsum(float((d - d @ w) ** 2 @ w) for d, w in laws)
        assert variance[s] == pytest.approx(spread, rel=1e-9, abs=1e-12)
        if spread < 1e-12:
            assert low[s] == high[s] == pytest.approx(mean)
            continue
        rate = math.sqrt(2 * log_eta / spread)
        for end, sign in ((low[s], -1), (high[s], 1)):
            growth = math.fsum(math.log(float(w @ np.exp(sign * rate * (d - d @ w)))) for d, w in laws)
            away = (log_eta + growth) / rate
            assert sign * (end - mean) == pytest.approx(away * (1 + 1e-9), rel=3e-12, abs=1e-12)
            assert sign * (end - mean) >= away + 1e-10 * away


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("outside", [1e-2, 0.0])
def test_a_tangent_and_a_chord(keep, outside):
    """Of one slope, with the same mean of the roots; how often each fails; where the lead is as a rule."""
    each = list(drawn(30, normed=True, keep=keep, outside=outside)) + list(
        drawn(2, normed=False, keep=keep, outside=outside)
    )
    cells, words = _beside([lead.given(kept) for lead, kept in each])
    score, slope = _around(each, cells, words)
    seen = set()
    for s, (lead, kept) in enumerate(each):
        found = [
            float(getattr(score, name)[s]) for name in ("low", "high", "likely", "spare_low", "spare_high")
        ]
        b = lead.bias
        if not lead.curved:
            assert found == [b, b, b, 0.0, 0.0]
            assert slope[s] == 0.0
            continue
        own = lead.given(kept)
        low, high, variance = (
            float(x[0]) for x in _range(own, np.array([len(kept)]), math.log(2 / max(outside, 1e-300)))
        )
        rows = words_of(lead, kept)
        least, most = (sum(float(d[k]) for _, d, _ in rows) for k in (0, -1))
        low, high = (max(low, least), min(high, most)) if outside else (least, most)
        middle = (math.sqrt(low) + math.sqrt(high)) / 2
        tangent, chord = b * middle / 2, b * math.sqrt(low * high) / (2 * middle)
        empty = 0.0 if kept.any() else (1 - keep) ** int(lead.leads.sizes.sum())
        ends = [(tangent, empty), (chord, outside + empty)]
        (bottom, spare_low), (top, spare_high) = ends if b < 0 else ends[::-1]
        likely = tangent - b * variance / (8 * middle**3)
        assert found == pytest.approx([bottom, top, likely, spare_low, spare_high], rel=1e-9, abs=1e-12)
        assert slope[s] == pytest.approx(b / (2 * middle))
        seen.add((b < 0, bool(kept.any())))
    assert seen == {(True, True), (True, False), (False, True), (False, False)}


def test_without_a_norm_both_sums_are_the_lead():
    """Nothing is worked out."""
    each = list(drawn(3, normed=False))
    cells, words = _beside([lead.given(kept) for lead, kept in each])
    score, slope = _around(each, cells, words)
    assert isinstance(score, Between)
    assert slope.tolist() == [0.0] * 3
    bias = [lead.bias for lead, _ in each]
    assert score.low.tolist() == score.high.tolist() == score.likely.tolist() == bias
    assert score.spare_low.tolist() == score.spare_high.tolist() == [0.0] * 3


def test_words_that_cannot_come_up_leave_the_range_as_it_is():
    """A chance of zero weighs nothing, however large the word is."""
    law = np.array([0.5, 0.5, 0.0, 1.0])
    squares = np.array([0.0, 1.0, 1e200, 4.0])
    cells = Cells(np.zeros(4), squares, law, np.array([3, 1]))
    found = _range(cells, np.array([2]), 3.0)
    plain = Cells(np.zeros(3), squares[[0, 1, 3]], law[[0, 1, 3]], np.array([2, 1]))
    assert [float(x[0]) for x in found] == pytest.approx(
        [float(x[0]) for x in _range(plain, np.array([2]), 3.0)]
    )


@pytest.mark.parametrize("normed", [True, False])
def test_a_closer_look_leaves_what_both_looks_leave(normed, monkeypatch):
    """With a norm by the joint law, on the slope of the sums around the lead; else by more harmonics."""
    known, closer = Interval(0.6, 0.7, 0.8), Interval(0.5, 0.65, 0.75)
    seen = []

    class Told:
        """A joint law whose answers are given."""

        def __init__(self, *given):
            seen.append(given)

        def tail(self, target):
            """What is to be said, if anything."""
            seen.append(target)
            return answers.pop()

    monkeypatch.setattr(leads_module, "Plane", Told)
    monkeypatch.setattr(
        Lead, "tail", lambda _, kept, threshold, width: seen.append((kept, threshold, width)) or closer
    )
    for lead, kept in drawn(6, normed=normed):
        seen.clear()
        answers = [None, closer]
        assert lead.finer(kept, 0.01, known) == Interval(0.6, 0.65, 0.75)
        if not lead.curved:
            assert seen == [(kept, None, 0.01)]
            continue
        parts, squares, sizes, same, keep, bias, middle, error = seen[0]
        _, slope = _around([(lead, kept)], lead.given(kept), np.array([len(kept)]))
        assert parts == pytest.approx(lead.leads.parts(0) + slope[0] * lead.leads.squares)
        assert squares is lead.leads.squares
        assert sizes is lead.leads.sizes
        assert (same is kept, keep, bias, error) == (True, 0.5, lead.bias, lead.error)
        assert middle == pytest.approx(lead.bias / (2 * slope[0]))
        assert seen[1] == 0.01
        assert lead.finer(kept, 0.01, known) == known


def test_many_leads_are_looked_at_in_pieces_that_fit(monkeypatch):
    """So many counts at a time, at least one lead; each as it is alone."""
    each = list(drawn(14, normed=True))
    alone = [lead_tails([one])[0] for one in each]
    sizes = [len(lead.leads.cells) for lead, _ in each]
    pieces = []
    whole = leads_module._beside_each_other
    monkeypatch.setattr(
        leads_module, "_beside_each_other", lambda part, *how: pieces.append(len(part)) or whole(part, *how)
    )
    for room in (1, 30, 60, 10**6):
        monkeypatch.setattr(leads_module, "_CELLS", room)
        pieces.clear()
        assert lead_tails(each) == alone
        wanted, at = [], 0
        while at < len(each):
            n = 1
            while at + n < len(each) and sum(sizes[at : at + n + 1]) <= room:
                n += 1
            wanted.append(n)
            at += n
        assert pieces == wanted
