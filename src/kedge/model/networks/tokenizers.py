"""Tokenizers of transformers: the token that stands for a missing word, and texts that are too long."""

from typing import Any

__all__ = ["mask_of", "note_of_cut"]


def mask_of(tokenizer: Any) -> str:
    """The token that stands for a word that is not there: the mask, else the unknown token, else nothing.

    It is attended to, like any word: that is how a network learns what it means. A token that
    also marks the beginning or the end of a text would say something else.
    """
    marks = {getattr(tokenizer, f"{role}_token", None) for role in ("bos", "eos", "cls", "sep", "pad")}
    for token in (tokenizer.mask_token, tokenizer.unk_token):
        if token is not None and token not in marks and _is_one_piece(tokenizer, str(token)):
            return str(token)
    return ""


def _is_one_piece(tokenizer: Any, token: str) -> bool:
    """Whether the token, written in a text, is read as itself."""
    plain, masked = (
        tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("a b", f"a {token} b")
    )
    place = tokenizer.convert_tokens_to_ids(token)
    return len(masked) == len(plain) + 1 and list(masked).count(place) == list(plain).count(place) + 1


def note_of_cut(tokenizer: Any, text: str, longest: int | None) -> tuple[str, ...]:
    """A note where the network does not see the whole text."""
    # Asked for the numbers alone, tokenizers are quiet about texts that are too long for the network.
    pieces = 0 if longest is None else len(tokenizer(text, truncation=False, verbose=False)["input_ids"])
    if longest is None or pieces <= longest:
        return ()
    takes = f"The text has {pieces} word pieces and the model takes {longest}"
    beyond = "the words beyond have no say in its label, and come into view only where others are removed"
    return (f"{takes}: it is cut; {beyond}, not masked.",)
