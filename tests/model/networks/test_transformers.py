"""Transformers classifiers: recognised, batched, explained in words."""

import numpy as np
import pytest
import transformers
from networks import DOCUMENT, LABELS, TEXTS, config, tiny_classifier, word_tokenizer

import kedge
from kedge.errors import LabelError, ModelError, OptionError
from kedge.text.tokenize import words

pytestmark = pytest.mark.transformers


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
        lambda _m, _a, kwargs: sizes.extend(len(ids) for ids in [kwargs.get("input_ids")] if ids is not None),
        with_kwargs=True,
    )
    kedge.explain((network, tokenizer), DOCUMENT, batch_size=16)
    hook.remove()
    assert max(sizes) <= 16 + 3  # a few early queries are repeated, to see that the model repeats itself
    assert len(sizes) < sum(sizes) / 4


def test_long_texts_are_cut_where_the_network_ends(classifier):
    """More word pieces than places are no error; the note says so, of that text alone."""
    explainer = kedge.Explainer(classifier, max_queries=40)
    (note,) = (note for note in explainer.explain("good " * 200).notes if "cut" in note)
    assert note.startswith("The text has 200 word pieces and the model takes 64: it is cut")
    assert not any("cut" in note for note in explainer.explain("good " * 64).notes)


def test_words_are_masked_by_the_tokenizer_s_own_token(classifier):
    """[MASK] is one piece, attended to like a word; UNK would be the letters u, n, k."""
    network, tokenizer = classifier
    seen = []
    hook = network.register_forward_pre_hook(lambda _m, _a, kwargs: seen.append(kwargs), with_kwargs=True)
    e = kedge.explain(classifier, "the food was good")
    hook.remove()
    assert e.perturbation == "mask [MASK]"
    pieces = {piece for kwargs in seen for row in kwargs["input_ids"].tolist() for piece in row}
    assert tokenizer.mask_token_id in pieces
    assert not pieces & {tokenizer.convert_tokens_to_ids("u"), tokenizer.unk_token_id}
    attended = [kwargs["attention_mask"][kwargs["input_ids"] == tokenizer.mask_token_id] for kwargs in seen]
    assert all(bool(mask.all()) for mask in attended)


def test_a_network_that_reads_unk_needs_fewer_words_by_its_own_token():
    """Where the pieces of UNK speak against the label, [MASK] keeps still, and the note has the numbers."""
    rubbish = ["unk unk unk unk", "unk food unk soup", "staff unk unk wine", "unk unk"] * 3
    model = tiny_classifier([*TEXTS, *rubbish], [*LABELS, *[0] * len(rubbish)])
    text = "good food and great soup and the wine was good and great and so was the staff"
    masked, own = kedge.explain(model, text, mask="UNK"), kedge.explain(model, text)
    assert masked.label == own.label == "good"
    assert len(own.words) < len(masked.words)
    assert any("'UNK' itself pushes the model away from the label 'good'" in note for note in masked.notes)


def test_other_names_for_the_labels(classifier):
    """classes= replaces LABEL_0, LABEL_1 and the like; as many as there are."""
    assert kedge.explain(classifier, "the food was good", classes=["-", "+"]).label == "+"
    with pytest.raises(OptionError, match="3 names, but the model has 2 labels"):
        kedge.as_model(classifier, classes=["a", "b", "c"])


def test_the_answers_of_a_pipeline_inside_a_function(classifier):
    """Records of label and score, one per text or of all labels."""
    network, tokenizer = classifier
    pipeline = transformers.pipeline("text-classification", model=network, tokenizer=tokenizer)
    best = kedge.as_model(lambda texts: pipeline(texts)).predict([DOCUMENT, "bad"])  # noqa: PLW0108
    every = kedge.as_model(lambda texts: pipeline(texts, top_k=None)).predict([DOCUMENT, "bad"])
    own = kedge.as_model(pipeline).predict([DOCUMENT, "bad"])
    assert list(best.labels) == list(every.labels) == list(own.labels)
    assert every.classes == ("bad", "good")
    assert np.allclose(every.probabilities, own.probabilities, atol=1e-5)


def test_several_labels_at_once_need_one_to_explain():
    """A multi-label network asks which label."""
    tokenizer = word_tokenizer()
    network = transformers.BertForSequenceClassification(
        config(tokenizer, num_labels=3, problem_type="multi_label_classification")
    )
    with pytest.raises(LabelError, match="needs `label`"):
        kedge.explain((network.eval(), tokenizer), DOCUMENT)


def test_what_does_not_classify_texts_is_refused(classifier):
    """A bare network, or one with another head, is refused with what to pass instead."""
    with pytest.raises(ModelError, match="pair"):
        kedge.as_model(classifier[0])
    tokenizer = word_tokenizer()
    with pytest.raises(ModelError, match="AutoModelForSequenceClassification"):
        kedge.as_model((transformers.BertForMaskedLM(config(tokenizer)), tokenizer))


def test_slopes_are_derivatives_from_the_mask_to_the_word(classifier):
    """A small step of a word's embedding towards the mask's changes the log-odds as the slope says."""
    import torch

    network, tokenizer = classifier
    model = kedge.as_model(classifier)
    text = "the food was good"
    spans = [(t.start, t.stop) for t in words(text)]
    slopes = model.slopes(text, spans, model.predict([text]).labels[0], np.ones((1, len(spans))))[0]
    place = list(network.config.id2label.values()).index(model.predict([text]).labels[0])
    encoded = tokenizer(text, return_tensors="pt")
    embed = network.get_input_embeddings()
    mask = embed(torch.tensor([tokenizer.convert_tokens_to_ids(model.mask)]))
    ids = encoded.pop("input_ids")
    at = tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
    network.eval()
    for k, (start, stop) in enumerate(spans):
        odds = []
        for step in (-1e-2, 1e-2):
            moved = embed(ids).detach().clone()
            for i, (a, b) in enumerate(at):
                if a < stop and b > start:
                    moved[0, i] += step * (moved[0, i] - mask[0])
            with torch.inference_mode():
                logits = network(**encoded, inputs_embeds=moved).logits[0]
            others = [j for j in range(len(logits)) if j != place]
            odds.append(float(logits[place] - torch.logsumexp(logits[others], dim=0)))
        assert slopes[k] == pytest.approx((odds[1] - odds[0]) / 2e-2, rel=0.05, abs=1e-3)


def test_the_gradient_ranks_and_guides(classifier):
    """``method="gradient"`` works, and backward passes are counted beside the questions."""
    e = kedge.explain(classifier, DOCUMENT, method="gradient", max_queries=3_000)
    assert 0 < e.backward <= 20
    assert "backward passes" in str(e)
    guided = kedge.explain(classifier, DOCUMENT, method="guided")
    assert guided.backward == e.backward
    assert guided.status in {"certified", "not_reached"}
    assert kedge.Explanation.from_json(guided.to_json()) == guided
