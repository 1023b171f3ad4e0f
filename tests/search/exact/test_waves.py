"""Documents that are begun together are answered as each is alone, to the last bit."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators import loudness
from kedge.evaluators.additive import additive_tail
from kedge.model.scores.additive import AdditiveScore
from kedge.search.exact import prefix_tails, waves
from kedge.search.exact.ladder import Ladder
from kedge.search.exact.prefix_tails import PrefixWaves
from kedge.search.exact.prefixes import shortest_prefix
from kedge.search.exact.waves import ALL_COINS, begin_together, by_waves

THRESHOLDS = st.sampled_from([0.6, 0.9, 0.95, 0.999, 1.0])


def scored(rng, words):
    """A score that holds for the whole document: heavy words, equal ones, or whole numbers."""
    sizes = rng.choice([1, 1, 1, 2, 5], words)
    kind = rng.integers(4)
    slopes = [
        rng.normal(size=words),
        rng.standard_cauchy(words),
        rng.choice([-0.3, 0.3, 0.7], words),
        rng.integers(-3, 5, words).astype(float),
    ][kind]
    full = float(slopes @ sizes)
    bias = -full * rng.uniform(0.1, 0.9) if full > 0 else abs(full) + 1.0
    rounding = None if kind == 3 else 1e-13
    return AdditiveScore.from_slopes(round(bias), slopes, sizes, strict=True, rounding=rounding)


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    THRESHOLDS,
    st.sampled_from([0.5, 0.5, 0.3]),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_what_is_begun_together_ends_as_what_is_begun_alone(seed, lengths, threshold, keep, allow_empty):
    """The anchor, whether it is proven, and every interval on the way."""
    rng = np.random.default_rng(seed)
    scores = [scored(rng, words) for words in lengths]
    asked = {"keep": keep, "allow_empty": allow_empty}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waves, "HARMONICS", 1 << 12)
        for score, begun in zip(scores, begin_together(scores, threshold, **asked), strict=True):
            alone, together = (shortest_prefix(score, threshold, **asked, begun=b) for b in (None, begun))
            assert together.kept == alone.kept
            assert (together.proven, together.reached) == (alone.proven, alone.reached)
            assert together.looked == alone.looked


def test_only_what_is_added_up_by_waves_is_begun():
    """Not a few words, whose samples are all added up, nor whole numbers, which lie on a lattice."""
    rng = np.random.default_rng(0)
    many = np.ones(40, dtype=np.int64)
    weights = rng.exponential(size=40)
    real = AdditiveScore.from_slopes(-10.0, weights, many, strict=True, rounding=1e-13)
    whole = AdditiveScore.from_slopes(-10.0, np.rint(4 * weights), many, strict=True)
    few = AdditiveScore.from_slopes(0.1, weights[:ALL_COINS], many[:ALL_COINS], strict=True, rounding=1e-13)
    against = AdditiveScore.from_slopes(99.0, -weights, many, strict=True, rounding=1e-13)
    begun = begin_together([real, whole, few, against], 0.9)
    assert [one is not None for one in begun] == [True, False, False, False]
    assert begin_together([whole, few], 0.9) == [None, None]


@pytest.mark.parametrize("keep", [0.5, 0.2])
def test_ladders_beside_each_other_are_worked_out_as_if_alone(keep):
    """Short and long ones, loud and quiet ones, with every occurrence kept and with none common."""
    rng = np.random.default_rng(1)
    ladders, spans = [], []
    for words, least in ((20, 1), (150, 3), (40, 0), (16, 2), (60, 1)):
        slopes = np.ones(words) if words == 16 else rng.normal(size=words) * (words != 20) + (words == 20)
        ones = np.ones(words, dtype=np.int64)
        score = AdditiveScore.from_slopes(-1.0, slopes, ones, strict=True, rounding=1e-12)
        ladders.append(Ladder.of(score, keep))
        spans.append((len(ladders[-1]) if words in {16, 20} else least + 4, least))
    counts, nothing = [64, 100, 16, 40, 700], [1e-6] * 5
    together = PrefixWaves(ladders, 1e-4, spans)
    tails = together.tails(counts, nothing)
    heard = []
    for d, ladder in enumerate(ladders):
        alone = PrefixWaves([ladder], 1e-4, [spans[d]])
        assert together.looks[d] == alone.looks[0]
        assert tails[d] == alone.tails([counts[d]], [nothing[d]])[0]
        heard.append(bool(alone._loud([counts[d]], [nothing[d]])))
    assert any(heard)
    assert not all(heard)


@pytest.mark.parametrize("keep", [0.5, 0.2])
def test_all_of_several_ladders_may_be_loud(keep):
    """Equal words are heard at every harmonic at which one of them is."""
    ones = np.ones(16, dtype=np.int64)
    score = AdditiveScore.from_slopes(-7.5, np.ones(16), ones, strict=True, rounding=1e-12)
    ladder = Ladder.of(score, keep)
    both = PrefixWaves([ladder, ladder], 1e-4, [(4, 1), (5, 2)]).tails([200, 300], [1e-6, 1e-6])
    for span, count, tails in zip([(4, 1), (5, 2)], [200, 300], both, strict=True):
        assert PrefixWaves([ladder], 1e-4, [span]).tails([count], [1e-6])[0] == tails


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.3]))
@settings(max_examples=40, deadline=None)
def test_what_is_called_quiet_is_quiet(seed, chance):
    """The product of all factors is at most nothing at every later harmonic of a sum that is called quiet."""
    rng = np.random.default_rng(seed)
    sizes = [rng.exponential(size=n) * 0.1 for n in rng.integers(1, 80, rng.integers(1, 5))]
    counts, nothing = rng.integers(16, 200, len(sizes)), np.full(len(sizes), 1e-4)
    starts = np.cumsum([0, *(len(part) for part in sizes[:-1])])
    quiet = loudness.is_quiet(np.concatenate(sizes), starts, counts, nothing, chance)
    for part, count, said in zip(sizes, counts, quiet, strict=True):
        k = np.arange(17, count + 1)
        lost = 4.0 * chance * (1.0 - chance) * np.sin(np.pi * np.multiply.outer(k, part)) ** 2
        loud = np.sqrt(np.maximum(1.0 - lost, 0.0)).prod(axis=1) > 1e-4
        assert not (said and loud.any())
        if count == 16:
            assert said


def test_a_sum_that_is_quiet_is_asked_about_no_further(monkeypatch):
    """Of several ladders only those that may be loud are looked at one by one."""
    rng = np.random.default_rng(2)
    asked = []
    monkeypatch.setattr(
        prefix_tails,
        "loud_harmonics",
        lambda *given, **how: asked.append(given[2]) or loudness.loud_harmonics(*given, **how),
    )
    ladders = []
    for slopes in (rng.normal(size=200), np.ones(16)):
        ones = np.ones(len(slopes), dtype=np.int64)
        score = AdditiveScore.from_slopes(-1.0, slopes, ones, strict=True, rounding=1e-12)
        ladders.append(Ladder.of(score, 0.5))
    PrefixWaves(ladders, 1e-4, [(5, 1), (5, 1)]).tails([150, 160], [1e-6, 1e-6])
    assert asked == [160]


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_looks_get_closer_until_the_answer_is_told(keep, monkeypatch):
    """Each aims at the narrowest width that is needed, and hears all but a thousandth of it."""
    aims, looks = [], []
    widths, tails = waves._widths, PrefixWaves.tails

    def watched(look, threshold, aim):
        found = widths(look, threshold, aim)
        aims.append((aim, min(found)))
        return found

    def heard(self, counts, nothing):
        looks.append((counts[0], nothing[0], aims[-1][1]))
        return tails(self, counts, nothing)

    monkeypatch.setattr(waves, "HARMONICS", 1 << 16)
    monkeypatch.setattr(waves, "_widths", watched)
    monkeypatch.setattr(PrefixWaves, "tails", heard)
    rng, closer = np.random.default_rng(4), 0
    for _ in range(4):
        slopes = rng.exponential(size=40) * rng.choice([1, 1, -1], 40)
        score = AdditiveScore.from_slopes(
            -0.5 * float(slopes.sum()), slopes, np.ones(40, dtype=np.int64), strict=True, rounding=1e-13
        )
        ladder = Ladder.of(score, keep)
        at = shortest_prefix(score, 0.9, keep=keep).tail.mean
        for threshold in (0.9, at - 2e-5, at + 2e-5):
            aims.clear()
            looks.clear()
            shortest_prefix(score, threshold, keep=keep)
            assert all(nothing == pytest.approx(1e-3 * aim, rel=1e-12, abs=0.0) for *_, nothing, aim in looks)
            assert all(16 <= count <= waves._most(ladder) for count, *_ in looks)
            closer += len(looks) > 1
    assert closer


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("threshold", [0.3, 0.8, 0.95, 1.0])
def test_a_guess_is_the_first_length_that_a_gaussian_says_reaches(threshold, keep):
    """Of the same mean and variance, or all that there is."""
    rng = np.random.default_rng(3)
    for words in (1, 2, 5, 30, 200):
        slopes = rng.normal(0.3, 1.0, words)
        slopes[0] = 1.0
        score = AdditiveScore.from_slopes(
            -0.4 * float(np.abs(slopes).sum()), slopes, np.ones(words, dtype=np.int64), strict=True
        )
        ladder = Ladder.of(score, keep)
        z = NormalDist().inv_cdf(min(threshold, 1 - 2.0**-53)) if threshold > 0.5 else 0.0
        for shortest in (0, 1):
            length = shortest
            while length < len(ladder):
                kept, free = ladder.rungs[:length], np.append(ladder.rungs[length:], -ladder.drops)
                mean = score.bias + float(kept.sum()) + keep * float(free.sum())
                if mean >= 0 and mean >= z * math.sqrt(keep * (1 - keep) * float(free @ free)):
                    break
                length += 1
            assert waves.guess(ladder, threshold, shortest) == max(length, min(shortest, len(ladder)))


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_all_that_helps_may_be_looked_at_from_the_beginning(keep):
    """Few words speak for the label and many against it: a close call takes further looks all the same."""
    rng, told = np.random.default_rng(8), 0
    slopes = np.append(np.array([9.0, 8.0, 7.0, 6.0]), -rng.exponential(size=24))
    score = AdditiveScore.from_slopes(-9.0, slopes, np.ones(28, dtype=np.int64), strict=True, rounding=1e-13)
    for length in (1, 2, 3):
        counts = (np.arange(28) < length).astype(np.int64)
        at = additive_tail(score, counts, keep, width=1e-9).mean
        for threshold, expected in ((at - 3e-4, length), (at + 3e-4, length + 1)):
            if 0.0 < threshold < 1.0:
                found = by_waves(Ladder.of(score, keep), threshold, 1, None)
                assert min(waves.reaching(found, threshold, 1)) == expected
                assert waves.proven(found, threshold, 1)
                told += 1
    assert told > 3
