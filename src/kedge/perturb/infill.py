"""Masked-language-model replacement: what is removed is filled in by what a language model expects there.

As in the official implementation, words are drawn from the model's most likely ones, either for
all gaps in one pass or one gap after the other, each seeing the words drawn before it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kedge.errors import MissingDependency, OptionError
from kedge.perturb.language import BATCH, Expectation, Vocabulary, expectations, whole_words
from kedge.perturb.masking import coins
from kedge.perturb.perturbation import Writer, check_keep, named
from kedge.text.document import Document
from kedge.text.inputs import as_words
from kedge.typing import Bools, Counts
from kedge.utils.messages import first_line
from kedge.utils.sentences import Option

__all__ = ["Infill"]

# Gaps whose expectations are kept for later samples of the same document: about 40 MB.
_REMEMBERED = 10_000
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
        Words that are never replaced, whatever their case; they are never part of an anchor.
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
    independent = True

    def __post_init__(self) -> None:
        check_keep(self.keep)
        if self.mode not in {"onepass", "sequential"}:
            raise OptionError(Option("mode"), f" must be 'onepass' or 'sequential', got {self.mode!r}.")
        if self.top < 1:
            raise OptionError(Option("top"), f" must be at least 1, got {self.top}.")
        object.__setattr__(self, "protect", as_words(self.protect, Option("protect")))
        if isinstance(self.model, (str, Path)):
            model, tokenizer = _loaded(str(self.model))
            object.__setattr__(self, "model", model)
            object.__setattr__(self, "tokenizer", self.tokenizer or tokenizer)
        if self.tokenizer is None or getattr(self.tokenizer, "mask_token", None) is None:
            raise OptionError(
                "Infill needs the name of a masked language model, or ",
                Option("model"),
                " and ",
                Option("tokenizer"),
                " with a mask.",
            )

    def protected(self, document: Document) -> Bools:
        """(b,) the positions of protected words."""
        return named(document, self.protect)

    def draw(self, sizes: Counts, kept: Counts, n: int, rng: np.random.Generator) -> Counts:
        """(n, d) counts of the units that ``n`` samples keep."""
        return coins(sizes, kept, n, self.keep, rng)

    def writer(self, document: Document, rng: np.random.Generator) -> Writer:
        """Give the filled-in texts for (n, b) kept positions."""
        vocabulary = whole_words(self.tokenizer)
        parts = self._parts(document)
        text = document.text
        ends = [0, *(document.tokens[part.stop - 1].stop for part in parts[:-1]), len(text)]
        known: list[dict[bytes, Expectation]] = [{} for _ in parts]

        def write(kept: Bools) -> list[str]:
            filled = [""] * len(kept)
            for n, (part, start, stop) in enumerate(zip(parts, ends, ends[1:], strict=False)):
                rows = kept[:, part.start : part.stop]
                pieces = [_with_gaps(document, row, part, start, stop) for row in kept]
                if self.mode == "onepass":
                    self._fill_at_once(pieces, rows, known[n], vocabulary, rng)
                else:
                    self._fill_in_turn(pieces, vocabulary, rng)
                for k, piece in enumerate(pieces):
                    # A gap that the language model could not see stays what its tokenizer calls unknown.
                    filled[k] += _joined(piece, str(self.tokenizer.unk_token or "UNK"))
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

    def _fill_at_once(
        self,
        pieces: list[list[str | None]],
        rows: Bools,
        known: dict[bytes, Expectation],
        vocabulary: Vocabulary,
        rng: np.random.Generator,
    ) -> None:
        """All gaps of a piece from one pass; which words are missing says all about it."""
        keys = [row.tobytes() for row in rows]
        for start in range(0, len(pieces), BATCH):
            some = range(start, min(start + BATCH, len(pieces)))
            new = {keys[k]: k for k in some if keys[k] not in known and None in pieces[k]}
            texts = [_joined(pieces[k], self.tokenizer.mask_token) for k in new.values()]
            found = expectations(self.model, self.tokenizer, texts, vocabulary, self.top)
            known.update(zip(new, found, strict=True))
            for k in some:
                gaps = [i for i, x in enumerate(pieces[k]) if x is None]
                words = known[keys[k]].draw(vocabulary, rng) if gaps else []
                for gap, word in zip(gaps, words, strict=False):
                    pieces[k][gap] = word
            if sum(len(e.pieces) for e in known.values()) > _REMEMBERED:
                known.clear()

    def _fill_in_turn(
        self, pieces: list[list[str | None]], vocabulary: Vocabulary, rng: np.random.Generator
    ) -> None:
        """The first gap of every piece, then the next: each sees the words drawn before it."""
        gaps = [[i for i, x in enumerate(piece) if x is None] for piece in pieces]
        while todo := [k for k, g in enumerate(gaps) if g]:
            texts = [_joined(pieces[k], self.tokenizer.mask_token) for k in todo]
            found = expectations(self.model, self.tokenizer, texts, vocabulary, self.top)
            for k, expectation in zip(todo, found, strict=True):
                first = Expectation(expectation.pieces[:1], expectation.reached[:1])
                for word in first.draw(vocabulary, rng):
                    pieces[k][gaps[k][0]] = word
                del gaps[k][0]


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
        reason = first_line(error)
        raise OptionError(
            f"The masked language model {name!r} could not be loaded ({reason}); give the directory of a "
            "saved model, or the name of one that can be downloaded or is in the local cache."
        ) from error
