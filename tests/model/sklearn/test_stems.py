"""Stemming tokenizers: a word of the text is the unit, always whole."""

import re

import brute
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.text.document import Token

TEXTS = [
    "amazing foods and loving it",
    "terribly slowed services",
    "amazingly good dinings",
    "sucked badly",
] * 8
LABELS = [1, 0, 1, 0] * 8


def stems(text):
    """A crude stemmer: endings cut off, and one that changes the end."""
    found = re.findall(r"\w+", text.lower())
    return [re.sub(r"(ing|ly|ed|s)$", "", re.sub(r"ies$", "y", word)) for word in found]


def lemmas(text):
    """A crude lemmatiser: one word becomes another."""
    return [{"was": "be"}.get(word, word) for word in text.lower().split()]


@pytest.mark.parametrize("vectorizer", [CountVectorizer, TfidfVectorizer])
def test_words_are_masked_whole(vectorizer):
    """No word is cut in half; a tokenizer is code, so the model is asked; brute force agrees."""
    model = make_pipeline(vectorizer(tokenizer=stems, token_pattern=None), LogisticRegression()).fit(
        TEXTS, LABELS
    )
    for text in ("The amazing waiters were loving us", "It sucked: terribly slow services, badly loved"):
        e = kedge.explain(model, text)
        written = [text[slice(*span)] for span in e.spans]
        assert all(re.fullmatch(r"\w+", word) for word in written)
        assert all(re.search(rf"\b{word}\b", text) for word in written)
        assert e.words == tuple(stems(" ".join(written)))
        assert any("Masking a word may change how this model reads the others" in note for note in e.notes)
        length, precision, _ = brute.shortest(text, e.label, model.predict)
        assert len(e.words) == length
        if e.status == "exact":
            assert e.precision == pytest.approx(precision, abs=1e-9)
        else:
            true = brute.precision(text, e.label, model.predict, e.positions)
            assert (e.status, e.interval.low <= true <= e.interval.high) == ("certified", True)
        assert kedge.Explanation.from_json(e.to_json()) == e


def test_occurrences_of_a_stem_are_one_unit():
    """Words of one stem are occurrences of one word."""
    model = make_pipeline(CountVectorizer(tokenizer=stems, token_pattern=None), LogisticRegression())
    document = kedge.Explainer(model.fit(TEXTS, LABELS)).read("loving, loves, loved").document
    assert document.tokens == (Token("lov", 0, 6), Token("love", 8, 13), Token("lov", 15, 20))


def test_a_lemma_that_is_another_word_is_not_guessed():
    """A token that cannot be told to be a form of its word: whole words are masked, and the model asked."""
    model = make_pipeline(CountVectorizer(tokenizer=lemmas, token_pattern=None), LogisticRegression())
    e = kedge.explain(model.fit(TEXTS, LABELS), "that was amazing")
    assert e.words == ("amazing",)
    assert any("cannot be located" in note for note in e.notes)
