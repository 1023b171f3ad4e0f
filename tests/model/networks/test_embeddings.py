"""Sentence embeddings with a linear head: asked as their users ask them, with a gradient through the head."""

import numpy as np
import pytest
from networks import DOCUMENT, LABELS, TEXTS, tiny_encoder
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import kedge
from kedge.errors import ModelError, OptionError
from kedge.text.tokenize import words

pytestmark = pytest.mark.transformers
pytest.importorskip("sentence_transformers", reason="needs sentence-transformers: pip install --group dev")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def head(encoder):
    return LogisticRegression(C=100).fit(encoder.encode(TEXTS), np.where(LABELS, "good", "bad"))


def test_a_pair_answers_as_its_parts_do(encoder, head):
    """In either order, with the classes of the head."""
    own = head.predict_proba(encoder.encode([DOCUMENT, "bad"]))
    for pair in ((encoder, head), (head, encoder), [encoder, head]):
        said = kedge.as_model(pair).predict([DOCUMENT, "bad"])
        assert said.classes == ("bad", "good")
        assert np.allclose(said.probabilities, own, atol=1e-6)
    assert kedge.as_model((encoder, head), classes=["-", "+"]).predict(["bad"]).classes == ("-", "+")


@pytest.mark.parametrize("classes", [2, 3])
def test_slopes_are_derivatives_by_the_embeddings_of_words(encoder, classes):
    """Compared with what a small step from each word towards the mask does to the log-odds."""
    labels = LABELS if classes == 2 else [i % classes for i in range(len(LABELS))]
    head = LogisticRegression(C=100).fit(encoder.encode(TEXTS), labels)
    model = kedge.as_model((encoder, head))
    spans = [(t.start, t.stop) for t in words(DOCUMENT)]
    place = classes - 1
    shares = np.linspace(0.2, 1.0, len(spans))
    (slopes,) = model.slopes(DOCUMENT, spans, place, shares[None])
    tokenizer, embed = encoder.tokenizer, encoder[0].auto_model.get_input_embeddings()
    offsets = tokenizer(DOCUMENT, return_offsets_mapping=True)["offset_mapping"]
    mask = embed.weight[tokenizer.mask_token_id].detach()

    def odds(moved, step):
        def nudge(_module, _inputs, out):
            out = out.clone()
            for k, (start, stop) in enumerate(spans):
                for i, (a, b) in enumerate(offsets):
                    if a < stop and b > start:
                        out[0, i] = mask + (shares[k] + step * (k == moved)) * (out[0, i] - mask)
            return out

        handle = embed.register_forward_hook(nudge)
        p = model.predict([DOCUMENT]).probabilities[0, place]
        handle.remove()
        return np.log(p / (1 - p))

    step = 3e-3
    measured = [(odds(k, step) - odds(k, -step)) / (2 * step) for k in range(len(spans))]
    assert np.allclose(slopes, measured, rtol=0.05, atol=0.02 * np.abs(measured).max())


def test_an_explanation_is_guided_by_the_gradient(encoder, head):
    """Backward passes are counted; the tokenizer's own mask is used."""
    e = kedge.explain((encoder, head), DOCUMENT, method="guided")
    assert e.status in {"certified", "not_reached"}
    assert 0 < e.backward <= 20
    assert e.perturbation == "mask [MASK]"
    assert kedge.explain((encoder, head), DOCUMENT, method="gradient", max_queries=3_000).backward > 0


def test_a_head_that_is_not_linear_is_asked_without_a_gradient(encoder):
    """Its neighbours say nothing about slopes."""
    head = KNeighborsClassifier(3).fit(encoder.encode(TEXTS), LABELS)
    model = kedge.as_model((encoder, head))
    assert model.slopes is None
    assert kedge.explain((encoder, head), "the food was good").backward == 0


def test_what_is_no_classifier_is_refused(encoder, head):
    """An encoder with nothing that predicts, and the wrong number of names."""
    with pytest.raises(ModelError, match="does not classify"):
        kedge.as_model((encoder, object()))
    with pytest.raises(OptionError, match="3 names, but the model has 2 labels"):
        kedge.as_model((encoder, head), classes=["a", "b", "c"])


def test_a_setfit_model_is_its_body_and_head(encoder, head):
    """Labels are those that the model names."""
    setfit = pytest.importorskip("setfit", reason="needs setfit: pip install setfit")
    model = setfit.SetFitModel(model_body=encoder, model_head=head, labels=["no", "yes"])
    converted = kedge.as_model(model)
    said = converted.predict([DOCUMENT])
    assert said.classes == ("no", "yes")
    assert np.allclose(said.probabilities, head.predict_proba(encoder.encode([DOCUMENT])), atol=1e-6)
    assert converted.slopes is not None
