"""The array shapes and small unions that signatures name.

``n`` counts samples, ``b`` the positions of a document, ``d`` its units, ``k`` classes.
"""

from collections.abc import Hashable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bits", "Bools", "Counts", "Floats", "Kept", "Label", "Minimality", "Span", "Status", "Ties"]

Label = Hashable
"""A class as the user's model names it: an int, a string, a bool."""

Span = tuple[int, int]
"""Character offsets (start, stop) in the caller's own text."""

Kept = tuple[int, ...]
"""An anchor in unit space: sorted unit indices, one per occurrence kept; ``(3, 3, 7)``."""

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Bits = NDArray[np.uint64]
"""A set of numbers, 64 to a word."""
Counts = NDArray[np.int64]
"""(n, d): how many occurrences of each unit each sample keeps."""

Status = Literal["exact", "certified", "audited", "estimated", "not_reached"]

Ties = Literal["strongest", "first", "last", "random"]

Minimality = Literal["shortest", "irreducible", "narrow", "open"]
"""What is known of an anchor's length: no shorter one reaches the threshold; none of its words can be left
out, as far as was seen; without one of them it may reach, too narrowly to be proved in few queries; or none
of these."""
