"""What a label needs at one strength of removal, as data."""

from dataclasses import dataclass
from typing import Any

from kedge.results.interval import Interval
from kedge.typing import Minimality, Span, Status

__all__ = ["Removal"]


@dataclass(frozen=True)
class Removal:
    """What the label needs when every word that is not held in place is kept with probability ``keep`` only.

    Parameters
    ----------
    keep, baseline
        How many words are kept, and the precision there with no word held in place.
    words, positions, spans
        The anchor at this ``keep``; empty where no word is needed.
    interval, status, minimality
        What is known about it, as for the anchor of an explanation.
    """

    keep: float
    baseline: Interval
    words: tuple[str, ...]
    positions: tuple[int, ...]
    spans: tuple[Span, ...]
    interval: Interval
    status: Status
    minimality: Minimality

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Removal":
        """Read the JSON form back."""
        return cls(
            data["keep"],
            Interval(**data["baseline"]),
            tuple(data["words"]),
            tuple(data["positions"]),
            tuple((start, stop) for start, stop in data["spans"]),
            Interval(**data["interval"]),
            data["status"],
            data["minimality"],
        )
