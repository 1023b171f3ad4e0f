r"""What the theory says about one document before anything is searched.

Sentences about what may surprise: frequent words left out, a label that needs no word at all, an
approximation that prefers a word speaking against the label.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kedge.errors import LabelError, OptionError
from kedge.theory._arrays import as_counts, as_floats
from kedge.theory.bounds import berry_esseen
from kedge.theory.delta import delta_level
from kedge.theory.dummies import linear_dummies, rule_dummies
from kedge.theory.exhaustive import TIE
from kedge.theory.gaussian import gaussian_precision, linear_level
from kedge.theory.ranking import linear_anchor, top_occurrences
from kedge.theory.rules import (
    all_present_anchor,
    all_present_precision,
    break_point,
    possible_rules,
    rules_anchor,
    rules_precision,
)
from kedge.typing import Counts, Floats
from kedge.utils.rounding import rounded

__all__ = ["linear_warnings", "rule_warnings"]


def rule_warnings(
    words: Sequence[str],
    multiplicity: ArrayLike,
    rules: Iterable[Sequence[int]],
    *,
    eps: float = 0.05,
    keep: float = 0.5,
) -> tuple[str, ...]:
    """Say what may surprise in a document explained under a rule on the presence of words.

    Parameters
    ----------
    words
        The ``d`` distinct words of the document.
    multiplicity
        (d,) how often each occurs.
    rules
        Each rule is the words, as indices, that must all be present for it to hold; the label is
        kept when one of them holds.
    eps
        The threshold is ``1 - eps``.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    >>> for line in rule_warnings(["food", "very", "good"], [1, 5, 1], [(1, 2)]):
    ...     print(line)
    'very' occurs 5 times: above the break point 4, it is not selected.
    """
    counts = as_counts("multiplicity", multiplicity)
    _check_words(words, counts)
    possible = possible_rules(counts, rules)
    chosen = np.zeros_like(counts)
    if len(possible) == 1:  # in closed form, for a rule of any length
        one = possible[0]
        chosen[one] = all_present_anchor(counts[one], eps=eps, keep=keep)
        baseline = float(all_present_precision(counts[one], np.zeros(len(one)), keep=keep))
    else:
        chosen[:] = rules_anchor(counts, possible, eps=eps, keep=keep)
        baseline = float(rules_precision(counts, possible, np.zeros_like(counts), keep=keep))
    dummies = rule_dummies(counts.size, possible)
    found = [_no_word_needed(words, dummies, baseline, eps, "")] if baseline >= 1 - eps else []
    for j in sorted(set(np.flatnonzero(chosen == 0).tolist()) - set(dummies)):
        if len(possible) > 1:
            found.append(
                f"{words[j]!r} is in a rule but not needed: keeping {_names(words, chosen)} is enough."
            )
        elif counts[j] == counts[chosen > 0].max():
            equal = _names(words, chosen * (counts == counts[j]))
            found.append(f"{words[j]!r} is as frequent as {equal}: which is selected is chance.")
        else:
            found.append(
                f"{words[j]!r} occurs {counts[j]} times: above the break point "
                f"{break_point(eps, keep=keep)}, it is not selected."
            )
    return tuple(found)


def linear_warnings(
    words: Sequence[str],
    alpha: ArrayLike,
    multiplicity: ArrayLike,
    bias: float = 0.0,
    *,
    idf: ArrayLike | None = None,
    eps: float = 0.05,
    keep: float = 0.5,
) -> tuple[str, ...]:
    """Say what may surprise in a document explained under a linear model.

    Parameters
    ----------
    words
        The ``d`` distinct words of the document.
    alpha
        (d,) coefficient times IDF of each word.
    multiplicity
        (d,) how often each occurs.
    bias
        The intercept. The score of the document must be positive; for the other label change the
        sign of ``alpha`` and ``bias``.
    idf
        (d,) the IDF of each word if TF-IDF is l2-normalised, else None.
    eps
        The threshold is ``1 - eps``.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    >>> for line in linear_warnings(["good", "bad", "slow"], [1, -2, -1], [1, 1, 1], bias=5):
    ...     print(line)
    The label never changes, whatever is removed: every anchor has precision 1.
    The Gaussian approximation may select 'bad', which opposes the label.
    """
    counts = as_counts("multiplicity", multiplicity)
    _check_words(words, counts)
    slope = as_floats("alpha", alpha, counts.size)
    if idf is not None and bias != 0:
        return tuple(_normalised(words, slope, as_floats("idf", idf, counts.size), counts, bias, eps, keep))
    return tuple(_plain(words, slope, counts, bias, eps, keep))


def _plain(
    words: Sequence[str], slope: Floats, counts: Counts, bias: float, eps: float, keep: float
) -> Iterator[str]:
    def judge(kept: ArrayLike) -> tuple[float, float]:
        level = linear_level(slope, counts, kept, bias, keep=keep)
        bound = berry_esseen(slope, counts, kept, keep=keep)
        return float(gaussian_precision(level)), float(bound)

    length = sum(linear_anchor(slope, counts, bias, eps=eps, keep=keep))
    baseline, slack = judge(np.zeros_like(counts))
    if bias + float(np.minimum(slope, 0) @ counts) > 0:
        yield "The label never changes, whatever is removed: every anchor has precision 1."
    elif baseline >= 1 - eps:
        how = f" (Gaussian approximation, off by at most {slack:.2g})"
        yield _no_word_needed(words, linear_dummies(slope), baseline, eps, how)
    misled = next(_preferred_against(slope, counts, bias, length, eps, keep), None)
    if misled is not None:
        yield (f"The Gaussian approximation may select {words[misled]!r}, which opposes the label.")
    value, slack = judge(top_occurrences(slope, counts, length))
    shorter, more = judge(top_occurrences(slope, counts, length - 1))
    # Keeping every positive occurrence is enough for certain, and no anchor is shorter than 1.
    may_fail = length < counts[slope > 0].sum() and value - slack < 1 - eps
    may_shrink = length > 1 and shorter + more >= 1 - eps
    if may_fail or may_shrink:
        yield (
            f"The Gaussian approximation, off by up to {max(slack, more):.2g} here, cannot settle "
            f"the length {length} of the anchor; use an exact precision."
        )


def _normalised(
    words: Sequence[str],
    slope: Floats,
    idf: Floats,
    counts: Counts,
    bias: float,
    eps: float,
    keep: float,
) -> Iterator[str]:
    score = float(slope @ counts) + bias * float(np.sqrt(idf**2 @ counts**2))
    if score <= 0:
        raise LabelError(
            f"The score of the document is {score:g}, not positive; to explain the other label "
            "change the sign of alpha and bias."
        )
    yield (
        "On normalised TF-IDF with an intercept every word moves the norm, so the words with the "
        "largest coefficients need not be the best ones to keep."
    )
    level = delta_level(slope, idf, counts, np.zeros_like(counts), bias, keep=keep)
    baseline = float(gaussian_precision(level))
    dummies = linear_dummies(slope, bias=bias, idf=idf)
    if baseline >= 1 - eps:
        yield _no_word_needed(words, dummies, baseline, eps, " (Gaussian approximation)")
    for j in sorted(set(linear_dummies(slope)) - set(dummies)):
        side = "supports" if bias > 0 else "opposes"
        yield f"{words[j]!r} has coefficient 0 but is not ignored: through the norm it {side} the label."


def _preferred_against(
    slope: Floats, counts: Counts, bias: float, longest: int, eps: float, keep: float
) -> Iterator[int]:
    """Negative words that the approximation rates no lower than the next word of the ranking.

    Beside the first l - 1 top occurrences, for each l up to the predicted length, the l-th one is
    compared with one occurrence of each negative word. Only mean and variance change.
    """
    negative = np.flatnonzero((slope < 0) & (counts > 0))
    for length in range(1, longest + 1):
        kept = np.array(top_occurrences(slope, counts, length - 1))
        free = counts - kept
        centre = bias + slope @ (kept + keep * free) + (1 - keep) * slope[negative]
        variance = keep * (1 - keep) * (slope**2 @ free - slope[negative] ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Variance 0 is certainty; rounding may leave a little less than 0.
            level = -centre / np.sqrt(np.maximum(variance, 0))
        top = top_occurrences(slope, counts, length)
        rival = gaussian_precision(linear_level(slope, counts, top, bias, keep=keep))
        value = gaussian_precision(level)
        yield from negative[(value >= rival - TIE) & (value >= 1 - eps)].tolist()


def _no_word_needed(
    words: Sequence[str], dummies: Sequence[int], baseline: float, eps: float, how: str
) -> str:
    also = f", even {words[dummies[0]]!r}, which the model ignores" if dummies else ""
    return (
        f"With no word kept the label already holds with probability {rounded(baseline, 1 - eps)}{how}, at "
        f"least {1 - eps:g}: a single word reaches the threshold{also}."
    )


def _names(words: Sequence[str], kept: Counts) -> str:
    return " and ".join(repr(words[j]) for j in np.flatnonzero(kept).tolist())


def _check_words(words: Sequence[str], counts: Counts) -> None:
    if len(words) != counts.size:
        raise OptionError(f"words has {len(words)} entries for {counts.size} multiplicities; give one each.")
