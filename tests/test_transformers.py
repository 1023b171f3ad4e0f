"""Transformers classifiers: recognised, batched, explained in words."""

import numpy as np
import pytest
from networks import DOCUMENT, config, tiny_classifier, word_tokenizer

import kedge
from kedge.errors import LabelError, ModelError

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def classifier():
    return tiny_classifier()


def test_a_pair_of_model_and_tokenizer_is_explained_in_words(classifier):
    """Labels are the config's names; positions are words of the text, whole even when cut into pieces."""
    text = "the unheardof food was good"
    e = kedge.explain(classifier, text)
    assert e.label in {"good", "bad"}
    assert e.status in {"exact", "certified"}
    assert [text[a:b] for a, b in e.tokens] == text.split()


def test_a_pipeline_says_the_same_as_its_model(classifier):
    """A text-classification pipeline is its model and its tokenizer."""
    network, tokenizer = classifier
    pipeline = transformers.pipeline("text-classification", model=network, tokenizer=tokenizer)
    scores = kedge.as_model(pipeline).predict([DOCUMENT, "bad"])
    own = pipeline([DOCUMENT, "bad"])
    assert list(scores.labels) == [x["label"] for x in own]
    assert np.allclose(scores.probabilities.max(axis=1), [x["score"] for x in own], atol=1e-5)
    assert kedge.explain(pipeline, DOCUMENT).words == kedge.explain(classifier, DOCUMENT).words


def test_asked_in_batches_of_the_given_size(classifier):
    """No more than batch_size texts reach the network at a time."""
    network, tokenizer = classifier
    sizes = []
    hook = network.register_forward_pre_hook(
        lambda _m, _a, kwargs: sizes.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    kedge.explain((network, tokenizer), DOCUMENT, batch_size=16)
    hook.remove()
    assert max(sizes) <= 16 + 3  # a few early texts are asked again, to see that the model repeats itself
    assert len(sizes) < sum(sizes) / 4


def test_long_texts_are_cut_where_the_network_ends(classifier):
    """More word pieces than places are no error; the note says so."""
    e = kedge.explain(classifier, "good " * 200, max_queries=40)
    assert any("64" in note for note in e.notes)


def test_several_labels_at_once_need_one_to_explain():
    """A multi-label network asks which label."""
    tokenizer = word_tokenizer()
    network = transformers.BertForSequenceClassification(
        config(tokenizer, num_labels=3, problem_type="multi_label_classification")
    )
    with pytest.raises(LabelError, match="label="):
        kedge.explain((network.eval(), tokenizer), DOCUMENT)


def test_what_does_not_classify_texts_is_refused(classifier):
    """A bare network, or one with another head, is refused with what to pass instead."""
    with pytest.raises(ModelError, match="pair"):
        kedge.as_model(classifier[0])
    tokenizer = word_tokenizer()
    with pytest.raises(ModelError, match="AutoModelForSequenceClassification"):
        kedge.as_model((transformers.BertForMaskedLM(config(tokenizer)), tokenizer))
