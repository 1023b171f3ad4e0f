"""What an experiment gives back: tables whose verdicts are computed, figures with captions, checks."""

from dataclasses import asdict, dataclass, field
from typing import Any

from .judge import CORRECTED, LIMIT, Sample, z_of, z_of_draws, z_of_print

__all__ = ["UNPUBLISHED", "Beyond", "Cell", "Check", "Figure", "Result", "Table"]

UNPUBLISHED = "no run of the authors is published"


@dataclass(frozen=True)
class Cell:
    """One number of the paper beside the same number here.

    Parameters
    ----------
    row, column
        Where it stands in its table.
    paper, sd
        What the paper prints.
    here, theirs
        What was found here, and in the authors' own runs; None where there are none.
    draws
        Where what is judged is drawn again (a split and a vocabulary): what was found in each draw.
    paired
        z of the difference on the very same documents, where both have them.
    note
        What the reader should know about this cell.
    """

    row: str
    column: str
    paper: float | None
    sd: float | None
    here: Sample | None
    theirs: Sample | None = None
    draws: tuple[Sample, ...] = ()
    paired: float | None = None
    note: str = ""

    @property
    def z(self) -> float | None:
        """Against the authors' runs, else against the printed number; None where nothing can be compared."""
        if self.here is None or (self.theirs is None and self.paper is None):
            return None
        if self.theirs is None:
            assert self.paper is not None  # noqa: S101  (looked at above)
            if self.draws:
                return z_of_draws(self.draws, self.paper)
            return z_of_print(self.here, self.paper)
        return z_of_draws(self.draws, self.theirs.mean) if self.draws else z_of(self.here, self.theirs)

    @property
    def verdict(self) -> str:
        """By z alone: never written by hand."""
        if self.z is None:
            return "nothing to compare"
        size = abs(self.z)
        return "within" if size <= LIMIT else "within, corrected" if size <= CORRECTED else "outside"


@dataclass(frozen=True)
class Beyond:
    """A number that the paper does not have."""

    row: str
    column: str
    value: float | None
    error: float | None = None
    documents: int = 0
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table: cells in the order of its rows and columns.

    ``counted`` says whether its cells are the published numbers, each once; other tables show a number
    again, under other conditions.
    """

    title: str
    cells: tuple[Cell, ...]
    text: str = ""
    extra: tuple[Beyond, ...] = ()
    counted: bool = True


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
                cell["z"], cell["verdict"] = mine.z, mine.verdict
        return data
