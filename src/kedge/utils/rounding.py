"""How shares are shown: rounded, but never into something untrue.

The page of the workbench does the same in ``workbench/static/numbers.js``, step by step, so that both
show the same digits.
"""

from collections.abc import Callable
from math import ceil, floor

from kedge.results.interval import Interval

__all__ = ["is_wide", "percent", "rounded", "spread"]

# Digits that rounding can still make sense of, and so many that any share is shown as it is.
_MOST, _ALL = 16, 20

# Half of the last digit shown.
_WIDE = 5e-4

Rounding = Callable[[float], int]


def rounded(share: float, threshold: float | None = None) -> str:
    """Three digits, on the right side of the threshold, and 0 or 1 only for exactly that.

    More digits where three will not do: a threshold may have more itself.

    >>> rounded(0.6796875), rounded(0.9499, 0.95), rounded(0.9996), rounded(0.0001), rounded(1.0)
    ('0.680', '0.949', '0.999', '0.001', '1.000')
    >>> rounded(0.99957, 0.9995)
    '0.9996'
    """
    share = min(max(share, 0.0), 1.0)

    def fair(shown: float) -> bool:
        return _same_side(shown, share, threshold) and (shown in {0.0, 1.0}) == (share in {0.0, 1.0})

    return _shown(share, (_nearest, floor, ceil), fair)


def is_wide(interval: Interval) -> bool:
    """Whether an interval is worth showing beside its mean: three digits distinguish its ends."""
    return interval.width >= _WIDE


def spread(interval: Interval, threshold: float | None = None) -> tuple[str, str]:
    """An interval, rounded outwards: it must not read as narrower than it is, nor as over the threshold.

    >>> spread(Interval(0.9436, 0.95, 0.9512)), spread(Interval(0.2, 0.5, 0.94996), 0.95)
    (('0.943', '0.952'), ('0.200', '0.94996'))
    """
    low, high = interval.low, interval.high
    # A hair inwards first: 0.57 * 1000 is a little less than 570.
    down: tuple[Rounding, ...] = (lambda x: floor(x + 1e-9), floor)
    up: tuple[Rounding, ...] = (lambda x: ceil(x - 1e-9), ceil)
    return (
        _shown(low, down, lambda shown: _same_side(shown, low, threshold)),
        _shown(high, up, lambda shown: _same_side(shown, high, threshold)),
    )


def percent(share: float, threshold: float | None = None) -> str:
    """A share as ``rounded`` shows it, in per cent.

    >>> percent(0.6796875), percent(0.95), percent(0.9999), percent(1.0)
    ('68%', '95%', '99.9%', '100%')
    """
    digits = rounded(share, threshold)
    shown = f"{100 * float(digits):.{len(digits) - 4}f}"  # 0.680: five characters, one decimal
    return f"{shown.rstrip('0').removesuffix('.') if '.' in shown else shown}%"


def _shown(share: float, roundings: tuple[Rounding, ...], fair: Callable[[float], bool]) -> str:
    """The first fair rounding, with as few digits as it takes, three at least."""
    for digits in range(3, _MOST + 1):
        scale = 10.0**digits
        for rounding in roundings:
            shown = min(max(rounding(share * scale), 0), int(scale)) / scale
            if fair(shown):
                return f"{shown:.{digits}f}"
    return f"{share:.{_ALL}f}"


def _nearest(number: float) -> int:
    return floor(number + 0.5)


def _same_side(shown: float, share: float, threshold: float | None) -> bool:
    return threshold is None or (shown >= threshold) == (share >= threshold)
