"""Masked-language-model replacement with a tiny model trained here."""

from itertools import product

import numpy as np
import pytest
from networks import DOCUMENT, tiny_language_model

import kedge
from kedge.errors import OptionError
from kedge.perturb.language import _scores, expectations, whole_words
from kedge.text.tokenize import words

pytestmark = pytest.mark.transformers


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


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "DistilBert"])
def test_gaps_are_scored_as_in_the_whole_text(kind):
    """A head that is called by itself sees the gaps only, and says what the whole model says of them."""
    import torch
    import transformers

    config = getattr(transformers, f"{kind}Config")(
        vocab_size=40, hidden_size=16, dim=16, n_layers=1, n_heads=2, hidden_dim=32,
        num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=24,
    )  # fmt: skip
    model = getattr(transformers, f"{kind}ForMaskedLM")(config).eval()
    ids = torch.arange(4, 16).reshape(2, 6)
    at = ids % 3 == 0
    encoded = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    with torch.inference_mode():
        assert torch.allclose(_scores(model, encoded, at), model(**encoded).logits[at], atol=1e-5)


def test_one_after_the_other_sees_what_was_drawn_before(language_model):
    """Sequential mode asks once per gap, one pass asks once for all."""
    network, tokenizer = language_model
    passes = []
    hook = network.base_model.register_forward_pre_hook(lambda *_: passes.append(1))
    doc = document("good food great staff")
    for mode, expected in (("onepass", 1), ("sequential", 4)):
        passes.clear()
        write = kedge.Infill(network, tokenizer, mode=mode).writer(doc, np.random.default_rng(0))
        write(np.zeros((3, 4), dtype=bool))
        assert len(passes) == expected
    hook.remove()


def test_replacements_follow_the_language_model(language_model):
    """The words drawn most often are those the model gives the highest probability."""
    import torch

    network, tokenizer = language_model
    infill = kedge.Infill(network, tokenizer)
    doc = document("good food great staff")
    kept = np.array([[True, True, True, False]] * 300)
    drawn = [text.split()[-1] for text in infill.writer(doc, np.random.default_rng(0))(kept)]
    vocabulary = whole_words(tokenizer)
    (law,) = expectations(network, tokenizer, ["good food great [MASK]"], vocabulary, infill.top)
    assert max(set(drawn), key=drawn.count) == vocabulary.written[law.pieces[0, 0]]
    encoded = tokenizer(["good food great [MASK]"], return_tensors="pt")
    with torch.inference_mode():
        logits = network.eval()(**encoded).logits
    scores = logits[encoded["input_ids"] == tokenizer.mask_token_id][0].double().clone()
    scores[~torch.as_tensor(vocabulary.allowed)] = -torch.inf
    shares = scores.softmax(0)[law.pieces[0]].numpy()
    assert np.cumsum(shares) == pytest.approx(law.reached[0], abs=1e-5)


def test_each_pattern_of_gaps_is_asked_about_once(language_model):
    """Later samples of the same document cost no pass, and the words are drawn again."""
    network, tokenizer = language_model
    asked = []
    hook = network.base_model.register_forward_pre_hook(
        lambda _, __, given: asked.append(len(given["input_ids"])), with_kwargs=True
    )
    doc = document("good food great staff")
    write = kedge.Infill(network, tokenizer).writer(doc, np.random.default_rng(0))
    every = np.array(list(product([False, True], repeat=4)))
    first, second = write(np.vstack([every, every])), write(every)
    hook.remove()
    assert sum(asked) == 15  # all but the text without a gap
    assert first[:16] != first[16:] != second


def test_what_is_remembered_is_bounded(language_model, monkeypatch):
    """Beyond the bound everything is forgotten; the texts are the same as with a long memory."""
    network, tokenizer = language_model
    doc = document("good food great staff was very nice here")
    kept = np.random.default_rng(3).random((300, len(doc))) < 0.5
    long = kedge.Infill(network, tokenizer).writer(doc, np.random.default_rng(0))(kept)
    monkeypatch.setattr("kedge.perturb.infill._REMEMBERED", 10)
    short = kedge.Infill(network, tokenizer).writer(doc, np.random.default_rng(0))(kept)
    same = [a == b for a, b in zip(long, short, strict=True)]
    assert np.mean(same) > 0.99  # another batch may round a probability otherwise


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
