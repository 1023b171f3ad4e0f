"""What became of one document: its explanation, or the reason why there is none."""

import json
from dataclasses import dataclass
from typing import Any

from kedge.explanation import Explanation
from kedge.typing import Label

__all__ = ["COLUMNS", "Outcome"]

COLUMNS = (
    "row",
    "id",
    "digest",
    "label",
    "probability",
    "words",
    "positions",
    "spans",
    "precision",
    "low",
    "high",
    "status",
    "baseline",
    "coverage",
    "method",
    "queries",
    "seconds",
    "notes",
    "error",
)
"""The fields of a row of results, in order; all but the first three may be null."""


@dataclass(frozen=True)
class Outcome:
    """One document of a corpus and what became of it.

    Parameters
    ----------
    row, id, digest
        Which document: its place in the corpus, its name, and a hash of its text.
    explanation
        Why it has its label; None where that failed.
    error
        The reason, where it failed: the kind of error and its sentence.
    """

    row: int
    id: Any
    digest: str
    explanation: Explanation | None
    error: str | None = None

    def to_row(self, *, full: bool = False) -> dict[str, Any]:
        """One flat row; ``full`` adds the whole explanation, text and trace included."""
        values: dict[str, Any] = dict.fromkeys(COLUMNS)
        values |= {"row": self.row, "id": self.id, "digest": self.digest, "error": self.error}
        if (e := self.explanation) is not None:
            values |= {
                "label": e.label,
                "probability": _probability(e),
                "words": e.words,
                "positions": e.positions,
                "spans": e.spans,
                "precision": e.precision,
                "low": e.interval[0],
                "high": e.interval[1],
                "status": e.status,
                "baseline": e.baseline,
                "coverage": e.coverage,
                "method": e.method,
                "queries": e.queries,
                "seconds": None if e.seconds is None else round(e.seconds, 6),
                "notes": e.notes,
            }
        if full:
            values["explanation"] = None if e is None else e.to_dict()
        return values

    def to_line(self, *, full: bool = False) -> str:
        """The row as one line of JSON, with its line end."""
        # Escapes (ensure_ascii) keep lone surrogates and U+2028 from tearing a line apart.
        # A label or id that JSON does not know (bytes, say) is written as Python shows it.
        return json.dumps(self.to_row(full=full), separators=(",", ":"), default=str) + "\n"


def _probability(e: Explanation) -> float | None:
    """The model's probability of the label.

    Six digits: a network's last bits depend on how many texts it was asked about at a time, and
    results must not.
    """
    for label, value in e.probabilities or ():
        if same(label, e.label):
            return round(value, 6)
    return None


def same(one: Label, other: Label) -> bool:
    """Whether two labels are one and the same (1 and True are not)."""
    return type(one) is type(other) and one == other
