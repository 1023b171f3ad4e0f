"""What every implementation of a protocol owes: one suite for all evaluators, and one for perturbations."""

import numpy as np
import pytest
from readings import reading_of
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.data.demo import review_model, reviews
from kedge.evaluators import Additive, Chained, Empirical, Enumeration, Gaussian, Leaves
from kedge.evaluators.leading import Leading
from kedge.search.exhaustive import anchors_of_length
from kedge.text.document import Document

TEXT = "very slow service, cold soup, but delicious dessert, very friendly staff"
RULE = kedge.rules.any_of(["delicious", "friendly"], ["very", "cold"])
BLACK_BOX = RULE.predict


def pairs_model():
    """A pipeline of words and pairs of words."""
    return make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression()).fit(*reviews())


def normed_model():
    """A pipeline that divides by the norm."""
    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(*reviews())


EVALUATORS = {
    "enumeration of counts": (RULE, Enumeration),
    "enumeration of texts": (BLACK_BOX, Enumeration),
    "additive": (review_model, Additive),
    "chain": (pairs_model, Chained),
    "leading": (normed_model, Leading),
    "leaves": (RULE, Leaves),
    "gaussian": (review_model, Gaussian),
    "empirical": (BLACK_BOX, lambda reading: Empirical(reading, np.random.default_rng(0))),
    "empirical, shared": (RULE, lambda reading: Empirical(reading, np.random.default_rng(0), share=True)),
}


def made(name):
    model, make = EVALUATORS[name]
    reading = reading_of(model() if model in {review_model, pairs_model, normed_model} else model, TEXT)
    return reading, make(reading)


@pytest.mark.parametrize("name", EVALUATORS)
class TestPrecision:
    def test_estimates_are_probabilities_one_per_anchor(self, name):
        """Shapes agree, means and bounds lie in [0, 1], bounds enclose the mean."""
        reading, precision = made(name)
        anchors = [(), *anchors_of_length(reading.units.sizes, 1)]
        estimates = precision(anchors, 20)
        assert (
            len(estimates)
            == len(estimates.mean)
            == len(estimates.trials)
            == len(estimates.slack)
            == len(anchors)
        )
        low, high = estimates.bounds(2.0)
        assert (low >= 0).all()
        assert (low <= estimates.mean + 1e-12).all()
        assert (estimates.mean <= high + 1e-12).all()
        assert (high <= 1).all()

    def test_everything_kept_keeps_the_label(self, name):
        """Prec([b]) = 1."""
        reading, precision = made(name)
        everything = tuple(np.repeat(np.arange(len(reading.units)), reading.units.sizes).tolist())
        assert precision([everything], 20).mean[0] == 1.0

    def test_asking_again_without_samples_changes_nothing(self, name):
        """Telling is not sampling."""
        _, precision = made(name)
        first = precision([(0,), (1,)], 10)
        again = precision([(0,), (1,)])
        assert first.mean.tolist() == again.mean.tolist()
        assert first.trials.tolist() == again.trials.tolist()

    def test_within_its_own_bounds_of_the_truth(self, name):
        """The enumerated precision lies within the bounds (at a rate that chance misses once in 10^5)."""
        reading, precision = made(name)
        anchors = list(anchors_of_length(reading.units.sizes, 1))
        truth = Enumeration(reading)(anchors).mean
        low, high = precision(anchors, 200).bounds(12.0)
        assert (low <= truth + 1e-12).all()
        assert (truth <= high + 1e-12).all()

    def test_it_says_how_it_knows(self, name):
        """A name and whether it samples; a sampled one says which samples it drew, or that it kept none."""
        reading, precision = made(name)
        estimates = precision([(0,)], 10)
        assert precision.name in {"convolution", "passes", "leaves", "enumeration", "gaussian", "samples"}
        assert precision.sampled == (not estimates.settled[0])
        if (seen := precision.seen((0,))) is not None:
            counts, holds = seen
            assert (counts >= reading.units.counts((0,))).all()
            assert (reading.holds(counts) == holds).all()

    def test_one_anchor_can_be_refined(self, name):
        """The refined interval lies on one side of a threshold that its closed form can tell."""
        _, precision = made(name)
        precision([(0,)], 10)
        known = precision.refine((0,), 0.5)
        assert 0 <= known.low <= known.mean <= known.high <= 1
        assert precision.refine((0,)) == known


PERTURBATIONS = [
    kedge.Masking(),
    kedge.Masking(form="three_steps", mask="[MASK]", keep=0.3),
    kedge.Neighbours.from_texts(reviews()[0], dimensions=20),
]


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=lambda p: f"{p.name}-{p.keep}")
class TestPerturbation:
    def test_kept_occurrences_stay(self, perturbation):
        """Every sample keeps at least the anchor and at most everything."""
        sizes, kept = np.array([3, 1, 2]), np.array([1, 0, 2])
        counts = perturbation.draw(sizes, kept, 200, np.random.default_rng(0))
        assert counts.shape == (200, 3)
        assert (counts >= kept).all()
        assert (counts <= sizes).all()

    def test_the_same_generator_draws_the_same(self, perturbation):
        """All randomness comes from the generator."""
        draws = [
            perturbation.draw(np.array([3, 1]), np.array([0, 0]), 50, np.random.default_rng(4))
            for _ in range(2)
        ]
        assert (draws[0] == draws[1]).all()

    def test_nothing_removed_is_the_caller_s_text(self, perturbation):
        """Byte for byte."""
        document = Document(TEXT, kedge.tokenize.words(TEXT))
        write = perturbation.writer(document, np.random.default_rng(0))
        assert write(np.ones((1, len(document)), dtype=bool)) == [TEXT]

    def test_kept_words_stand_in_every_text(self, perturbation):
        """A text shows the words it keeps, in order."""
        document = Document(TEXT, kedge.tokenize.words(TEXT))
        kept = np.random.default_rng(1).random((20, len(document))) < 0.5
        for row, text in zip(
            kept, perturbation.writer(document, np.random.default_rng(0))(kept), strict=True
        ):
            at = 0
            for token, here in zip(document.tokens, row, strict=True):
                if here:
                    at = text.index(token.word, at) + len(token.word)


@pytest.mark.parametrize("evaluator", [Additive, Chained, Gaussian, Leading, Leaves])
def test_a_closed_form_is_refused_for_a_model_that_has_none(evaluator):
    """What can only be asked has no sum over words or their neighbours, no leaves and no Gaussian score."""
    with pytest.raises(TypeError, match=r"sums? over (windows of )?words|decision tree|linear model"):
        evaluator(reading_of(BLACK_BOX, TEXT))


def test_the_gaussian_bound_of_a_score_without_words_is_no_bound():
    """Every weight is zero: nothing is random, and nothing is claimed."""
    reading = reading_of(kedge.WordWeights({"good": 0.0, "bad": 0.0}, intercept=1.0), "good bad")
    assert Gaussian(reading).notes[0].endswith("at once is inf.")
