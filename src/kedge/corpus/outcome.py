"""What became of one document: its explanation, or the reason why there is none."""

import json
from dataclasses import dataclass
from typing import Any, Self

from kedge.corpus.files.columns import COLUMNS, explained_values
from kedge.errors import Failure
from kedge.results.explanation import Explanation

__all__ = ["Line", "Outcome"]


class Line(str):  # noqa: SLOT000  (its error is kept where pickle finds it)
    """A row as it is written; its error is kept, too, as the text does not show which words are options."""

    error: Failure | None

    def __new__(cls, written: str, error: Failure | None = None) -> Self:
        """A written row and its error."""
        made = super().__new__(cls, written)
        made.error = error
        return made

    def to_row(self) -> dict[str, Any]:
        """The row, with the reason of its error as a sentence."""
        row: dict[str, Any] = json.loads(self)
        return row if self.error is None else {**row, "error": self.error.reason}


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
        Why there is no explanation; None where there is one.
    """

    row: int
    id: Any
    digest: str
    explanation: Explanation | None
    error: Failure | None = None

    def to_row(self, *, full: bool = False) -> dict[str, Any]:
        """One flat row; ``full`` adds the whole explanation, text and trace included."""
        values: dict[str, Any] = dict.fromkeys(COLUMNS)
        values |= {"row": self.row, "id": self.id, "digest": self.digest}
        if self.error is not None:
            values |= {"error_kind": self.error.kind, "error": self.error.reason}
        if self.explanation is not None:
            values |= explained_values(self.explanation)
        if full:
            values["explanation"] = None if self.explanation is None else self.explanation.to_dict()
        return values

    def to_line(self, *, full: bool = False) -> Line:
        """The row as one line of JSON, with its line end."""
        # Escapes (ensure_ascii) keep lone surrogates and U+2028 from tearing a line apart.
        # A label or id that JSON does not know (bytes, say) is written as Python shows it.
        written = json.dumps(self.to_row(full=full), separators=(",", ":"), default=str)
        return Line(f"{written}\n", self.error)
