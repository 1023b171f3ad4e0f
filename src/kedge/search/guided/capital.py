"""What the proofs of one explanation bet with, one after the other, so that all of them share one delta.

A capital of 1 is there at first, and a claim is made when a stake has grown by 1/delta relative to the whole.
A proof that is given up hands back what is left of its stake, at most the stake itself. Let a stake count
with its present worth while the claim it is bet on is false, and as it was staked while it is true: the
total is then a non-negative supermartingale that begins at 1, so that a false claim is ever made with
probability delta at most (Ville), in whatever way the next anchor is chosen.
"""

from dataclasses import dataclass
from math import exp

__all__ = ["Capital"]


@dataclass
class Capital:
    """The share of the first capital that is not at stake."""

    left: float = 1.0

    def stake(self, share: float) -> float:
        """Put a share of what is left at stake; a proof with it takes place at this part of delta."""
        at_stake = share * self.left
        self.left -= at_stake
        return at_stake

    def hand_back(self, at_stake: float, log_wealth: float) -> None:
        """A proof was given up; ``log_wealth`` says what became of each unit of its stake."""
        self.left += at_stake * exp(min(0.0, log_wealth))
