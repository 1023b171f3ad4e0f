"""Masked-language-model replacement: what is removed is filled in by what a language model expects there.

As in the official implementation, words are drawn from the model's most likely ones, either for
all gaps in one pass or one gap after the other, each seeing the words drawn before it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kedge.document import Document
from kedge.errors import MissingDependency, OptionError
from kedge.given import given_words
from kedge.perturb.masking import coins
from kedge.perturb.perturbation import Writer, check_keep, named
from kedge.typing import Bools, Counts, Floats

__all__ = ["Infill"]

# Texts that the language model fills in at a time.
_BATCH = 32
# Places kept free for the special tokens around a piece of text.
_SPECIAL = 4
_NO_LIMIT = 1_000_000


@dataclass(frozen=True)
class Infill:
    """Replace each position that is not kept by a word drawn from a masked language model.

    Parameters
    ----------
    model
        The name or directory of any model that ``AutoModelForMaskedLM`` loads, or the model itself.
    tokenizer
        Its tokenizer, when the model itself was given.
    mode
        ``"onepass"``: all gaps at once; ``"sequential"``: one after the other, as many passes as a
        text has gaps.
    keep
        The probability that a position outside the anchor stays.
    protect
        Words that are never replaced, whatever their case; they can be in no anchor.
    top
        How many of the likeliest words are drawn from (the official code takes 500).
    """

    model: Any
    tokenizer: Any = None
    mode: Literal["onepass", "sequential"] = "onepass"
    keep: float = 0.5
    protect: tuple[str, ...] = ()
    top: int = 500

    name = "infill"
    removes = False
    repeatable = False

    def __post_init__(self) -> None:
        check_keep(self.keep)
        if self.mode not in {"onepass", "sequential"}:
            raise OptionError(f"mode must be 'onepass' or 'sequential', got {self.mode!r}.")
        if self.top < 1:
            raise OptionError(f"top must be at least 1, got {self.top}.")
        object.__setattr__(self, "protect", given_words(self.protect, "protect"))
        if isinstance(self.model, (str, Path)):
            model, tokenizer = _loaded(str(self.model))
            object.__setattr__(self, "model", model)
            object.__setattr__(self, "tokenizer", self.tokenizer or tokenizer)
        if self.tokenizer is None or getattr(self.tokenizer, "mask_token", None) is None:
            raise OptionError(
                "Infill needs the name of a masked language model, or model= and tokenizer= with a mask."
            )

    def protected(self, document: Document) -> Bools:
        """(b,) the positions of protected words."""
        return named(document, self.protect)

    def draw(self, sizes: Counts, kept: Counts, n: int, rng: np.random.Generator) -> Counts:
        """(n, d) counts of the units that ``n`` samples keep."""
        return coins(sizes, kept, n, self.keep, rng)

    def writer(self, document: Document, rng: np.random.Generator) -> Writer:
        """Give the filled-in texts for (n, b) kept positions."""
        allowed = _whole_words(self.tokenizer)
        parts = self._parts(document)
        text = document.text
        ends = [0, *(document.tokens[part.stop - 1].stop for part in parts[:-1]), len(text)]

        def write(kept: Bools) -> list[str]:
            filled = [""] * len(kept)
            for part, start, stop in zip(parts, ends, ends[1:], strict=False):
                pieces = [_with_gaps(document, row, part, start, stop) for row in kept]
                for i in range(0, len(pieces), _BATCH):
                    done = self._filled(pieces[i : i + _BATCH], allowed, rng)
                    for k, piece in enumerate(done, start=i):
                        filled[k] += piece
            return filled

        return write

    def _parts(self, document: Document) -> list[range]:
        """Runs of positions that the language model can see at once."""
        limit = self.tokenizer.model_max_length
        if limit >= _NO_LIMIT:
            limit = getattr(self.model.config, "max_position_embeddings", 512)
        room = max(1, int(limit) - _SPECIAL)
        parts, first, used = [], 0, 0
        for k, token in enumerate(document.tokens):
            after = document.tokens[k + 1].start if k + 1 < len(document) else len(document.text)
            size = max(1, len(self.tokenizer.tokenize(document.text[token.start : after])))
            if used + size > room and k > first:
                parts.append(range(first, k))
                first, used = k, 0
            used += size
        return [*parts, range(first, len(document))]

    def _filled(self, pieces: list[list[str | None]], allowed: Bools, rng: np.random.Generator) -> list[str]:
        """Fill the gaps (None) of some pieces of text."""
        gaps = [[i for i, x in enumerate(piece) if x is None] for piece in pieces]
        rounds = 1 if self.mode == "onepass" else max((len(g) for g in gaps), default=0)
        for _ in range(rounds):
            todo = [k for k, g in enumerate(gaps) if g]
            if not todo:
                break
            laws = self._laws([_joined(pieces[k], self.tokenizer.mask_token) for k in todo])
            for k, law in zip(todo, laws, strict=True):
                now = gaps[k] if self.mode == "onepass" else gaps[k][:1]
                for gap, scores in zip(now, law, strict=False):
                    pieces[k][gap] = self._word(scores, allowed, rng)
                gaps[k] = gaps[k][len(now) :]
        # A gap that the language model could not see stays what its tokenizer calls unknown.
        return [_joined(piece, str(self.tokenizer.unk_token or "UNK")) for piece in pieces]

    def _laws(self, texts: list[str]) -> list[Floats]:
        """For each text (gaps, V) the scores of every word piece at each of its gaps."""
        import torch

        encoded = self.tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
        encoded = encoded.to(self.model.device)
        training = self.model.training
        self.model.eval()
        try:
            with torch.inference_mode():
                logits = self.model(**encoded).logits
        finally:
            self.model.train(training)
        at = encoded["input_ids"] == self.tokenizer.mask_token_id
        return [logits[i][at[i]].float().cpu().numpy().astype(np.float64) for i in range(len(texts))]

    def _word(self, scores: Floats, allowed: Bools, rng: np.random.Generator) -> str:
        scores = np.where(allowed[: len(scores)], scores, -np.inf)
        best = np.argsort(-scores, kind="stable")[: min(self.top, int(allowed.sum()))]
        share = np.exp(scores[best] - scores[best[0]])
        chosen = int(best[rng.choice(len(best), p=share / share.sum())])
        return str(self.tokenizer.decode([chosen])).strip()


def _joined(piece: list[str | None], gap: str) -> str:
    """A piece of text with something in each gap."""
    return "".join(gap if x is None else x for x in piece)


def _with_gaps(document: Document, row: Bools, part: range, start: int, stop: int) -> list[str | None]:
    """A stretch of the text as alternating strings: what lies between words, and words (None for a gap)."""
    piece: list[str | None] = []
    end = start
    for k in part:
        token = document.tokens[k]
        word = document.text[token.start : token.stop]
        piece += [document.text[end : token.start], word if row[k] else None]
        end = token.stop
    return [*piece, document.text[end:stop]]


def _whole_words(tokenizer: Any) -> Bools:
    """(V,) which word pieces can stand as a word of their own."""
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
    return allowed


def _loaded(name: str) -> tuple[Any, Any]:
    """A model and its tokenizer by name or directory."""
    try:
        from transformers import AutoModelForMaskedLM, AutoTokenizer
    except ImportError:
        raise MissingDependency(
            "Infill needs transformers, which is not installed; install it with: pip install "
            "'kedge[transformers]'."
        ) from None
    try:
        return AutoModelForMaskedLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        reason = str(error).strip().split("\n", maxsplit=1)[0]
        raise OptionError(
            f"The masked language model {name!r} could not be loaded ({reason}); give the directory of a "
            "saved model, or the name of one that can be downloaded or is in the local cache."
        ) from error
