"""What an experiment gives back: tables whose verdicts are computed, figures with captions, checks."""

from dataclasses import asdict, dataclass, field
from typing import Any

from .published import TOLERANCE

__all__ = ["Cell", "Check", "Figure", "Result", "Table"]


@dataclass(frozen=True)
class Cell:
    """One number of the paper beside the same number here.

    Parameters
    ----------
    row, column
        Where it stands in its table.
    paper, sd
        What the paper prints; None where it prints nothing.
    here, here_sd
        What was found; None where there was nothing to find it from.
    documents
        How many documents it is a mean over.
    note
        What the reader should know about this cell.
    """

    row: str
    column: str
    paper: float | None
    sd: float | None
    here: float | None
    here_sd: float | None = None
    documents: int = 0
    note: str = ""

    @property
    def counted(self) -> bool:
        """Whether the paper has a number to compare with."""
        return self.paper is not None

    @property
    def tolerance(self) -> float:
        """The published sd, or 0.1 where none is given."""
        return TOLERANCE if self.sd is None else self.sd

    @property
    def verdict(self) -> str:
        """Within the tolerance or not: never written by hand."""
        if self.paper is None:
            return "not in the paper"
        if self.here is None:
            return "no documents"
        # Both numbers are read as they are printed, to two digits.
        return "within" if abs(round(self.here, 2) - self.paper) <= self.tolerance + 1e-9 else "outside"


@dataclass(frozen=True)
class Table:
    """A table: cells in the order of its rows and columns."""

    title: str
    cells: tuple[Cell, ...]
    text: str = ""
    extra: tuple[Cell, ...] = ()
    """Numbers the paper does not have."""


@dataclass(frozen=True)
class Figure:
    """A figure: file stem, caption, what the paper claims and whether it holds here (None: no claim)."""

    stem: str
    caption: str
    claim: str
    holds: bool | None
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """A statement and whether it came out true."""

    statement: str
    holds: bool
    detail: str = ""


@dataclass(frozen=True)
class Result:
    """All that one experiment found."""

    name: str
    title: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def skipped(self) -> bool:
        """Whether there is nothing but the notes, which say why."""
        return not (self.tables or self.figures or self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, verdicts included."""
        data = asdict(self)
        for table, own in zip(data["tables"], self.tables, strict=True):
            for cell, mine in zip(table["cells"], own.cells, strict=True):
                cell["verdict"] = mine.verdict
        return data
