"""A run in a few numbers, kept up as rows come in."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kedge.corpus.promise import Audit
from kedge.utils.messages import shorten
from kedge.utils.rounding import percent

__all__ = ["Summary"]

# Statuses, labels, lengths and kinds of errors that are shown at most; characters of a reason.
_KINDS, _REASON = 8, 300


@dataclass
class Summary:
    """How many documents, how they went, and what they cost.

    Parameters
    ----------
    documents, resumed, retried
        How many rows there are, how many of them an earlier run had made, and how many were errors then.
    statuses, labels, lengths
        How often each status, label and length of an anchor came up.
    needless
        How many documents need no word to keep their label.
    errors
        How often each kind of error came up.
    reasons
        The first error of each kind, in full.
    queries, seconds
        Texts sent to the model, and the time that explanations took, over all workers.
    covered
        Sum of the coverages, where there were any.
    notes
        What else happened on the way.
    audit
        What the audit of anchors without proofs of their own has shown, where there was one.
    """

    documents: int = 0
    resumed: int = 0
    retried: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    needless: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, str] = field(default_factory=dict)
    queries: int = 0
    seconds: float = 0.0
    covered: float | None = None
    notes: list[str] = field(default_factory=list)
    audit: Audit | None = None
    started: float = field(default_factory=time.monotonic, repr=False)

    def add(self, row: Mapping[str, Any]) -> None:
        """Take one row in."""
        self.documents += 1
        if row["error"] is not None:
            self.errors[row["error_kind"]] += 1
            self.reasons.setdefault(row["error_kind"], row["error"])
            return
        self.statuses[row["status"]] += 1
        self.labels[str(row["label"])] += 1
        self.lengths[len(row["words"])] += 1
        self.needless += bool(row["needs_no_word"])
        self.queries += row["queries"]
        self.seconds += row["seconds"] or 0.0
        if row["coverage"] is not None:
            self.covered = (self.covered or 0.0) + row["coverage"]

    def take_in(self, audit: Audit) -> None:
        """What the audit says of the rows taken in before."""
        self.audit = audit
        if audit.proved and audit.population:
            self.statuses["estimated"] -= audit.population
            self.statuses["audited"] += audit.population
            self.statuses += Counter()  # without zeros

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
            "retried": self.retried,
            "statuses": dict(sorted(self.statuses.items())),
            "errors": dict(sorted(self.errors.items())),
            "reasons": dict(sorted(self.reasons.items())),
            "labels": dict(sorted(self.labels.items())),
            "lengths": {str(length): count for length, count in sorted(self.lengths.items())},
            "needs_no_word": self.needless,
            "mean_length": sum(n * c for n, c in self.lengths.items()) / many,
            "mean_coverage": None if self.covered is None else self.covered / many,
            "queries": self.queries,
            "explaining_seconds": round(self.seconds, 3),
            "elapsed_seconds": round(self.elapsed, 3),
            "documents_per_second": round(self.rate, 2),
            "notes": list(self.notes),
            "audit": None if self.audit is None else self.audit.to_dict(),
        }

    def __str__(self) -> str:
        before = f" ({self.resumed:,} from before)" if self.resumed else ""
        before += f" ({self.retried:,} errors tried again)" if self.retried else ""
        lines = [f"documents  {self.documents:,}{before}", *(self._explained() if self.explained else ())]
        each = f", {self.each:.2f} ms each" if self.explained else ""
        lines.append(f"time       {self.elapsed:.1f} s, {self.rate:,.1f} documents/s{each}")
        if self.documents and not self.explained:
            lines.append("No document could be explained.")
        lines += [
            f"errors     {kind} {count:,}, the first: {_short(self.reasons[kind])}"
            for kind, count in self.errors.most_common(_KINDS)
        ]
        lines += [f"note       {_short(note)}" for note in self.notes]
        return "\n".join(lines)

    def _explained(self) -> list[str]:
        data = self.to_dict()
        lengths = ", ".join(f"{n}: {c:,}" for n, c in sorted(self.lengths.items())[:_KINDS])
        more = " ..." if len(self.lengths) > _KINDS else ""
        lines = [
            f"status     {_counted(self.statuses)}",
            f"labels     {_counted(self.labels, ': ')}",
            f"lengths    {lengths}{more} (mean {data['mean_length']:.2f})",
            f"needless   {self.needless:,} ({percent(self.needless / self.explained)}): no word is needed",
            f"queries    {self.queries:,}",
        ]
        if self.audit is not None:
            lines.append(f"audit      {self.audit}")
        if data["mean_coverage"] is not None:
            lines.append(f"coverage   {data['mean_coverage']:.2%} on average")
        return lines


def _counted(counts: Counter[str], between: str = " ") -> str:
    shown = [f"{_short(name)}{between}{count:,}" for name, count in counts.most_common(_KINDS)]
    return ", ".join(shown) + (" ..." if len(counts) > _KINDS else "")


def _short(reason: str) -> str:
    """A label, a note or a reason on one line: it may hold whatever the user's model had to say."""
    line = "".join(c if c.isprintable() else " " for c in reason)
    return shorten(line, _REASON, " ...")
