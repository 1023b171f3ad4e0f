"""Rules for a whole model: a short list of anchors that covers most of a corpus.

Every explanation is a candidate rule "contains these words -> label", but for those of documents that need
no word to keep their label: the words given there are as good as any other. A rule covers the documents
that contain its words; its corpus precision is the share of them that the model gives this label
(anchors promise that under masking, which is not the same as on other documents). The number of
documents covered by some rule with their label is submodular, so taking at each step the rule that
adds most reaches at least 1 - 1/e of the best list of that length (Nemhauser, Wolsey, Fisher 1978).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kedge.errors import OptionError
from kedge.text.index import CorpusIndex
from kedge.typing import Bools, Label
from kedge.utils.sentences import Option

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = ["CorpusRule", "RuleList", "check_rules", "index_of", "pick_rules"]


@dataclass(frozen=True)
class CorpusRule:
    """A document with these words gets this label.

    Parameters
    ----------
    words, label
        The rule.
    covered
        How many documents contain the words.
    coverage, precision
        Their share of the corpus, and the share of them that have the label.
    adds
        How many documents with the label it covers that no earlier rule with that label covers.
    explains
        How many documents have exactly this explanation.
    """

    words: tuple[str, ...]
    label: Label
    covered: int
    coverage: float
    precision: float
    adds: int
    explains: int


@dataclass(frozen=True)
class RuleList:
    """A short list of rules for a model.

    Parameters
    ----------
    rules
        The rules, in the order in which they were picked.
    documents
        How many documents the corpus has.
    coverage
        Share of the documents that at least one rule covers.
    fidelity
        Share of these for which the first rule that covers them gives the model's label.
    candidates
        How many different anchors there were to choose from.
    needless
        How many documents need no word to keep their label, so that their anchors are no candidates.
    """

    rules: tuple[CorpusRule, ...]
    documents: int
    coverage: float
    fidelity: float
    candidates: int
    needless: int = 0

    def to_rows(self) -> list[dict[str, Any]]:
        """Flat rows for a table."""
        return [
            {
                "words": list(r.words),
                "label": r.label,
                "coverage": r.coverage,
                "precision": r.precision,
                "covered": r.covered,
                "adds": r.adds,
                "explains": r.explains,
            }
            for r in self.rules
        ]

    def to_html(self, model: str | None = None, corpus: str | None = None) -> str:
        """One self-contained page; ``model`` and ``corpus`` are what its title calls them."""
        from kedge.render.rules import page

        return page(self, model, corpus)

    def __str__(self) -> str:
        from kedge.render.rules import table

        return table(self)


def check_rules(max_rules: int, min_precision: float) -> None:
    """Refuse a list that cannot be meant, before the corpus is explained for it."""
    if max_rules < 1 or not 0 <= min_precision <= 1:
        raise OptionError(
            Option("max_rules"),
            " must be at least 1 and ",
            Option("min_precision"),
            f" in [0, 1], got {max_rules} and {min_precision}.",
        )


def index_of(explainer: "Explainer", read: Callable[[], Iterable[Any]]) -> CorpusIndex:
    """The index of some documents, which are read when need be: the explainer's own, if it is of these."""
    there = explainer.options.corpus
    if isinstance(there, CorpusIndex) and there.is_of(read()):
        return there
    return explainer.index(read())


def pick_rules(
    rows: Iterable[Mapping[str, Any]],
    index: CorpusIndex,
    *,
    max_rules: int = 20,
    min_precision: float = 0.9,
) -> RuleList:
    """Pick rules greedily from the rows of a result.

    Parameters
    ----------
    rows
        Rows as ``kedge corpus`` writes them; ``row`` is the document's number in the index.
    index
        The corpus, in the words of the model.
    max_rules
        The length of the list at most.
    min_precision
        Rules with a lower corpus precision are left out.
    """
    check_rules(max_rules, min_precision)
    labels: list[Label] = []
    label_of = np.full(len(index), -1, dtype=np.int64)  # -1: no label is known
    codes: dict[tuple[type, Label], int] = {}
    times: Counter[tuple[tuple[str, ...], int]] = Counter()
    needless = 0
    for row in rows:
        if row["error"] is not None:
            continue
        if not 0 <= row["row"] < len(index):
            raise OptionError(f"The index has {len(index)} documents, but there is a row {row['row']}.")
        key = (type(row["label"]), row["label"])
        if key not in codes:
            codes[key] = len(labels)
            labels.append(row["label"])
        label_of[row["row"]] = codes[key]
        if row.get("needs_no_word"):
            needless += 1
        elif row["words"] and row["status"] != "not_reached":
            times[tuple(sorted(row["words"])), codes[key]] += 1
    found = _greedy(times, labels, label_of, index, max_rules, min_precision)
    return replace(found, needless=needless)


def _greedy(
    times: Counter[tuple[tuple[str, ...], int]],
    labels: list[Label],
    label_of: NDArray[np.int64],
    index: CorpusIndex,
    max_rules: int,
    min_precision: float,
) -> RuleList:
    held: Bools = np.zeros(len(index), dtype=bool)  # covered by a rule with their label
    free: Bools = np.ones(len(index), dtype=bool)  # covered by no rule
    right: Bools = np.zeros(len(index), dtype=bool)  # given their label by the first rule that covers them

    def gain(words: tuple[str, ...], code: int) -> int:
        rows = index.documents(words)
        return int((~held[rows] & (label_of[rows] == code)).sum())

    # Lazy greedy: a gain computed earlier is an upper bound of the gain now, so only the top of the
    # heap needs to be looked at again. Ties go to the shorter rule, then to the alphabet.
    heap = []
    for words, code in times:
        rows = index.documents(words)
        good = int((label_of[rows] == code).sum())
        if good and good >= min_precision * len(rows):
            heap.append((-good, len(words), words, code))
    heapify(heap)
    picked: list[CorpusRule] = []
    while heap and len(picked) < max_rules:
        bound, length, words, code = heap[0]
        now = gain(words, code)
        if now == 0:
            heappop(heap)
        elif now < -bound:
            heapreplace(heap, (-now, length, words, code))
        else:
            heappop(heap)
            rows = index.documents(words)
            holds = label_of[rows] == code
            held[rows] |= holds
            right[rows] |= free[rows] & holds
            free[rows] = False
            picked.append(
                CorpusRule(
                    words,
                    labels[code],
                    len(rows),
                    len(rows) / len(index),
                    float(holds.mean()),
                    now,
                    times[words, code],
                )
            )
    covered = int((~free).sum())
    fidelity = int(right.sum()) / covered if covered else 1.0
    share = covered / len(index) if len(index) else 0.0
    return RuleList(tuple(picked), len(index), share, fidelity, len(times))
