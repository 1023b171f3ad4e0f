"""Gradients of transformers: what each word of a text adds to a label's log-odds, to first order.

The derivative along the way from the mask's embedding to that of a word's pieces, summed over the pieces:
one backward pass says of all words at once what as many queries would say one by one.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kedge.typing import Counts, Floats, Span

__all__ = ["has_slopes", "log_odds", "word_slopes"]


def has_slopes(network: Any, tokenizer: Any) -> bool:
    """Whether pieces can be placed in a text, and their embeddings be watched."""
    return bool(getattr(tokenizer, "is_fast", False)) and hasattr(network, "get_input_embeddings")


def log_odds(scores: Any, place: int) -> Any:
    """The log-odds of one of several classes, by their scores."""
    import torch

    return scores[place] - torch.logsumexp(torch.cat([scores[:place], scores[place + 1 :]]), dim=0)


def word_slopes(
    network: Any,
    tokenizer: Any,
    odds: Callable[[Any], Any],
    text: str,
    spans: Sequence[Span],
    shares: Floats,
    *,
    mask: str,
    longest: int | None,
) -> Floats:
    """(n, b) the slope of each word of a text, from the mask's embedding to its own, at n places.

    Parameters
    ----------
    network, tokenizer
        The transformer that reads the text, in evaluation mode.
    odds
        From an encoded text to the label's log-odds, differentiable.
    text, spans
        The text, and where its b words stand.
    shares
        (n, b) how far each word is on the way from the mask, 0, to itself, 1.
    mask
        What a word is compared with; ``""``: nothing, the zero vector.
    longest
        How many pieces the network takes; words beyond have slope 0.
    """
    import torch

    embed = network.get_input_embeddings()
    reference = torch.zeros_like(embed.weight[0])
    if mask:
        at = torch.tensor(tokenizer.convert_tokens_to_ids(mask), device=embed.weight.device)
        reference = embed(at).detach()
    encoded = tokenizer(
        text,
        truncation=longest is not None,
        max_length=longest,
        return_offsets_mapping=True,
        return_tensors="pt",
    )
    owners = _owners(encoded.pop("offset_mapping")[0].tolist(), spans)
    encoded = encoded.to(network.device)
    slopes = np.zeros(shares.shape)
    for row, share in enumerate(shares):  # one by one: a pass takes as much memory as training does
        there = torch.as_tensor(np.where(owners >= 0, share[owners], 1.0))[None, :, None]
        with torch.enable_grad(), _partly(embed, reference, there.to(reference)) as leaves:
            gradients = torch.autograd.grad(odds(encoded), [leaf for leaf, _ in leaves])
        for gradient, (_, away) in zip(gradients, leaves, strict=True):
            by_piece = (gradient * away).sum(dim=2)[0].double().cpu().numpy()
            slopes[row] += np.bincount(owners[owners >= 0], by_piece[owners >= 0], minlength=len(spans))
    return slopes


def _owners(offsets: Sequence[Sequence[int]], spans: Sequence[Span]) -> Counts:
    """(pieces,) the word that each piece belongs to, -1 for none."""
    ends = [stop for _, stop in spans]
    owners = np.full(len(offsets), -1)
    for i, (start, stop) in enumerate(offsets):
        word = bisect_right(ends, start)
        if stop > start and word < len(spans) and spans[word][0] < stop:
            owners[i] = word
    return owners


@contextmanager
def _partly(embed: Any, reference: Any, there: Any) -> Iterator[list[tuple[Any, Any]]]:
    """Let a layer of embeddings give words that are there in part, as leaves to differentiate by.

    Each leaf comes with the way from the mask to the whole word.
    """
    leaves: list[tuple[Any, Any]] = []

    def watch(_module: Any, _inputs: Any, output: Any) -> Any:
        away = output.detach() - reference
        leaf = (reference + there * away).requires_grad_(requires_grad=True)
        leaves.append((leaf, away))
        return leaf

    handle = embed.register_forward_hook(watch)
    try:
        yield leaves
    finally:
        handle.remove()
