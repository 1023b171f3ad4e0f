"""A tiny transformer trained on the spot: attention over words, so that their order and place matter."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reviews import split

# Enough words and places for the reviews; longer texts are cut, as transformers do.
WORDS, PLACES = 2000, 256
PAD, UNKNOWN, FIRST = "[PAD]", "[UNK]", "[CLS]"


def tiny_transformer(data: Path, name: str) -> tuple[Callable[[list[str]], Any], list[str]]:
    """A trained classifier as a callable giving probabilities, and the test documents it labels positive."""
    import numpy as np
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(0)
    torch.set_num_threads(1)
    train, test, labels, _ = split(data, name)
    inner = Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.train_from_iterator(
        train, trainers.WordLevelTrainer(vocab_size=WORDS, special_tokens=[PAD, UNKNOWN, FIRST])
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        unk_token=UNKNOWN,
        pad_token=PAD,
        cls_token=FIRST,
        model_max_length=PLACES,
    )
    network = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=PLACES,
        )
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    rng = np.random.default_rng(0)
    for _ in range(12):
        order = rng.permutation(len(train))
        for at in range(0, len(order), 32):
            batch = order[at : at + 32]
            encoded = tokenizer(
                [train[i] for i in batch],
                padding=True,
                truncation=True,
                return_tensors="pt",
                return_token_type_ids=False,
            )
            optimizer.zero_grad()
            network(**encoded, labels=torch.tensor([labels[i] for i in batch])).loss.backward()
            optimizer.step()
    network.eval()

    def ask(texts: list[str]) -> Any:
        encoded = tokenizer(
            list(texts), padding=True, truncation=True, return_tensors="pt", return_token_type_ids=False
        )
        with torch.inference_mode():
            return network(**encoded).logits.softmax(dim=1).numpy()

    return ask, [text for text in test if text and ask([text])[0].argmax() == 1]
