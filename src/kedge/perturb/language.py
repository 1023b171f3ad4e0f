"""What a masked language model expects in the gaps of a text, and words drawn from that.

Gaps of many texts are queried in one pass. With all gaps of a text filled at once, what is expected
depends only on which words are missing; a short document has few such patterns, and each is queried once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np

from kedge.errors import OptionError
from kedge.typing import Bools
from kedge.utils.eval_mode import evaluating

__all__ = ["BATCH", "Expectation", "Vocabulary", "expectations", "whole_words"]

BATCH = 128
"""Texts that the language model sees at a time."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The word pieces that can stand as a word of their own, and how they are written.

    Parameters
    ----------
    allowed
        (V,) which of the model's word pieces these are.
    written
        What each word piece looks like in a text.
    """

    allowed: Bools
    written: Sequence[str]


@dataclass(frozen=True, eq=False)
class Expectation:
    """The likeliest word pieces of each gap of a text.

    Parameters
    ----------
    pieces
        (gaps, top) word pieces, the likeliest first.
    reached
        (gaps, top) probability of a piece or a likelier one.
    """

    pieces: np.ndarray[tuple[int, int], np.dtype[np.int32]]
    reached: np.ndarray[tuple[int, int], np.dtype[np.float32]]

    def draw(self, vocabulary: Vocabulary, rng: np.random.Generator) -> list[str]:
        """One word for each gap."""
        # The last may fall short of 1 by rounding: the last piece then stands for the rest.
        at = (self.reached[:, :-1] <= rng.random(len(self.pieces))[:, None]).sum(axis=1)
        return [vocabulary.written[piece] for piece in self.pieces[np.arange(len(at)), at].tolist()]


def expectations(
    model: Any, tokenizer: Any, texts: Sequence[str], vocabulary: Vocabulary, top: int
) -> Iterator[Expectation]:
    """One expectation for each text, in order; gaps are the tokenizer's mask tokens."""
    left = iter(texts)
    while batch := list(islice(left, BATCH)):
        yield from _of_batch(model, tokenizer, batch, vocabulary, top)


def _of_batch(
    model: Any, tokenizer: Any, texts: list[str], vocabulary: Vocabulary, top: int
) -> Iterator[Expectation]:
    import torch

    encoded = tokenizer(texts, padding=True, truncation=True, return_tensors="pt").to(model.device)
    at = encoded["input_ids"] == tokenizer.mask_token_id
    with evaluating(model), torch.inference_mode():
        scores = _scores(model, encoded, at).float()
        # An embedding may have more rows than the tokenizer has pieces.
        allowed = torch.zeros(scores.shape[-1], dtype=torch.bool, device=scores.device)
        allowed[: len(vocabulary.allowed)] = torch.as_tensor(vocabulary.allowed, device=scores.device)
        scores[:, ~allowed] = -torch.inf
        likeliest = scores.topk(min(top, int(vocabulary.allowed.sum())), dim=1)
        reached = likeliest.values.double().softmax(dim=1).cumsum(dim=1).float()
    counts = at.sum(dim=1).tolist()
    pieces, shares = likeliest.indices.int().cpu().numpy(), reached.cpu().numpy()
    ends = np.cumsum([0, *counts])
    for start, stop in pairwise(ends):
        yield Expectation(pieces[start:stop], shares[start:stop])


def _scores(model: Any, encoded: Any, at: Any) -> Any:
    """(gaps, V) scores of all word pieces in the gaps.

    The vocabulary is the larger part of a small model. Where its head can be called by itself (BERT,
    RoBERTa and their kin) it sees the gaps only.
    """
    head = getattr(model, "cls", None) or getattr(model, "lm_head", None)
    body = getattr(model, "base_model", None)
    if head is None or body is None or body is model:
        return model(**encoded).logits[at]
    return head(body(**encoded).last_hidden_state[at])


def whole_words(tokenizer: Any) -> Vocabulary:
    """The word pieces that begin and end a word."""
    pieces = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    special = set(tokenizer.all_special_tokens)
    begins = tuple(mark for mark in ("\u0120", "\u2581") if any(str(p).startswith(mark) for p in pieces))

    def whole(piece: str) -> bool:
        if piece in special or piece.startswith("##") or (begins and not piece.startswith(begins)):
            return False
        return any(c.isalnum() for c in piece)

    allowed = np.array([whole(str(piece)) for piece in pieces], dtype=bool)
    if not allowed.any():
        raise OptionError("The masked language model's vocabulary has no whole words to fill gaps with.")
    at = np.flatnonzero(allowed).tolist()
    written = [""] * len(pieces)
    for place, word in zip(at, tokenizer.batch_decode([[place] for place in at]), strict=True):
        written[place] = str(word).strip()
    return Vocabulary(allowed, written)
