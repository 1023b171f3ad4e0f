r"""How many samples make the empirical precision right for every anchor at once (Prop. 3).

With :math:`n` samples per anchor, Hoeffding's inequality and the union bound over the
:math:`2^b` anchors of a document of :math:`b` occurrences give

.. math:: P\Bigl(\sup_A |\mathrm{Emp}_n(A) - \mathrm{Prec}(A)| > \delta\Bigr)
    \le 2^{b+1} e^{-2 n \delta^2}.

Each function solves this for one of its letters. Only the number of anchors enters, so for a model
that sees word counts :math:`b` may be replaced by :math:`\sum_j \log_2(m_j + 1)`.
"""

import math

from kedge.errors import OptionError
from kedge.theory._arrays import check_share

__all__ = ["samples_needed", "uniform_error", "uniform_failure"]


def samples_needed(occurrences: float, *, error: float, failure: float = 0.05) -> int:
    r"""Count the samples per anchor that bound every error at once (Prop. 3).

    .. math:: n = \left\lceil \frac{(b + 1) \ln 2 + \ln(1/\eta)}{2 \delta^2} \right\rceil.

    Parameters
    ----------
    occurrences
        Length of the document, :math:`b`.
    error
        The error :math:`\delta` allowed to the empirical precision of any anchor.
    failure
        The probability :math:`\eta` that some anchor's error is larger.

    Examples
    --------
    A sentence of eleven words, every precision to within 0.01:

    >>> samples_needed(11, error=0.01, failure=0.05)
    56568
    """
    check_share("error", error)
    check_share("failure", failure)
    return math.ceil((_log_anchors(occurrences) - math.log(failure)) / (2 * error**2))


def uniform_error(occurrences: float, samples: float, *, failure: float = 0.05) -> float:
    r"""Error that no anchor exceeds, with probability ``1 - failure`` (Prop. 3).

    .. math:: \delta = \sqrt{\frac{(b + 1) \ln 2 + \ln(1/\eta)}{2 n}}.

    Parameters
    ----------
    occurrences
        Length of the document, :math:`b`.
    samples
        Samples per anchor, :math:`n`.
    failure
        The probability :math:`\eta` that some anchor's error is larger.

    Examples
    --------
    The 100 samples per anchor of the paper's experiments promise little at eleven words:

    >>> round(uniform_error(11, 100), 3)
    0.238
    """
    check_share("failure", failure)
    _check_samples(samples)
    return math.sqrt((_log_anchors(occurrences) - math.log(failure)) / (2 * samples))


def uniform_failure(occurrences: float, samples: float, *, error: float) -> float:
    r"""Bound on the probability that some anchor's error exceeds ``error`` (Prop. 3).

    .. math:: \eta = \min\bigl(1, 2^{b+1} e^{-2 n \delta^2}\bigr).

    Parameters
    ----------
    occurrences
        Length of the document, :math:`b`.
    samples
        Samples per anchor, :math:`n`.
    error
        The error :math:`\delta`.

    Examples
    --------
    >>> round(uniform_failure(11, 100_000, error=0.01), 9)
    8.442e-06
    """
    check_share("error", error)
    _check_samples(samples)
    return math.exp(min(0.0, _log_anchors(occurrences) - 2 * samples * error**2))


def _log_anchors(occurrences: float) -> float:
    """Twice the number of anchors (an error has two signs), as a logarithm."""
    if not occurrences >= 0:
        raise OptionError(f"occurrences is {occurrences}; give the length of the document.")
    return (occurrences + 1) * math.log(2)


def _check_samples(samples: float) -> None:
    if not samples > 0:
        raise OptionError(f"samples is {samples}; give at least one sample per anchor.")
