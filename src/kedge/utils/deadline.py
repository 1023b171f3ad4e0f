"""A time limit that a search respects: near its end the search returns the best it has found.

A search that queries the model is stopped between two queries (``Deadline``, ``OutOfTime``). One that only
computes can be interrupted by raising ``TimeIsUp`` in its thread; the answer is then an estimate.
"""

import time

from kedge.errors import OutOfTime

__all__ = ["Deadline", "TimeIsUp"]

# Part of the time after which a search must answer: the rest is for preparing the result.
SOFT = 0.8


class TimeIsUp(BaseException):
    """Raised in the thread of a search that computes; no ``Exception``, so that no model swallows it."""


class Deadline:
    """A ``progress`` function that ends a search in time; the clock starts again for each document.

    It is looked at after every batch of queries, so it does nothing for a model whose inside is read.

    Parameters
    ----------
    seconds
        The whole time for one document.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began: float | None = None

    def begin(self) -> None:
        """Start the clock for the next document."""
        self._began = time.monotonic()

    def __call__(self, queries: int) -> None:
        """Take note of the queries so far; raises when the search should end."""
        if self._began is not None and time.monotonic() - self._began > SOFT * self.seconds:
            raise OutOfTime(
                f"The time limit of {self.seconds:g} s was near after {queries:,} queries, so the search "
                "ended here."
            )
