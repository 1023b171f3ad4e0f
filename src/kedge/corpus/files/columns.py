"""The columns of a row of results, said once: their names, their types, and where their values come from."""

from collections.abc import Mapping
from typing import Any, Literal

from kedge.results.explanation import Explanation
from kedge.typing import Label

__all__ = ["COLUMNS", "Kind", "explained_values", "is_row"]

Kind = Literal["string", "integer", "number", "boolean", "strings", "integers", "spans"]

COLUMNS: dict[str, Kind] = {
    "row": "integer",
    "id": "string",
    "digest": "string",
    "label": "string",
    "probability": "number",
    "words": "strings",
    "positions": "integers",
    "spans": "spans",
    "precision": "number",
    "low": "number",
    "high": "number",
    "status": "string",
    "threshold": "number",
    "baseline": "number",
    "needs_no_word": "boolean",
    "survives": "number",
    "carried_by": "strings",
    "minimality": "string",
    "coverage": "number",
    "method": "string",
    "evaluator": "string",
    "sampled": "boolean",
    "queries": "integer",
    "seconds": "number",
    "notes": "strings",
    "error_kind": "string",
    "error": "string",
}
"""In order. All but the first three may be null: a document has an explanation, or an error.

A row of JSON holds ids and labels as they are; a table, whose columns have one type, as strings.
"""


def explained_values(e: Explanation) -> dict[str, Any]:
    """The values of an explanation, by column."""
    values = {name: value for name, value in e.to_row(influence=False).items() if name in COLUMNS}
    return values | {
        "probability": _probability(e),
        "words": e.words,
        "carried_by": None if (carried := e.carried_by) is None else carried.words,
        "threshold": e.threshold,
        "seconds": None if e.seconds is None else round(e.seconds, 6),
        "notes": e.notes,
    }


def _probability(e: Explanation) -> float | None:
    """The model's probability of the label.

    Six digits: a network's last bits depend on how many texts are in a batch, and
    results must not.
    """
    for label, value in e.probabilities or ():
        if _same(label, e.label):
            return round(value, 6)
    return None


def _same(one: Label, other: Label) -> bool:
    """Whether two labels are one and the same (1 and True are not)."""
    return type(one) is type(other) and one == other


def is_row(value: Any, number: int) -> bool:
    """Whether a value read from a file is the row of this number, whole enough to continue from."""
    if not isinstance(value, Mapping) or not value.keys() >= COLUMNS.keys() or value["row"] != number:
        return False
    if value["error"] is not None:
        return isinstance(value["error"], str) and isinstance(value["error_kind"], str)
    return (
        isinstance(value["words"], list)
        and isinstance(value["status"], str)
        and isinstance(value["queries"], int)
        and isinstance(value["seconds"], (int, float, type(None)))
        and isinstance(value["coverage"], (int, float, type(None)))
    )
