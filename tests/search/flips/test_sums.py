"""The fewest removed words of sums over words: ties, several leads, and proofs that are given up."""

from itertools import product

import numpy as np

from kedge.model.scores.additive import AdditiveScore
from kedge.search.flips import sums
from kedge.search.flips.sums import lose_sum, win_all_leads


def linear(bias, slopes, *, strict=True):
    sizes = np.ones(len(slopes), dtype=np.int64)
    return AdditiveScore.from_slopes(bias, np.array(slopes), sizes, strict=strict)


def fewest(sizes, lost):
    """How few removals lose the label, by trying all; None if none do."""
    removals = np.array(list(product(*(range(m + 1) for m in sizes))))
    losing = removals[lost(sizes - removals)]
    return int(losing.sum(axis=1).min()) if len(losing) else None


def won(leads):
    return lambda counts: np.all([lead.score(counts) > 0 for lead in leads], axis=0)


def random_leads(seed):
    """Three leads over seven words, all of them behind; in quarters, so that there are ties."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 3, 7)
    slopes = np.rint(rng.normal(size=(3, 7)) * 4) / 4
    now = -np.abs(np.rint(rng.normal(size=3) * 4) / 4) - 0.25
    biases = now - slopes @ sizes
    return [
        AdditiveScore.from_slopes(float(bias), own, sizes, strict=True)
        for bias, own in zip(biases, slopes, strict=True)
    ]


def test_a_tie_that_keeps_the_label_takes_one_word_more():
    """Without one word the score is zero, which the model calls the label; without two it is lost."""
    score = linear(-1.0, [1.0, 1.0], strict=False)
    cut = lose_sum(score, lambda counts: ~score.holds(counts))
    assert (cut.removed.tolist(), cut.proven) == ([1, 1], False)


def test_a_score_that_cannot_fall_below_zero_keeps_the_label():
    """Nothing is left, and the score is zero: the model was asked, and still says the label."""
    score = linear(0.0, [1.0], strict=False)
    assert lose_sum(score, lambda counts: ~score.holds(counts)) is None


def test_all_leads_are_won_with_as_few_removals_as_brute_force():
    """Where one removal after the other would take more, branch and bound finds fewer."""
    for seed in range(60):
        leads = random_leads(seed)
        cut, best = win_all_leads(leads, won(leads)), fewest(leads[0].sizes, won(leads))
        assert (cut is None) == (best is None)
        if cut is not None:
            assert won(leads)((leads[0].sizes - cut.removed)[None])[0]
            assert len(cut) == best or not cut.proven


def test_a_tie_wins_no_lead():
    """Without one word the lead is zero but for rounding; the model says that it is not won."""
    lead = linear(1.0, [-1.0, -1.0])
    cut = win_all_leads([lead], won([lead]))
    assert (cut.removed.tolist(), cut.proven) == ([1, 1], False)


def test_a_proof_that_does_not_end_is_given_up(monkeypatch):
    """What was found one by one is the answer then, and not called the fewest."""
    monkeypatch.setattr(sums, "_NODES", 0)
    several = 0
    for seed in range(60):
        leads = random_leads(seed)
        cut = win_all_leads(leads, won(leads))
        if cut is not None:
            assert won(leads)((leads[0].sizes - cut.removed)[None])[0]
            assert len(cut) == fewest(leads[0].sizes, won(leads)) or not cut.proven
            several += not cut.proven
    assert several > 5
