"""Answers as dictionaries: one for each text, or a list of these with all labels.

Functions that call a service or another library return these: ``{"label": ..., "score": ...}`` comes from a
transformers pipeline for text classification, ``{"labels": [...], "scores": [...]}`` from one for zero-shot
classification, ``{"spam": 0.9, "ham": 0.1}`` from a spaCy text categoriser.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kedge.errors import OutputError
from kedge.typing import Label

__all__ = ["are_records", "read_records"]

Row = dict[Label, float]


def are_records(raw: Any) -> bool:
    """Whether these answers are dictionaries that name labels, or lists of such."""
    if not isinstance(raw, (list, tuple)) or not raw:
        return False
    first = raw[0]
    if isinstance(first, (list, tuple)) and first:
        first = first[0]
    return isinstance(first, Mapping) and ("label" in first or _is_table(first) or _is_ranking(first))


def _is_number(score: Any) -> bool:
    return isinstance(score, (int, float, np.integer, np.floating)) and not isinstance(score, bool)


def _is_table(record: Mapping[Any, Any]) -> bool:
    """Whether these are labels with their scores; one label alone would have no rival."""
    return len(record) > 1 and "label" not in record and all(map(_is_number, record.values()))


def _is_ranking(record: Mapping[Any, Any]) -> bool:
    """Whether labels and scores are two lists side by side."""
    labels, scores = record.get("labels"), record.get("scores")
    if not isinstance(labels, (list, tuple)) or not isinstance(scores, (list, tuple)):
        return False
    return len(labels) == len(scores) > 0


def read_records(raw: Sequence[Any]) -> tuple[list[Label] | np.ndarray[Any, Any], tuple[Label, ...] | None]:
    """What the records say, as ``read_outputs`` takes it.

    Either the labels alone, or (n, k) scores and the labels that name their columns, where every text
    has a score for each of the same two labels or more.
    """
    rows = [_row(record) for record in raw]
    labels = set(rows[0])
    if len(labels) > 1 and all(set(row) == labels for row in rows):
        classes = tuple(sorted(labels, key=str))
        return np.array([[row[label] for label in classes] for row in rows]), classes
    return [max(row, key=lambda label: row[label]) for row in rows], None


def _row(records: Any) -> Row:
    """The labels of one text with their scores; a label without a score has 1."""
    if isinstance(records, Mapping):
        if "label" in records:
            records = [records]
        elif _is_ranking(records):
            pairs = zip(records["labels"], records["scores"], strict=True)
            records = [{"label": label, "score": score} for label, score in pairs]
        elif _is_table(records):
            records = [{"label": label, "score": score} for label, score in records.items()]
    row: Row = {}
    for record in records if isinstance(records, (list, tuple)) else ():
        if not isinstance(record, Mapping) or "label" not in record:
            row = {}
            break
        score = record.get("score", 1.0)
        if not _is_number(score) or not np.isfinite(score):
            raise OutputError(
                f"The model returned the score {score!r:.40} for the label {record['label']!r:.40}; it must "
                "be a finite number."
            )
        row[record["label"]] = float(score)
    if not row:
        raise OutputError(
            f"The model returned {records!r:.60} for one text and records with a label for others; it must "
            "return the same for all."
        )
    return row
