"""A run in a few numbers, kept up as rows come in."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Summary"]

# Statuses, labels, lengths and kinds of errors that are shown at most; characters of a reason.
_KINDS, _REASON = 8, 300


@dataclass
class Summary:
    """How many documents, how they went, and what they cost.

    Parameters
    ----------
    documents, resumed
        How many rows there are, and how many of them an earlier run had made.
    statuses, labels, lengths
        How often each status, label and length of an anchor came up.
    errors
        How often each kind of error came up.
    reasons
        The first error of each kind, in full.
    queries, seconds
        Texts the model was asked about, and the time that explanations took, over all workers.
    covered
        Sum of the coverages, where there were any.
    """

    documents: int = 0
    resumed: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, str] = field(default_factory=dict)
    queries: int = 0
    seconds: float = 0.0
    covered: float | None = None
    started: float = field(default_factory=time.monotonic, repr=False)

    def add(self, row: Mapping[str, Any]) -> None:
        """Take one row in."""
        self.documents += 1
        if row["error"] is not None:
            kind, _, reason = str(row["error"]).partition(": ")
            self.errors[kind] += 1
            self.reasons.setdefault(kind, reason)
            return
        self.statuses[row["status"]] += 1
        self.labels[str(row["label"])] += 1
        self.lengths[len(row["words"])] += 1
        self.queries += row["queries"]
        self.seconds += row["seconds"] or 0.0
        if row["coverage"] is not None:
            self.covered = (self.covered or 0.0) + row["coverage"]

    @property
    def explained(self) -> int:
        """Documents that have an explanation."""
        return self.statuses.total()

    @property
    def elapsed(self) -> float:
        """Seconds since this run began."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Documents per second of this run."""
        return (self.documents - self.resumed) / max(self.elapsed, 1e-9)

    @property
    def each(self) -> float:
        """Milliseconds that one explanation took, on average."""
        return 1000 * self.seconds / max(self.explained, 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        many = max(self.explained, 1)
        return {
            "documents": self.documents,
            "resumed": self.resumed,
            "statuses": dict(sorted(self.statuses.items())),
            "errors": dict(sorted(self.errors.items())),
            "reasons": dict(sorted(self.reasons.items())),
            "labels": dict(sorted(self.labels.items())),
            "lengths": {str(length): count for length, count in sorted(self.lengths.items())},
            "mean_length": sum(n * c for n, c in self.lengths.items()) / many,
            "mean_coverage": None if self.covered is None else self.covered / many,
            "queries": self.queries,
            "explaining_seconds": round(self.seconds, 3),
            "elapsed_seconds": round(self.elapsed, 3),
            "documents_per_second": round(self.rate, 2),
        }

    def __str__(self) -> str:
        before = f" ({self.resumed:,} from before)" if self.resumed else ""
        lines = [f"documents  {self.documents:,}{before}", *(self._explained() if self.explained else ())]
        each = f", {self.each:.2f} ms each" if self.explained else ""
        lines.append(f"time       {self.elapsed:.1f} s, {self.rate:,.1f} documents/s{each}")
        if self.documents and not self.explained:
            lines.append("No document could be explained.")
        lines += [
            f"errors     {kind} {count:,}, the first: {_short(self.reasons[kind])}"
            for kind, count in self.errors.most_common(_KINDS)
        ]
        return "\n".join(lines)

    def _explained(self) -> list[str]:
        data = self.to_dict()
        lengths = ", ".join(f"{n}: {c:,}" for n, c in sorted(self.lengths.items())[:_KINDS])
        more = " ..." if len(self.lengths) > _KINDS else ""
        lines = [
            f"status     {_counted(self.statuses)}",
            f"labels     {_counted(self.labels)}",
            f"lengths    {lengths}{more} (mean {data['mean_length']:.2f})",
            f"queries    {self.queries:,}",
        ]
        if data["mean_coverage"] is not None:
            lines.append(f"coverage   {data['mean_coverage']:.2%} on average")
        return lines


def _counted(counts: Counter[str]) -> str:
    shown = [f"{name} {count:,}" for name, count in counts.most_common(_KINDS)]
    return ", ".join(shown) + (" ..." if len(counts) > _KINDS else "")


def _short(reason: str) -> str:
    """A reason on one line: it may hold whatever the user's model had to say."""
    line = "".join(c if c.isprintable() else " " for c in reason)
    return line if len(line) <= _REASON else f"{line[:_REASON]} ..."
