"""The fewest words replaced, not removed, that change a label: by what a perturbation offers for each place.

Words are replaced one after the other, the one that does most for the label first, each by the offered word
that hurts the label most; then those that are not needed are put back. The model is queried with every text.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kedge.perturb import Perturbation
from kedge.text.document import Document
from kedge.typing import Bools, Floats

__all__ = ["Replacing"]

# Words offered for one place, and texts queried in all.
_OFFERS, _TEXTS = 6, 400


@dataclass(frozen=True)
class Replacing:
    """Texts with some words replaced.

    Parameters
    ----------
    document, perturbation
        The text, and what offers words for its places.
    answers
        Texts to whether the label holds, and its log-odds (NaN without them).
    rng
        What draws the offers.
    """

    document: Document
    perturbation: Perturbation
    answers: Callable[[list[str]], tuple[Bools, Floats]]
    rng: np.random.Generator

    def __call__(self, effects: Floats) -> dict[int, str] | None:
        """Replacements by position that lose the label, each of them needed; None if none were found.

        ``effects`` is roughly what each position does for the label: the order in which they are tried.
        """
        write = self.perturbation.writer(self.document, self.rng)
        stuck = self.perturbation.protected(self.document)
        chosen: dict[int, str] = {}
        asked, best = 0, np.inf
        for k in np.argsort(-effects, kind="stable").tolist():
            offers = [] if stuck[k] else self._offers(write, k)
            if not offers:
                continue
            if asked + len(offers) > _TEXTS:
                return None
            asked += len(offers)
            holds, odds = self.answers([self.written({**chosen, k: word}) for word in offers])
            if not holds.all():
                chosen[k] = offers[int(np.flatnonzero(~holds)[0])]
                return self._needed(chosen)
            if np.isnan(odds).any() or float(odds.min()) < best:
                at = 0 if np.isnan(odds).any() else int(odds.argmin())
                chosen[k], best = offers[at], float(odds[at])
        return None

    def written(self, chosen: dict[int, str]) -> str:
        """The text with these replacements."""
        parts, end = [], 0
        for k in sorted(chosen):
            token = self.document.tokens[k]
            parts += [self.document.text[end : token.start], chosen[k]]
            end = token.stop
        return "".join([*parts, self.document.text[end:]])

    def _offers(self, write: Callable[[Bools], list[str]], position: int) -> list[str]:
        """Different words for one place."""
        kept = np.ones((_OFFERS, len(self.document)), dtype=bool)
        kept[:, position] = False
        token, text = self.document.tokens[position], self.document.text
        own, tail = text[token.start : token.stop], len(text) - token.stop
        drawn = (row[token.start : len(row) - tail] for row in write(kept))
        return [word for word in dict.fromkeys(drawn) if word != own]

    def _needed(self, chosen: dict[int, str]) -> dict[int, str]:
        """Without those that can be put back."""
        while len(chosen) > 1:
            fewer = [{k: w for k, w in chosen.items() if k != gone} for gone in reversed(chosen)]
            holds, _ = self.answers([self.written(one) for one in fewer])
            if holds.all():
                break
            chosen = fewer[int(np.flatnonzero(~holds)[0])]
        return chosen
