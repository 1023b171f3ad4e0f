"""The paper's perturbation: a removed position is replaced by a mask that means nothing, in place."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kedge.errors import OptionError
from kedge.perturb.perturbation import Writer, check_keep, named
from kedge.perturb.removal import removal_writer
from kedge.text.document import Document
from kedge.text.inputs import as_words
from kedge.typing import Bools, Counts
from kedge.utils.sentences import Option

__all__ = ["UNKNOWN", "Masking", "coins", "three_steps"]

UNKNOWN = "UNK"
"""The paper's mask: a word that no vocabulary is expected to have."""

Strings = NDArray[np.object_]

# Up to this many free occurrences of any unit are drawn one by one: as many as a byte counts.
_FEW = 255


def coins(sizes: Counts, kept: Counts, n: int, keep: float, rng: np.random.Generator) -> Counts:
    """Independent coins: M_j = a_j + Bin(m_j - a_j, keep), which is Proposition 1's law."""
    free = sizes - kept
    if free.max(initial=0) > _FEW:
        # A few very frequent words must not make all the others expensive.
        often = np.flatnonzero(free > _FEW)
        drawn = coins(np.where(free > _FEW, kept, sizes), kept, n, keep, rng)
        drawn[:, often] += rng.binomial(free[often], keep, size=(n, len(often)))
        return drawn
    # Single coins are far cheaper than a binomial number: one for each unit, void where none is free,
    # and beside them those of second and later occurrences, summed by unit.
    further = np.maximum(free - 1, 0)
    tossed = _tosses(n, len(free) + int(further.sum()), keep, rng)
    stays, more = tossed[:, : len(free)], tossed[:, len(free) :]
    if not free.all():
        stays[:, free == 0] = 0
    if more.shape[1]:
        several = np.flatnonzero(further)
        # Running sums overflow the byte, and so do their differences: what is left is right.
        sums = np.cumsum(more, axis=1, dtype=np.uint8)[:, np.cumsum(further[several]) - 1]
        sums[:, 1:] -= sums[:, :-1].copy()
        stays[:, several] += sums
    counts: Counts = kept + stays
    return counts


def _tosses(n: int, coins: int, keep: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """(n, coins) independent coins, each 1 with probability ``keep``; fair ones cost a bit each."""
    if keep == 0.5:
        width = -(-coins // 8)
        drawn = np.frombuffer(rng.bytes(n * width), dtype=np.uint8).reshape(n, width)
        return np.unpackbits(drawn, axis=1, count=coins)
    return (rng.random((n, coins)) < keep).view(np.uint8)


def _joins(character: str) -> bool:
    """Whether a mask beside this character would become one word with it."""
    return character.isalnum() or (character != "" and character in "'\u2019_\u200c\u200d")


def three_steps(sizes: Counts, kept: Counts, n: int, keep: float, rng: np.random.Generator) -> Counts:
    """The official form: n copies; for each free occurrence B ~ Bin(n, 1 - keep) copies lose it.

    Each occurrence is removed from a uniformly drawn set of B copies, so that by Proposition 1 the
    law is that of independent coins.
    """
    counts = np.tile(sizes, (n, 1))
    for unit in np.repeat(np.arange(len(sizes)), sizes - kept):
        removed = rng.choice(n, size=rng.binomial(n, 1 - keep), replace=False)
        counts[removed, unit] -= 1
    return counts


@dataclass(frozen=True)
class Masking:
    """Replace each position that is not kept by ``mask``, in the caller's own text.

    With nothing masked the text is the caller's, byte for byte. Only the masked spans change, and a
    blank goes between the mask and a neighbour it would otherwise merge with.

    Parameters
    ----------
    mask
        What stands in place of a removed unit; it must mean nothing to the model. ``""`` removes it,
        and one neighbouring blank. None: whatever fits the model that is explained
        (``kedge.reading.mask_choice``), ``"UNK"`` where there is no model.
    keep
        The probability that a position outside the anchor stays.
    form
        ``"coins"`` or ``"three_steps"``: the same law, drawn in the two ways of the paper.
    protect
        Words that are never removed, whatever their case; they are never part of an anchor.

    Examples
    --------
    >>> from kedge.text.tokenize import words
    >>> document = Document("Good, very good!", words("Good, very good!"))
    >>> Masking().writer(document)(np.array([[True, False, True]]))
    ['Good, UNK good!']
    >>> Masking(mask="").writer(document)(np.array([[True, False, True]]))
    ['Good, good!']
    """

    mask: str | None = None
    keep: float = 0.5
    form: Literal["coins", "three_steps"] = "coins"
    protect: tuple[str, ...] = ()

    repeatable = True
    independent = True

    def __post_init__(self) -> None:
        if self.mask is not None and not isinstance(self.mask, str):
            raise OptionError(Option("mask"), f" must be a string, such as 'UNK' or '', got {self.mask!r}.")
        check_keep(self.keep)
        if self.form not in {"coins", "three_steps"}:
            raise OptionError(Option("form"), f" must be 'coins' or 'three_steps', got {self.form!r}.")
        object.__setattr__(self, "protect", as_words(self.protect, Option("protect")))

    @property
    def name(self) -> str:
        """``"unk"`` for the paper's mask, ``"removal"`` without one, else the mask itself."""
        mask = self.written
        return "unk" if mask == UNKNOWN else f"mask {mask}" if mask else "removal"

    @property
    def written(self) -> str:
        """What is written in place of a removed unit."""
        return UNKNOWN if self.mask is None else self.mask

    @property
    def removes(self) -> bool:
        """Without protected words, a word not kept is gone for a model that counts words."""
        return not self.protect

    def protected(self, document: Document) -> Bools:
        """(b,) the positions of protected words."""
        return named(document, self.protect)

    def draw(self, sizes: Counts, kept: Counts, n: int, rng: np.random.Generator) -> Counts:
        """(n, d) counts of the units that ``n`` samples keep."""
        form = coins if self.form == "coins" else three_steps
        return form(sizes, kept, n, self.keep, rng)

    def writer(self, document: Document, rng: np.random.Generator | None = None) -> Writer:
        """Give the masked texts for (n, b) kept positions."""
        del rng  # masking leaves nothing to chance
        if not self.written:
            return removal_writer(document)
        whole, masked, tail = self._pieces(document)

        def write(kept: Bools) -> list[str]:
            return ["".join(row) + tail for row in np.where(kept, whole, masked).tolist()]

        return write

    def _pieces(self, document: Document) -> tuple[Strings, Strings, str]:
        """For each position what precedes it plus the unit itself, or plus the mask; and the tail."""
        text, tokens = document.text, document.tokens
        whole, masked, end = [], [], 0
        for k, token in enumerate(tokens):
            gap = text[end : token.start]
            before = text[token.start - 1 : token.start]
            after = text[token.stop : token.stop + 1]
            touching = k + 1 < len(tokens) and tokens[k + 1].start == token.stop
            left = " " if token.start == end > 0 or _joins(before) else ""
            right = " " if touching or _joins(after) else ""
            whole.append(gap + text[token.start : token.stop])
            masked.append(gap + left + self.written + right)
            end = token.stop
        return np.array(whole, dtype=object), np.array(masked, dtype=object), text[end:]
