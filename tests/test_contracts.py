"""What every implementation of a protocol owes: one suite for all evaluators, searches and perturbations."""

import numpy as np
import pytest
from readings import reading_of

import kedge
from kedge.choose import METHODS
from kedge.demo import review_model, reviews
from kedge.document import Document
from kedge.errors import OptionError
from kedge.precision import Additive, Empirical, Enumeration, Gaussian, Leaves
from kedge.search.exhaustive import anchors_of_length

TEXT = "very slow service, cold soup, but delicious dessert, very friendly staff"
RULE = kedge.rules.any_of(["delicious", "friendly"], ["very", "cold"])
BLACK_BOX = RULE.predict

EVALUATORS = {
    "enumeration of counts": (RULE, Enumeration),
    "enumeration of texts": (BLACK_BOX, Enumeration),
    "additive": (review_model, Additive),
    "leaves": (RULE, Leaves),
    "gaussian": (review_model, Gaussian),
    "empirical": (BLACK_BOX, lambda reading: Empirical(reading, np.random.default_rng(0))),
    "empirical, shared": (RULE, lambda reading: Empirical(reading, np.random.default_rng(0), share=True)),
}


def made(name):
    model, make = EVALUATORS[name]
    reading = reading_of(model() if model is review_model else model, TEXT)
    return reading, make(reading)


@pytest.mark.parametrize("name", EVALUATORS)
class TestPrecision:
    def test_estimates_are_probabilities_one_per_anchor(self, name):
        """Shapes agree, means and bounds lie in [0, 1], bounds enclose the mean."""
        reading, precision = made(name)
        anchors = [(), *anchors_of_length(reading.units.sizes, 1)]
        estimates = precision(anchors, 20)
        assert len(estimates.mean) == len(estimates.trials) == len(estimates.slack) == len(anchors)
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


# Searches that need to read the model, and the models below that do not let them.
CANNOT = {"ranked": {"asked", "rule"}, "branch": {"asked"}, "gradient": {"asked", "rule"}}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("threshold", [0.7, 0.95, 1.0])
def test_every_search_keeps_the_meaning_of_its_status(method, threshold):
    """Exact and certified: the lower end reaches the threshold, and the truth lies in the interval."""
    models = {"read": review_model(), "asked": BLACK_BOX, "rule": RULE}
    for name, model in models.items():
        if name in CANNOT.get(method, ()):
            with pytest.raises(OptionError, match="method="):
                kedge.explain(model, TEXT, method=method, threshold=threshold)
            continue
        e = kedge.explain(model, TEXT, method=method, threshold=threshold)
        reading = reading_of(model, TEXT)
        truth = Enumeration(reading)([reading.units.kept(kedge.Anchor(e.positions))]).mean[0]
        assert 1 <= len(e.positions) == len(set(e.positions)) <= len(e.tokens)
        if e.status == "exact":
            assert e.interval[0] - 1e-9 <= truth <= e.interval[1] + 1e-9
        if e.status in {"exact", "certified"}:
            assert e.interval[0] >= threshold
            assert truth >= threshold
        assert e.interval[0] <= e.precision <= e.interval[1]


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
