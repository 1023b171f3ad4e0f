"""Masked-language-model replacement with a tiny model trained here."""

import numpy as np
import pytest
from networks import DOCUMENT, tiny_language_model

import kedge
from kedge.errors import OptionError
from kedge.tokenize import words

pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def language_model():
    return tiny_language_model()


def document(text=DOCUMENT):
    return kedge.Document(text, words(text))


@pytest.mark.parametrize("mode", ["onepass", "sequential"])
def test_kept_words_stay_and_gaps_become_words(language_model, mode):
    """The text around the gaps is the caller's; every gap holds one word of the vocabulary."""
    network, tokenizer = language_model
    text = "The FOOD was good,and the staff  was great!"
    doc = document(text)
    kept = np.random.default_rng(1).random((12, len(doc))) < 0.5
    kept[0] = True
    kept[1] = False
    infill = kedge.Infill(network, tokenizer, mode=mode)
    filled = infill.writer(doc, np.random.default_rng(0))(kept)
    assert filled[0] == text
    vocabulary = set(tokenizer.get_vocab())
    for row, result in zip(kept, filled, strict=True):
        found = words(result)
        assert len(found) == len(doc)
        for k, token in enumerate(found):
            assert not row[k] or token.word == doc.tokens[k].word
            assert row[k] or token.word in vocabulary
    assert filled == infill.writer(doc, np.random.default_rng(0))(kept)


def test_one_after_the_other_sees_what_was_drawn_before(language_model):
    """Sequential mode asks once per gap, one pass asks once for all."""
    network, tokenizer = language_model
    passes = []
    hook = network.register_forward_pre_hook(lambda *_: passes.append(1))
    doc = document("good food great staff")
    for mode, expected in (("onepass", 1), ("sequential", 4)):
        passes.clear()
        write = kedge.Infill(network, tokenizer, mode=mode).writer(doc, np.random.default_rng(0))
        write(np.zeros((3, 4), dtype=bool))
        assert len(passes) == expected
    hook.remove()


def test_replacements_follow_the_language_model(language_model):
    """The words drawn most often are those the model gives the highest probability."""
    network, tokenizer = language_model
    infill = kedge.Infill(network, tokenizer)
    doc = document("good food great staff")
    kept = np.array([[True, True, True, False]] * 300)
    drawn = [text.split()[-1] for text in infill.writer(doc, np.random.default_rng(0))(kept)]
    law = infill._laws(["good food great [MASK]"])[0][0]
    inside = [tokenizer.get_vocab()[w] for w in sorted(set(drawn))]
    favourite = tokenizer.convert_ids_to_tokens([inside[int(np.argmax(law[inside]))]])[0]
    assert max(set(drawn), key=drawn.count) == favourite


def test_long_texts_are_filled_in_parts(language_model):
    """More words than the language model has places: every gap is filled all the same."""
    network, tokenizer = language_model
    doc = document("good food " * 100)
    kept = np.zeros((2, len(doc)), dtype=bool)
    for text in kedge.Infill(network, tokenizer).writer(doc, np.random.default_rng(0))(kept):
        assert len(words(text)) == 200
        assert "UNK" not in text
        assert "MASK" not in text


def test_explains_with_a_saved_model_and_protected_words(language_model, tmp_path):
    """A directory will do; protected words are never replaced and in no anchor."""
    network, tokenizer = language_model
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    infill = kedge.Infill(str(tmp_path), protect=["The"])
    asked = []

    def model(texts):
        asked.extend(texts)
        return [int("good" in t or "great" in t) for t in texts]

    e = kedge.explain(model, DOCUMENT, perturbation=infill, method="guided")
    assert e.perturbation == "infill"
    assert e.status in {"certified", "not_reached"}
    assert "the" not in e.words
    assert all(text.split().count("the") >= 3 for text in asked)
    assert e == kedge.explain(model, DOCUMENT, perturbation=infill, method="guided")


def test_a_missing_model_is_named_with_the_remedy():
    """The error says which model is missing and what to give instead."""
    with pytest.raises(OptionError, match=r"'no-such-directory/model'.*directory"):
        kedge.Infill("no-such-directory/model")


def test_bad_options(language_model):
    """Modes, probabilities and lists are checked."""
    network, tokenizer = language_model
    with pytest.raises(OptionError, match="mode"):
        kedge.Infill(network, tokenizer, mode="twice")
    with pytest.raises(OptionError, match="keep"):
        kedge.Infill(network, tokenizer, keep=1.0)
    with pytest.raises(OptionError, match="protect"):
        kedge.Infill(network, tokenizer, protect=["good", 3])
    with pytest.raises(OptionError, match="tokenizer"):
        kedge.Infill(network)
    with pytest.raises(OptionError, match="top"):
        kedge.Infill(network, tokenizer, top=0)
