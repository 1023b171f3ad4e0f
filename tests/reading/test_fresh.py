"""Samples of a proof that anybody can draw again."""

from hashlib import sha256, shake_256

import numpy as np
import pytest
from readings import reading_of

import kedge
from kedge.reading.fresh import FreshSamples

TEXT = "so so so good, and so very good"


def ask(texts):
    return [int("good" in text) for text in texts]


def samples_of(kept=(1,), model=ask, seed=0, **options):
    return FreshSamples.of(reading_of(model, TEXT, **options), kept, seed)


def test_a_sample_is_a_hash_of_text_anchor_seed_and_number():
    """One bit for each word outside the anchor, in the order of the text."""
    key = f"kedge samples 1\n{sha256(TEXT.encode()).hexdigest()}\n1\n7\n".encode()
    bits = np.unpackbits(np.frombuffer(shake_256(key + (5).to_bytes(8, "big")).digest(1), dtype=np.uint8))[:7]
    expected = [bits[0], 1, *bits[1:]]
    assert samples_of(seed=7).rows(5, 1).tolist() == [expected]


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("model", [ask, kedge.rules.all_present(["so", "good"])])
def test_the_law_is_that_of_independent_coins(model, keep):
    """Each free occurrence stays with probability ``keep``; those of the anchor always stay."""
    samples = samples_of(model=model, keep=keep)
    rows = samples.rows(0, 4_000)
    free = samples.sizes - samples.sure
    assert np.abs(rows.mean(axis=0) - samples.sure - keep * free).max() < 0.1
    assert np.abs(rows.var(axis=0) - keep * (1 - keep) * free).max() < 0.1
    pairs = np.corrcoef(rows[:, free > 0].T) - np.eye(int((free > 0).sum()))
    assert np.abs(pairs).max() < 0.08


def test_rows_do_not_depend_on_how_many_are_drawn_at_a_time():
    """Any number of samples may be asked about in one go."""
    samples = samples_of()
    together = samples.rows(0, 10)
    assert np.array_equal(np.concatenate([samples.rows(0, 3), samples.rows(3, 7)]), together)
    assert samples.rows(4, 0).shape == (0, 8)
    assert not np.array_equal(samples_of(seed=1).rows(0, 10), together)
    assert not np.array_equal(samples_of((2,)).rows(0, 10)[:, 3:], together[:, 3:])


def test_a_perturbation_with_another_law_keeps_its_own_samples():
    """What does not say that its coins are independent is not drawn by coins."""

    class Own(kedge.Masking):
        independent = False

    assert samples_of(perturbation=Own()) is None
    assert kedge.explain(ask, TEXT, perturbation=Own(), method="guided").words == ("good",)
