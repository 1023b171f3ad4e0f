"""Gradients of transformers: what each word of a text adds to a label's log-odds, to first order.

The derivative along the way from the mask's embedding to that of a word's pieces, summed over the pieces:
one backward pass says of all words at once what as many questions would say one by one.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kedge.typing import Floats, Span
from kedge.utils.modes import evaluating

__all__ = ["has_slopes", "word_slopes"]


def has_slopes(network: Any, tokenizer: Any) -> bool:
    """Whether pieces can be placed in a text and embeddings can be given in place of pieces."""
    return bool(getattr(tokenizer, "is_fast", False)) and hasattr(network, "get_input_embeddings")


def word_slopes(
    network: Any,
    tokenizer: Any,
    texts: Sequence[str],
    spans: Sequence[Sequence[Span | None]],
    place: int,
    *,
    mask: str,
    single: bool,
    longest: int | None,
) -> Floats:
    """(n, b) the slope of each word of each text; NaN for words that are not there.

    Parameters
    ----------
    network, tokenizer
        The classifier.
    texts, spans
        The texts, and where each of the b words stands in each of them; None where it was removed.
    place
        The label's place among the network's outputs.
    mask
        What a word is compared with; ``""``: nothing, the zero vector.
    single
        Whether each output is a label of its own, as in multi-label models.
    longest
        How many pieces the network takes.
    """
    import torch

    slopes = np.full((len(texts), len(spans[0])), np.nan)
    embed = network.get_input_embeddings()
    with evaluating(network):
        for row, text in enumerate(texts):  # one by one: texts differ in length, and padding is no word
            encoded = tokenizer(
                text,
                truncation=longest is not None,
                max_length=longest,
                return_offsets_mapping=True,
                return_tensors="pt",
            )
            offsets = encoded.pop("offset_mapping")[0].tolist()
            encoded = encoded.to(network.device)
            ids = encoded.pop("input_ids")
            with torch.enable_grad():
                embedded = embed(ids).detach().requires_grad_(requires_grad=True)
                logits = network(**encoded, inputs_embeds=embedded).logits[0]
                others = torch.cat([logits[:place], logits[place + 1 :]])
                odds = logits[place] if single else logits[place] - torch.logsumexp(others, dim=0)
                (gradient,) = torch.autograd.grad(odds, embedded)
            away = embedded.detach()
            if mask:
                reference = torch.tensor([tokenizer.convert_tokens_to_ids(mask)], device=ids.device)
                away = away - embed(reference).detach()[None]
            by_piece = (gradient * away).sum(dim=2)[0].double().cpu().numpy()
            slopes[row] = [_over(span, offsets, by_piece) for span in spans[row]]
    return slopes


def _over(span: Span | None, offsets: list[list[int]], by_piece: Floats) -> float:
    """The sum over the pieces of a word; 0 for a word beyond what the network takes."""
    if span is None:
        return float("nan")
    start, stop = span
    return float(sum(by_piece[i] for i, (a, b) in enumerate(offsets) if a < stop and b > start))
