"""A time limit that a search respects: near its end the search answers with the best it has found.

A search that asks is told between two questions (``Deadline``, ``OutOfTime``). One that only computes can
be interrupted by raising ``TimeIsUp`` in its thread; it is then answered for by an estimate.
"""

import time

from kedge.errors import OutOfTime

__all__ = ["Deadline", "TimeIsUp"]

# Part of the time after which a search is asked for what it has: the rest is for putting it into words.
SOFT = 0.8


class TimeIsUp(BaseException):
    """Raised in the thread of a search that computes; no ``Exception``, so that no model swallows it."""


class Deadline:
    """A ``progress`` function that ends a search in time; the clock starts again for each document.

    It is looked at after every batch of questions, so it does nothing for a model whose inside is read.

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
        """Take note of the questions asked so far; raises when the search should end."""
        if self._began is not None and time.monotonic() - self._began > SOFT * self.seconds:
            raise OutOfTime(
                f"The time limit of {self.seconds:g} s was near after {queries:,} queries, so the search "
                "ended here."
            )
