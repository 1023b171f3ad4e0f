r"""Rules on the presence of words: what their anchors are (Props. 5 and 8).

A word that occurs :math:`m` times in the document is absent from a sample with probability
:math:`(1-p)^m` (:math:`2^{-m}` in the paper), unless the anchor keeps one of its occurrences. So
keeping a frequent word buys little, and the shortest anchor leaves it out.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike

from kedge.errors import LabelError, OptionError
from kedge.theory._arrays import as_counts, as_kept, check_share
from kedge.theory.exhaustive import select
from kedge.typing import Counts, Floats

__all__ = [
    "all_present_anchor",
    "all_present_precision",
    "break_point",
    "possible_rules",
    "rules_anchor",
    "rules_precision",
    "words_needed",
]

MOST_WORDS = 20
"""``rules_*`` keep a table of 2^(distinct words in the rules) precisions: 8 MB at 20."""


def break_point(eps: float = 0.05, *, keep: float = 0.5) -> int:
    r"""Largest multiplicity at which a word of an all-present rule is always selected (Prop. 5).

    .. math:: B = \max\{m : (1-p)^m > \varepsilon\},

    which for :math:`p = 1/2` is :math:`\lfloor \log_2(1/\varepsilon) \rfloor`, the paper's
    :math:`B`, unless :math:`\varepsilon` is exactly a power of two; there it is one less, because
    leaving out a word of multiplicity :math:`B` then gives a precision of exactly
    :math:`1 - \varepsilon`, which is enough. A word that occurs more often *can* be left out;
    whether it is depends on the other words of the rule, see :func:`words_needed`.

    Parameters
    ----------
    eps
        The threshold is ``1 - eps``.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    >>> break_point(0.05)
    4
    >>> break_point(1 / 16), break_point(np.nextafter(1 / 16, 0))
    (3, 4)
    """
    check_share("eps", eps)
    check_share("keep", keep)
    absent = 1 - keep
    # The quotient of logarithms may be off by one unit in its last place: settle the border by
    # the powers themselves, which are exact for absent = 1/2.
    most = max(round(np.log(eps) / np.log(absent)) - 1, 0)
    while absent ** (most + 1) > eps:
        most += 1
    return int(most)


def words_needed(multiplicity: ArrayLike, *, eps: float = 0.05, keep: float = 0.5) -> int:
    r"""How many words the anchor of an all-present rule keeps, :math:`c_0` (Prop. 5, corrected).

    With the multiplicities sorted, :math:`m_1 \ge \dots \ge m_k`,

    .. math:: c_0 = \min\Bigl\{c \ge 1 :
        \prod_{l=1}^{k-c} (1 - 2^{-m_l}) \ge 1 - \varepsilon\Bigr\}.

    The paper prints :math:`2^{-l}` and an upper limit of :math:`k - c + 1`.

    Parameters
    ----------
    multiplicity
        (k,) how often each word of the rule occurs in the document.
    eps
        The threshold is ``1 - eps``.
    keep
        Probability that an occurrence outside the anchor is kept (1/2 in the formula).

    Examples
    --------
    One word above the break point 4 can be left out; of two, one has to stay.

    >>> words_needed([4, 1]), words_needed([5, 1]), words_needed([5, 5])
    (2, 1, 1)
    >>> words_needed([5, 5, 1])
    2
    """
    check_share("eps", eps)
    missing = np.sort(_absent(as_counts("multiplicity", multiplicity), keep))
    # failures[t]: probability that one of the t most frequent words is absent. Adding up the
    # failures loses nothing where 1 - 2^-m is too close to 1 to tell.
    failures = accumulate(missing[:-1], lambda failed, q: failed + q * (1 - failed))
    left_out = sum(1 for failed in failures if failed <= eps)
    return int(missing.size - left_out)


def all_present_precision(multiplicity: ArrayLike, kept: ArrayLike, *, keep: float = 0.5) -> Floats:
    r"""Precision of anchors of the rule "all of these words are present" (Prop. 5).

    .. math:: \mathrm{Prec}(A) = \prod_{j : a_j = 0} (1 - 2^{-m_j}).

    Parameters
    ----------
    multiplicity
        (k,) how often each word of the rule occurs in the document.
    kept
        (k,) counts of one anchor, or (n, k) of several.
    keep
        Probability that an occurrence outside the anchor is kept (1/2 in the formula).

    Examples
    --------
    "Food is very very very very very good!" under the rule "very and good": with "good" kept,
    only the absence of all five "very" can break the rule.

    >>> all_present_precision([5, 1], [[0, 1], [1, 0], [1, 1]]).tolist()
    [0.96875, 0.5, 1.0]
    """
    counts = as_counts("multiplicity", multiplicity)
    anchor = as_kept(counts, kept)
    return np.asarray(np.where(anchor > 0, 1.0, 1 - _absent(counts, keep)).prod(axis=-1))


def all_present_anchor(multiplicity: ArrayLike, *, eps: float = 0.05, keep: float = 0.5) -> tuple[int, ...]:
    r"""Anchor selected for the rule "all of these words are present" (Prop. 5).

    One occurrence of each of the :math:`c_0` words of *lowest* multiplicity; the earlier word where
    multiplicities are equal (the paper draws).

    Parameters
    ----------
    multiplicity
        (k,) how often each word of the rule occurs in the document.
    eps
        The threshold is ``1 - eps``.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    The rule "very and good" on texts with four and with five "very":

    >>> all_present_anchor([4, 1]), all_present_anchor([5, 1])
    ((1, 1), (0, 1))
    """
    counts = as_counts("multiplicity", multiplicity)
    rarest = np.argsort(counts, kind="stable")[: words_needed(counts, eps=eps, keep=keep)]
    anchor = np.zeros_like(counts)
    anchor[rarest] = 1
    return tuple(anchor.tolist())


def rules_precision(
    multiplicity: ArrayLike,
    rules: Iterable[Sequence[int]],
    kept: ArrayLike,
    *,
    keep: float = 0.5,
) -> Floats:
    r"""Precision of anchors of the rule "(all of these) or (all of those) or ...".

    .. math:: \mathrm{Prec}(A) = \sum_{S \,:\, \text{some rule} \subseteq S} \;
        \prod_{j \in S} (1 - q_j) \prod_{j \notin S} q_j, \qquad
        q_j = 2^{-m_j} \, 1\{a_j = 0\},

    over the sets :math:`S` of words present.

    Parameters
    ----------
    multiplicity
        (d,) how often each word occurs in the document.
    rules
        Each rule is the words, as indices, that must all be present for it to hold.
    kept
        (d,) counts of one anchor, or (k, d) of several.
    keep
        Probability that an occurrence outside the anchor is kept (1/2 in the formula).

    Examples
    --------
    "(not and bad) or good", each word once:

    >>> rules_precision([1, 1, 1], [(0, 1), (2,)], [[0, 0, 0], [1, 0, 0], [0, 0, 1]]).tolist()
    [0.625, 0.75, 1.0]
    """
    counts = as_counts("multiplicity", multiplicity)
    anchor = as_kept(counts, kept)
    words, table = _presence_table(counts, rules, keep)
    return np.asarray(table[tuple(np.moveaxis((anchor > 0).astype(np.intp)[..., words], -1, 0))])


def rules_anchor(
    multiplicity: ArrayLike,
    rules: Iterable[Sequence[int]],
    *,
    eps: float = 0.05,
    keep: float = 0.5,
) -> tuple[int, ...]:
    r"""Anchor selected for the rule "(all of these) or (all of those) or ...".

    For "(w1 and w2) or w3" it is {w3} whatever :math:`\varepsilon` (Prop. 8), and so it is for
    every list that has a rule of one word: nothing is shorter, and only a kept rule is certain.
    In general the shortest rule need *not* be selected: its frequent words are left out as in
    Prop. 5, and other rules may hold by chance. So all presence patterns are weighed; among equals
    the words that come first are taken (the paper draws).

    Parameters
    ----------
    multiplicity
        (d,) how often each word occurs in the document.
    rules
        Each rule is the words, as indices, that must all be present for it to hold.
    eps
        The threshold is ``1 - eps``.
    keep
        Probability that an occurrence outside the anchor is kept.

    Examples
    --------
    "(not and bad) or good": one word says it all, until it is missing from the document.

    >>> rules_anchor([1, 1, 1], [(0, 1), (2,)]), rules_anchor([1, 1, 0], [(0, 1), (2,)])
    ((0, 0, 1), (1, 1, 0))
    """
    counts = as_counts("multiplicity", multiplicity)
    words, table = _presence_table(counts, rules, keep)
    patterns = np.indices(table.shape).reshape(len(words), -1).T[1:]
    best = select(table.ravel()[1:], patterns.sum(axis=1), eps=eps)
    # The last row in counting order keeps the earliest words.
    anchor = np.zeros_like(counts)
    anchor[words] = patterns[best[-1]]
    return tuple(anchor.tolist())


def possible_rules(multiplicity: Counts, rules: Iterable[Sequence[int]]) -> list[list[int]]:
    """Rules whose words all occur; any other never holds on a perturbed copy of the document."""
    listed = [sorted(set(rule)) for rule in rules]
    if not all(rule and 0 <= rule[0] <= rule[-1] < multiplicity.size for rule in listed):
        raise OptionError(
            f"rules holds {listed}; a rule is one or more word indices from 0 to {multiplicity.size - 1}."
        )
    possible = [rule for rule in listed if multiplicity[rule].all()]
    if not possible:
        raise LabelError("No rule holds on the document; give at least one whose words all occur.")
    return possible


def _absent(multiplicity: Counts, keep: float) -> Floats:
    """Probability that a word of which nothing is kept vanishes from a sample."""
    check_share("keep", keep)
    if (multiplicity == 0).any():
        raise LabelError(
            "A word of the rule does not occur in the document (multiplicity 0), so the rule does "
            "not hold there; give a document on which it holds."
        )
    return np.asarray((1 - keep) ** multiplicity.astype(np.float64))


def _presence_table(
    multiplicity: Counts, rules: Iterable[Sequence[int]], keep: float
) -> tuple[list[int], Floats]:
    """Find the words that decide, and Prec for every set of them kept: shape (2,) * len(words).

    Start from 1{some rule holds} for every set of words present; then replace, one axis at a
    time, "absent" by "not kept": present with probability 1 - q, absent with q.
    """
    possible = possible_rules(multiplicity, rules)
    words = sorted(set().union(*possible))
    if len(words) > MOST_WORDS:
        raise OptionError(
            f"The rules name {len(words)} words of the document; at most {MOST_WORDS} can be "
            "enumerated. For one rule of any length use all_present_anchor."
        )
    table = np.zeros((2,) * len(words))
    for rule in possible:
        table[tuple(1 if word in rule else slice(None) for word in words)] = 1.0
    for axis, missing in enumerate(_absent(multiplicity[words], keep)):
        absent_present = np.moveaxis(table, axis, 0)
        absent_present[0] = missing * absent_present[0] + (1 - missing) * absent_present[1]
    return words, table
