"""What every formula of the theory requires of its arrays, checked in one place."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kedge.errors import OptionError
from kedge.typing import Counts, Floats

__all__ = ["as_counts", "as_floats", "as_kept", "check_share", "free_scale"]


def as_counts(name: str, values: ArrayLike) -> Counts:
    """(d,) whole numbers, none negative."""
    array: np.ndarray[Any, np.dtype[Any]] = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise OptionError(f"{name} has shape {array.shape}; give one number for each word of the document.")
    counts = array.astype(np.int64)
    if (counts != array).any() or (counts < 0).any():
        raise OptionError(f"{name} holds {array.tolist()}; only whole numbers from 0 up count words.")
    return counts


def as_kept(multiplicity: Counts, kept: ArrayLike) -> Counts:
    """(d,) or (k, d) counts, each between 0 and the word's multiplicity."""
    array: np.ndarray[Any, np.dtype[Any]] = np.asarray(kept)
    if array.ndim not in {1, 2} or array.shape[-1] != multiplicity.size:
        raise OptionError(
            f"kept has shape {array.shape}; an anchor is one count for each of the "
            f"{multiplicity.size} words, several anchors are rows."
        )
    counts = array.astype(np.int64)
    if (counts != array).any() or (counts < 0).any() or (counts > multiplicity).any():
        raise OptionError(
            "kept holds a count that is not a whole number between 0 and the word's multiplicity; "
            "an anchor keeps occurrences that the document has."
        )
    return counts


def as_floats(name: str, values: ArrayLike, size: int) -> Floats:
    """(d,) finite numbers, one for each word."""
    array: Floats = np.asarray(values, dtype=np.float64)
    if array.shape != (size,):
        raise OptionError(f"{name} has shape {array.shape}; give one number for each of the {size} words.")
    if not np.isfinite(array).all():
        raise OptionError(f"{name} holds a number that is not finite; give finite coefficients.")
    return array


def check_share(name: str, value: Any) -> None:
    """Refuse a probability outside the open interval (0, 1)."""
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise OptionError(f"{name} is {value!r}; give a probability strictly between 0 and 1.")


def free_scale(alpha: Floats, free: Counts) -> Floats:
    """Find the largest ``|alpha_j|`` with a free occurrence, for each anchor; 0 without one.

    Dividing by it before squaring or cubing keeps tiny coefficients from vanishing, and shows
    exactly whether the score is still random.
    """
    scale: Floats = np.where(free > 0, np.abs(alpha), 0.0).max(axis=-1)
    return scale
