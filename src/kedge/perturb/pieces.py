"""What masking does to a text, piece by piece.

Where nothing that is found in a text depends on what stands beyond a blank, masking a document is masking its
pieces between blanks. Each has few words, so that every combination of masks can be tried.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from kedge.perturb.masking import Masking
from kedge.text.document import Document, Token
from kedge.text.patterns import BLANKS

__all__ = ["masked_pieces", "pieces_of"]

# Words between two blanks that are tried with every combination of masks.
_MOST = 6


def pieces_of(document: Document) -> list[Document] | None:
    """The document cut at its blanks, each different piece with words once; None where that cannot be done.

    It cannot where a word has a blank inside, or a piece so many words that their masks are too many.
    """
    found: dict[str, Document] = {}
    text, tokens = document.text, document.tokens
    at = start = 0
    for stop in [*(k for k, character in enumerate(text) if character in BLANKS), len(text)]:
        inside = []
        while at < len(tokens) and tokens[at].start < stop:
            inside.append(tokens[at])
            at += 1
        if inside:
            if inside[-1].stop > stop or len(inside) > _MOST:
                return None
            moved = [Token(t.word, t.start - start, t.stop - start) for t in inside]
            found[text[start:stop]] = Document(text[start:stop], moved)
        start = stop + 1
    return list(found.values())


def masked_pieces(piece: Document, masking: Masking) -> Iterator[tuple[list[bool], str]]:
    """Which words of a piece are kept, and the text that is left: for every combination."""
    kept = list(product([True, False], repeat=len(piece)))
    texts = masking.writer(piece)(np.array(kept, dtype=bool))
    return ((list(row), text) for row, text in zip(kept, texts, strict=True))
