"""Gradients of transformers: what each word of a text adds to a label's log-odds, to first order.

The derivative along the way from the mask's embedding to that of a word's pieces, summed over the pieces:
one backward pass says of all words at once what as many questions would say one by one.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kedge.typing import Floats, Span

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
    texts: Sequence[str],
    spans: Sequence[Sequence[Span | None]],
    *,
    mask: str,
    longest: int | None,
) -> Floats:
    """(n, b) the slope of each word of each text; NaN for words that are not there.

    Parameters
    ----------
    network, tokenizer
        The transformer that reads the texts, in evaluation mode.
    odds
        From an encoded text to the label's log-odds, differentiable.
    texts, spans
        The texts, and where each of the b words stands in each of them; None where it was removed.
    mask
        What a word is compared with; ``""``: nothing, the zero vector.
    longest
        How many pieces the network takes.
    """
    import torch

    slopes = np.full((len(texts), len(spans[0])), np.nan)
    embed = network.get_input_embeddings()
    reference: Any = 0.0
    if mask:
        at = torch.tensor([tokenizer.convert_tokens_to_ids(mask)], device=network.device)
        reference = embed(at).detach()[None]
    for row, text in enumerate(texts):  # one by one: texts differ in length, and padding is no word
        encoded = tokenizer(
            text,
            truncation=longest is not None,
            max_length=longest,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = encoded.pop("offset_mapping")[0].tolist()
        with torch.enable_grad(), _watched(embed) as embedded:
            score = odds(encoded.to(network.device))
            gradients = torch.autograd.grad(score, embedded)
        by_piece = sum(
            (gradient * (leaf.detach() - reference)).sum(dim=2)[0]
            for gradient, leaf in zip(gradients, embedded, strict=True)
        )
        slopes[row] = [_over(span, offsets, by_piece.double().cpu().numpy()) for span in spans[row]]
    return slopes


@contextmanager
def _watched(embed: Any) -> Iterator[list[Any]]:
    """What a layer of embeddings gives while somebody looks, as leaves to differentiate by."""
    leaves: list[Any] = []

    def watch(_module: Any, _inputs: Any, output: Any) -> Any:
        leaves.append(output.detach().requires_grad_(requires_grad=True))
        return leaves[-1]

    handle = embed.register_forward_hook(watch)
    try:
        yield leaves
    finally:
        handle.remove()


def _over(span: Span | None, offsets: list[list[int]], by_piece: Floats) -> float:
    """The sum over the pieces of a word; 0 for a word beyond what the network takes."""
    if span is None:
        return float("nan")
    start, stop = span
    return float(sum(by_piece[i] for i, (a, b) in enumerate(offsets) if a < stop and b > start))
