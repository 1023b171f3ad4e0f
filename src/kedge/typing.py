"""The array shapes and small unions that signatures name.

``n`` counts samples, ``b`` the positions of a document, ``d`` its units, ``k`` classes.
"""

from collections.abc import Hashable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Counts", "Floats", "Kept", "Label", "Span", "Status"]

Label = Hashable
"""A class as the user's model names it: an int, a string, a bool."""

Span = tuple[int, int]
"""Character offsets (start, stop) in the caller's own text."""

Kept = tuple[int, ...]
"""An anchor in unit space: sorted unit indices, one per occurrence kept; ``(3, 3, 7)``."""

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Counts = NDArray[np.int64]
"""(n, d): how many occurrences of each unit each sample keeps."""

Status = Literal["exact", "certified", "estimated", "not_reached"]
