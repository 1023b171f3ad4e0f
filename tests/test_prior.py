"""A prior: learned once, saved, named, and a shorter way to the same answers."""

import pickle
from dataclasses import dataclass
from statistics import median

import numpy as np
import pytest

import kedge
from kedge.data.demo import review_model, reviews
from kedge.errors import OptionError, StorageError


@pytest.fixture(scope="module")
def model():
    return review_model()


@pytest.fixture(scope="module")
def prior(model):
    return kedge.Prior.learn(Asked(model), reviews()[0][:60], queries=2_000)


@dataclass(frozen=True)
class Asked:
    """A black box: nothing of the model's inside is known."""

    model: object
    probabilities: bool = True

    def __call__(self, texts):
        return self.model.predict_proba(texts) if self.probabilities else self.model.predict(texts)


def documents(n):
    """Texts of some forty words, of others than those that were learned from."""
    texts = reviews()[0][60:]
    return [" ".join(texts[4 * i : 4 * i + 4]) for i in range(n)]


def test_words_are_weighed_as_the_model_weighs_them(prior):
    """What speaks for one label speaks as much against the other."""
    words = ["excellent", "great", "awful"]
    for_it, against = prior.weigh(words, 1), prior.weigh(words, 0)
    assert (np.sign(for_it.weights) == [1, 1, -1]).all()
    assert np.allclose(for_it.weights, -against.weights, rtol=1e-3)
    assert np.isclose(for_it.level, -against.level, rtol=1e-3)
    assert prior.weigh(words, "no such label") is None
    assert prior.weigh(["EXCELLENT", "unheardof"], 1).weights.tolist() == [for_it.weights[0], 0.0]
    assert prior.queries <= 2_000


VOCABULARY = [f"w{i}" for i in range(300)]
WEIGHTS = dict(zip(VOCABULARY, np.random.default_rng(5).standard_t(2.5, 300) / 2, strict=True))


def weighed(texts):
    """A black box that adds up words."""
    odds = np.array([sum(WEIGHTS.get(word, 0.0) for word in text.split()) for text in texts])
    return np.column_stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))])


def decided(texts):
    """The same, giving labels."""
    return weighed(texts).argmax(axis=1)


@pytest.mark.parametrize(("asked", "explained"), [(weighed, 10), (decided, 4)])
def test_a_prior_saves_questions_and_changes_no_claim(asked, explained):
    """Fewer questions by the median on long texts; a false claim is as rare as delta says."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(VOCABULARY, 100)) for _ in range(110)]
    learned = kedge.Prior.learn(asked, texts[10:], queries=8_000)
    within = [kedge.explain(asked, text, prior=learned) for text in texts[:explained]]
    if asked is weighed:
        without = [kedge.explain(asked, text) for text in texts[:explained]]
        assert median(e.queries for e in within) < 0.8 * median(e.queries for e in without)
    false = 0
    for e in within:
        assert e.prior == learned.digest
        assert e.status == "certified"
        exact = kedge.precision(kedge.WordWeights(WEIGHTS), e.text, list(e.positions))
        false += exact.precision < e.threshold
    assert false <= 1  # two or more of ten have a probability of 0.09 at the very most


def test_saved_it_is_the_same(tmp_path, prior):
    """Digest, weights and answers; other content has another digest."""
    path = tmp_path / "prior.json"
    prior.save(path)
    again = kedge.Prior.load(path)
    assert again == prior
    assert again.digest == prior.digest
    assert pickle.loads(pickle.dumps(prior)) == prior
    assert hash(again) == hash(prior)
    other = kedge.Prior(prior.model, prior.labels, prior.words, prior.weights * 2, prior.levels, 60, 3_000)
    assert other != prior
    assert prior.digest in repr(prior)


@pytest.mark.parametrize("content", ["", "{}", '{"format": 9}', "[1]"])
def test_what_is_no_prior_is_refused(tmp_path, content):
    """One sentence."""
    path = tmp_path / "prior.json"
    path.write_text(content)
    with pytest.raises(StorageError, match="prior"):
        kedge.Prior.load(path)
    with pytest.raises(StorageError, match="cannot be read"):
        kedge.Prior.load(tmp_path / "nowhere.json")


def test_bad_input_is_refused(model):
    """No texts, texts without words, and a prior that is none."""
    for texts in ([], ["..."]):
        with pytest.raises(OptionError, match="texts"):
            kedge.Prior.learn(model.predict, texts)
    with pytest.raises(OptionError, match=r"kedge\.Prior"):
        kedge.explain(model, "good", prior={"good": 1.0})


def test_the_same_answer_with_any_number_of_workers(model, prior):
    """A prior is frozen: the order of documents and the number of processes change nothing."""

    def asked(texts):  # one that a worker can load without this module
        return model.predict_proba(texts)

    explainer = kedge.Explainer(asked, prior=prior, method="guided")
    one, two = (
        [o.explanation.to_json() for o in explainer.explain_corpus(documents(2), workers=n)] for n in (1, 2)
    )
    assert one == two


def test_several_labels_without_probabilities():
    """Each label has its own weights, from labels alone."""

    def ask(texts):
        return ["a" if "alpha" in t else "b" if "beta" in t else "c" for t in texts]

    texts = [f"{w} one two three four {i}" for i in range(8) for w in ("alpha", "beta", "gamma")]
    prior = kedge.Prior.learn(ask, texts, queries=600)
    assert prior.weigh(["alpha"], "a").weights[0] > abs(prior.weigh(["two"], "a").weights[0])
    assert prior.weigh(["beta"], "b").weights[0] > abs(prior.weigh(["two"], "b").weights[0])
