"""Samples that are counted, none more and none less."""

import math
from fractions import Fraction

import numpy as np
import pytest
from readings import reading_of

import kedge
from kedge.results.interval import Interval
from kedge.search.exact import pooled
from kedge.search.exact.pooled import Estimates, Pool, draw_hits


def test_every_sample_that_holds_is_counted_once():
    """A label that always holds does so in all samples; one that a word decides, in those that have it."""
    always = reading_of(kedge.WordWeights({"good": 1.0, "film": 1.0}, intercept=5.0), "good film")
    assert draw_hits(always, (), 1_000, np.random.default_rng(0)) == 1_000
    word = reading_of(kedge.rules.present("good"), "good film")
    assert draw_hits(word, (0,), 1_000, np.random.default_rng(0)) == 1_000
    sampled = word.sample((), 1_000, np.random.default_rng(0))
    assert draw_hits(word, (), 1_000, np.random.default_rng(0)) == int(word.holds(sampled).sum())


def test_pools_of_very_long_texts_have_fewer_samples(monkeypatch):
    """As many as fit into memory, and the best words are the same."""
    reading = reading_of(kedge.rules.present("good"), "good film here")
    every = Pool(reading, (), 1_000, np.random.default_rng(0))
    monkeypatch.setattr(pooled, "_CELLS", 100 * len(reading.units))
    fewer = Pool(reading, (), 1_000, np.random.default_rng(0))
    assert (len(every.held), len(fewer.held)) == (1_000, 100)
    assert every.longer(1, 1)[0] == fewer.longer(1, 1)[0] == (1.0, (0,))


class Drawn:
    """A reading whose samples are given, row by row."""

    def __init__(self, sizes, rows, holds):
        self.sizes, self.rows, self.held = np.array(sizes), np.array(rows), np.array(holds)
        self.units, self.asked = self, 0

    def __len__(self):
        return len(self.sizes)

    def counts(self, kept):
        """How many of each unit an anchor keeps."""
        return np.bincount(np.array(kept, dtype=int), minlength=len(self.sizes))

    def sample(self, kept, n, _):
        """The next rows, those of the anchor kept."""
        at = slice(self.asked, self.asked + n)
        self.asked += n
        assert (self.rows[at] >= self.counts(kept)).all()
        return self.rows[at]

    def holds(self, counts):
        """What is given for these rows."""
        return self.held[self.asked - len(counts) : self.asked]


def weighed(rows, holds, have, sizes, *units):
    """The share that holds, of rows weighed by how likely they keep given occurrences more."""
    total = hits = Fraction(0)
    for row, held in zip(rows, holds, strict=True):
        weight, taken = Fraction(1), list(have)
        for j in units:
            if sizes[j] == taken[j]:
                return None
            weight *= Fraction(int(row[j]) - taken[j], sizes[j] - taken[j])
            taken[j] += 1
        total, hits = total + weight, hits + weight * bool(held)
    return hits / total if total > Fraction(1, 2) else None


@pytest.mark.parametrize("kept", [(), (1,), (1, 3, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_what_a_pool_says_of_longer_anchors(seed, kept, monkeypatch):
    """Of each by the rows weighed with the chance that they keep it; the best first, those unknown last."""
    monkeypatch.setattr(pooled, "pieces", lambda n, _: [slice(k, min(k + 7, n)) for k in range(0, n, 7)])
    rng, sizes = np.random.default_rng(seed), [1, 2, 4, 3, 1]
    have = np.bincount(np.array(kept, dtype=int), minlength=5)
    rows = have + rng.binomial(np.array(sizes) - have, 0.5, (40, 5))
    rows[:, 4] = 0  # never kept: nothing is known of it
    holds = rng.random(40) < 0.2 + 0.6 * rows[:, 2] / 4
    found = Pool(Drawn(sizes, rows, holds), kept, 40, rng)
    one = {j: share for j in range(5) if (share := weighed(rows, holds, have, sizes, j)) is not None}
    for number in (1, 3):
        best = sorted(one, key=lambda j: (-one[j], j))[:number]
        assert found.longer(1, number) == [
            (pytest.approx(float(one[j]), rel=1e-12), tuple(sorted((*kept, j)))) for j in best
        ]
    both = {}
    for i in range(5):
        for j in range(i, 5):
            if (share := weighed(rows, holds, have, sizes, i, j)) is not None:
                both[tuple(sorted((*kept, i, j)))] = float(share)
    pairs = found.longer(2, 100)
    assert {anchor: share for share, anchor in pairs} == pytest.approx(both)
    assert len(pairs) == len(both)
    shares = [share for share, _ in pairs]
    assert shares == sorted(shares, reverse=True)
    assert len(found.longer(2, 2)) == 2


def test_pairs_are_made_of_the_words_that_are_best_alone(monkeypatch):
    """So many of them."""
    monkeypatch.setattr(pooled, "_PAIRED", 2)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (60, 4))
    holds = rows[:, 1] + rows[:, 3] > 0
    found = Pool(Drawn([1] * 4, rows, holds), (), 60, rng)
    assert found.longer(2, 10) == [(1.0, (1, 3))]
    assert {kept for _, kept in found.longer(1, 4)} == {(1,), (3,)}


@pytest.mark.parametrize("share", [0.0, 0.5, 0.83, 0.86, 0.88, 0.9, 0.92, 0.93, 0.97, 1.0])
def test_a_look_goes_on_while_the_threshold_is_near(share, monkeypatch):
    """Within 2.5 standard errors; twice as many samples each time, up to eight times the first."""
    asked = []
    monkeypatch.setattr(pooled, "draw_hits", lambda _, __, n, ___: asked.append(n) or round(share * n))
    monkeypatch.setattr(pooled, "table_size", lambda *_: pooled._FEW + 1)
    estimates = Estimates(None, 0.9, 100, None)
    found = estimates((3,))
    looks = []
    for n in (100, 200, 400, 800):
        looks.append(n)
        error = math.sqrt(max(share * (1 - share), 1 / n) / n)
        if open_ := abs(share - 0.9) <= 2.5 * error:
            continue
        break
    assert np.cumsum(asked).tolist() == looks
    assert found == pytest.approx(share, abs=1e-12)
    assert estimates.reaches((3,)) == (share >= 0.9)
    assert np.cumsum(asked).tolist() == looks  # what is known is not drawn again
    # The last look is by all samples, where they are few and the shares do not tell.
    monkeypatch.setattr(pooled, "table_size", lambda *_: pooled._FEW)
    monkeypatch.setattr(pooled, "anchor_precision", lambda *_: Interval.exactly(0.25))
    assert Estimates(None, 0.9, 100, None)((3,)) == (0.25 if open_ else found)
