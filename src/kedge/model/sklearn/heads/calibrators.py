"""The calibrators of scikit-learn's CalibratedClassifierCV, as functions that never fall (or never rise)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.typing import Floats

__all__ = ["Calibration", "calibrated"]


@dataclass(frozen=True)
class Calibration:
    """Responses to probabilities.

    Parameters
    ----------
    chances
        Bounds on responses (n, c) to bounds on calibrated probabilities (n, c).
    crossing
        (sign, shift, slack): with one calibrator the probability exceeds one half iff
        sign * response + shift > 0, up to the slack; None where that is not one comparison.
    """

    chances: Callable[[tuple[Floats, Floats]], tuple[Floats, Floats]]
    crossing: tuple[float, float, float] | None


def calibrated(calibrators: Sequence[Any]) -> Calibration | None:
    """The calibrators of one member; None if one of them is not scikit-learn's own."""
    from sklearn.isotonic import IsotonicRegression

    for calibrator in calibrators:
        own = type(calibrator).__module__ == "sklearn.calibration"
        sigmoid = own and type(calibrator).__name__ == "_SigmoidCalibration"
        isotonic = type(calibrator) is IsotonicRegression and calibrator.out_of_bounds == "clip"
        if not sigmoid and not isotonic:
            return None

    def chances(responses: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        found = [_ends(c, responses[0][:, k], responses[1][:, k]) for k, c in enumerate(calibrators)]
        low, high = np.stack([f[0] for f in found], axis=1), np.stack([f[1] for f in found], axis=1)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    return Calibration(chances, _crossing(calibrators[0]) if len(calibrators) == 1 else None)


def _ends(calibrator: Any, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds on the probabilities of responses; their very values where an isotonic calibrator is flat.

    Isotonic calibrators are flat nearly everywhere, and give several classes the same probability (zero,
    often), so that a bound that is off by rounding would leave every such tie open.
    """
    ends = calibrator.predict(low), calibrator.predict(high)
    # 1e-12: what the calibrator itself rounds.
    slack = np.full(len(low), 1e-12)
    if hasattr(calibrator, "X_thresholds_"):
        x, y = calibrator.X_thresholds_, calibrator.y_thresholds_
        first, last = (np.clip(end.astype(x.dtype), x[0], x[-1]) for end in (low, high))
        at = [np.clip(np.searchsorted(x, end), 1, len(x) - 1) for end in (first, last)]
        flat = (first == last) | (len(y) == 1) | (y[at[0] - 1] == y[at[1] % len(y)])
        slack[flat] = 0.0
    return np.minimum(*ends) - slack, np.maximum(*ends) + slack


def _crossing(calibrator: Any) -> tuple[float, float, float] | None:
    """Where the probability passes one half."""
    if hasattr(calibrator, "a_"):
        # 1 / (1 + exp(a s + b)) > 1/2 iff a s + b < 0.
        a, b = float(calibrator.a_), float(calibrator.b_)
        if a == 0.0 or not np.isfinite([a, b]).all():
            return None
        sign = -1.0 if a > 0 else 1.0
        return sign, sign * b / a, (4e-15 + 1e-15 * abs(b)) / abs(a)
    x, y = calibrator.X_thresholds_, calibrator.y_thresholds_
    above = np.flatnonzero(y > 0.5)
    if not calibrator.increasing_ or not len(above) or above[0] == 0 or x.dtype != np.float64:
        return None
    k = int(above[0])
    share = (0.5 - float(y[k - 1])) / (float(y[k]) - float(y[k - 1]))
    at = float(x[k - 1]) + share * (float(x[k]) - float(x[k - 1]))
    # A flat stretch turns a rounded probability into a wide range of responses.
    flat = (float(x[k]) - float(x[k - 1])) / (float(y[k]) - float(y[k - 1]))
    return 1.0, -at, 1e-12 * (1.0 + float(np.abs(x[k - 1 : k + 1]).max())) + 1e-15 * flat
