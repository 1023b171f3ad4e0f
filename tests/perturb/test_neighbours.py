"""Neighbour replacement: similar words of the same kind, from given or learned vectors."""

from types import SimpleNamespace

import numpy as np
import pytest
from networks import TEXTS

import kedge
from kedge.errors import OptionError
from kedge.perturb.lsa import word_vectors
from kedge.text.tokenize import words

VECTORS = {
    "good": [1.0, 0.1],
    "great": [0.9, 0.2],
    "fine": [0.6, 0.8],
    "awful": [-1.0, 0.1],
    "42": [1.0, 0.1],
    "the": [0.0, 1.0],
    "a": [0.1, 1.0],
}
TEXT = "The Good food, GREAT and good"


def document(text=TEXT):
    return kedge.Document(text, words(text))


def test_similar_words_of_the_same_kind_by_similarity():
    """Probabilities are proportional to the cosine; other kinds and dissimilar words are out."""
    found, chances = kedge.Neighbours(VECTORS).similar("good")
    assert found == ["great", "fine"]
    unit = {w: np.array(v) / np.linalg.norm(v) for w, v in VECTORS.items()}
    expected = np.array([unit["good"] @ unit[w] for w in found])
    assert np.allclose(chances, expected / expected.sum())


def test_drawn_in_these_proportions_and_written_as_the_word_was():
    """Frequencies agree with the probabilities; the case of the replaced word is kept."""
    nearby = kedge.Neighbours(VECTORS)
    kept = np.ones((4000, 6), dtype=bool)
    kept[:, 1] = kept[:, 3] = False
    texts = nearby.writer(document(), np.random.default_rng(0))(kept)
    first = [text.split()[1] for text in texts]
    assert set(first) == {"Great", "Fine"}
    _, chances = nearby.similar("good")
    assert abs(first.count("Great") / 4000 - chances[0]) < 0.04
    assert {text.split()[3] for text in texts} == {"GOOD", "FINE"}
    assert all(text.startswith("The ") and text.endswith(" and good") for text in texts)


def test_what_cannot_be_replaced_is_protected():
    """Words without a vector or of a lonely kind stay, and so do the user's own."""
    nearby = kedge.Neighbours(VECTORS, protect=["good"])
    assert nearby.protected(document()).tolist() == [False, True, True, False, True, True]
    asked = []

    def model(texts):
        asked.extend(texts)
        return [int("great" in t.lower()) for t in texts]

    e = kedge.explain(model, TEXT, perturbation=nearby)
    assert e.words == ("GREAT",)
    assert all("Good food," in text and text.endswith("and good") for text in asked)


def test_vectors_like_gensim_s():
    """An object with index_to_key and vectors gives the same neighbours as a mapping."""
    keyed = SimpleNamespace(index_to_key=list(VECTORS), vectors=np.array(list(VECTORS.values())))
    ours, theirs = kedge.Neighbours(VECTORS).similar("good"), kedge.Neighbours(keyed).similar("good")
    assert ours[0] == theirs[0]
    assert np.allclose(ours[1], theirs[1])


def test_learned_from_texts_words_in_like_contexts_are_near():
    """Latent semantic analysis puts words that stand in the same places together, the same every time."""
    rng = np.random.default_rng(0)
    foods, verbs = ["soup", "bread", "rice", "fish"], ["runs", "jumps", "walks", "swims"]
    texts = [f"i eat {rng.choice(foods)} now" for _ in range(60)]
    texts += [f"he {rng.choice(verbs)} very fast today" for _ in range(60)]
    vectors = word_vectors(texts, dimensions=6)
    again = word_vectors(texts, dimensions=6)
    assert all(np.allclose(vectors[w], again[w]) for w in vectors)
    unit = {w: v / np.linalg.norm(v) for w, v in vectors.items()}
    assert min(unit["soup"] @ unit[w] for w in foods) > max(unit["soup"] @ unit[w] for w in verbs)


def test_works_end_to_end_without_any_download():
    """Vectors learned from the user's texts explain a black box, with a kind of the user's own."""
    nearby = kedge.Neighbours.from_texts(TEXTS, dimensions=4, kind=lambda _: "word")
    e = kedge.explain(lambda texts: [int("good" in t) for t in texts], "good food staff", perturbation=nearby)
    assert e.words == ("good",)
    assert e.status == "certified"


def test_bad_vectors_and_options():
    """What cannot be used is refused."""
    for bad in ([1, 2], {"good": [1.0]}, {"good": [1.0], "bad": [1.0, 2.0]}):
        with pytest.raises(OptionError, match="vectors"):
            kedge.Neighbours(bad)
    with pytest.raises(OptionError, match="keep"):
        kedge.Neighbours(VECTORS, keep=0)
    with pytest.raises(OptionError, match="top"):
        kedge.Neighbours(VECTORS, top=0)
    with pytest.raises(OptionError, match="protect"):
        kedge.Neighbours(VECTORS, protect=3)
    with pytest.raises(OptionError, match="words occur"):
        kedge.Neighbours.from_texts(["good"])
