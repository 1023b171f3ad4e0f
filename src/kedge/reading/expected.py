"""What is expected of a model on one document before it is queried: from other texts, or by a gradient."""

from dataclasses import dataclass

from kedge.typing import Floats

__all__ = ["Expected"]


@dataclass(frozen=True)
class Expected:
    """How much each unit supports the label, up to scale.

    Parameters
    ----------
    weights
        (d,) what one more occurrence of each unit adds to the label's log-odds.
    level
        What there is without any unit, to the same scale; None where that is open.
    """

    weights: Floats
    level: float | None = None
