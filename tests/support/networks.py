"""Tiny networks, made and trained on the spot, so that nothing is downloaded."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

TEXTS = [
    "good food great staff",
    "bad food slow staff",
    "great soup good wine",
    "bad soup slow wine",
    "good good great",
    "bad slow bad",
    "food soup wine staff good",
    "food soup wine staff bad",
] * 3
LABELS = [1, 0, 1, 0, 1, 0, 1, 0] * 3
DOCUMENT = "the food was good and the staff was great but the wine was slow"


def torch_net(vectorizer, *ending, outputs=2):
    """A small feed-forward network with dropout, trained on the vectoriser's rows."""
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(len(vectorizer.vocabulary_), 8),
        torch.nn.Tanh(),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(8, outputs),
        *ending,
    )
    rows = torch.tensor(vectorizer.transform(TEXTS).toarray(), dtype=torch.float32)
    target = torch.tensor(LABELS)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        out = net(rows)
        if outputs == 1:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(out[:, 0], target.float())
        else:
            loss = torch.nn.functional.cross_entropy(out, target)
        loss.backward()
        optimizer.step()
    return net


def word_tokenizer(words=None):
    """A WordPiece tokenizer that knows a few words and cuts the others into letters."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    known = words or sorted({w for t in [*TEXTS, DOCUMENT] for w in t.split()})
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *known, *letters, *(f"##{c}" for c in letters)]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    inner = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        unk_token="[UNK]",
        pad_token="[PAD]",
        mask_token="[MASK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    )


def config(tokenizer, **more):
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        **more,
    )


def trained(network, encoded, labels, steps, rate=0.01):
    """A few steps of Adam on the network's own loss."""
    import torch

    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    network.train()
    for _ in range(steps):
        optimizer.zero_grad()
        network(**encoded, labels=labels).loss.backward()
        optimizer.step()
    return network.eval()


def tiny_classifier(texts=TEXTS, labels=LABELS):
    """A transformer that tells good from bad, and its tokenizer."""
    import torch
    from transformers import BertForSequenceClassification

    torch.manual_seed(0)
    tokenizer = word_tokenizer()
    network = BertForSequenceClassification(
        config(tokenizer, id2label={0: "bad", 1: "good"}, label2id={"bad": 0, "good": 1})
    )
    encoded = tokenizer(texts, padding=True, return_tensors="pt", return_token_type_ids=False)
    return trained(network, encoded, torch.tensor(labels), 40), tokenizer


def tiny_language_model():
    """A masked language model that has learned which word stands where, and its tokenizer."""
    import torch
    from transformers import BertForMaskedLM

    torch.manual_seed(0)
    tokenizer = word_tokenizer()
    network = BertForMaskedLM(config(tokenizer))
    encoded = tokenizer(TEXTS, padding=True, return_tensors="pt", return_token_type_ids=False)
    labels = encoded["input_ids"].clone()
    hidden = torch.rand(labels.shape, generator=torch.Generator().manual_seed(0)) < 0.3
    encoded["input_ids"] = torch.where(hidden, tokenizer.mask_token_id, labels)
    return trained(network, encoded, labels, 60), tokenizer


def tiny_encoder(folder):
    """A SentenceTransformer of a tiny network that nobody trained: means of its pieces."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import BertModel

    torch.manual_seed(0)
    tokenizer = word_tokenizer()
    tokenizer.save_pretrained(folder)
    BertModel(config(tokenizer)).save_pretrained(folder)
    return SentenceTransformer(str(folder), device="cpu")
