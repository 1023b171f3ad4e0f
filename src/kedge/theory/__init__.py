"""The propositions of "A Sea of Words" as functions, on plain arrays.

The paper is Lopardo, Precioso, Garreau, "A Sea of Words: An In-Depth Analysis of Anchors for Text
Data", AISTATS 2023. Everywhere ``multiplicity`` (d,) says how often each distinct word occurs in
the document, ``kept`` (d,) or (k, d) how many occurrences of each an anchor keeps, ``alpha`` (d,)
is coefficient times IDF and ``bias`` the intercept of a linear model that says yes when the score
is positive; the threshold is ``1 - eps``, and an occurrence outside the anchor is kept with
probability ``keep``. A function that predicts an anchor returns a tuple of counts. Where the
paper's text is wrong, the functions are right: ``docs/paper-errors.md`` has the counter-examples.

=====================  ==========================================================================
Algorithm 1, Prop. 2   ``count_anchors``, ``select``, ``stability``
Prop. 3                ``samples_needed``, ``uniform_error``, ``uniform_failure``
Prop. 4                ``linear_dummies``, ``rule_dummies``
Prop. 5                ``break_point``, ``words_needed``, ``all_present_precision``,
                       ``all_present_anchor``
Prop. 8                ``rules_precision``, ``rules_anchor``
Prop. 6                ``linear_level``, ``gaussian_precision``, ``berry_esseen``,
                       ``berry_esseen_uniform``, ``third_absolute_moment``
Prop. 9, Prop. 10      ``normalised_level`` (the paper's, false), ``delta_level``, ``delta_bound``,
                       ``norm_share``
Lemmas on the norm     ``norm_tail``, ``norm_small``, ``root_tail``, ``split_probability``
Moments                ``count_moments``, ``central_moments``, ``norm_moments``
Prop. 7                ``top_occurrences``, ``linear_anchor``
One document           ``rule_warnings``, ``linear_warnings``
=====================  ==========================================================================
"""

from kedge.theory.advice import linear_warnings, rule_warnings
from kedge.theory.bounds import berry_esseen, berry_esseen_uniform
from kedge.theory.delta import delta_bound, delta_level, norm_share
from kedge.theory.dummies import linear_dummies, rule_dummies
from kedge.theory.exhaustive import Stability, count_anchors, select, stability
from kedge.theory.gaussian import gaussian_precision, linear_level, normalised_level
from kedge.theory.moments import central_moments, count_moments, norm_moments, third_absolute_moment
from kedge.theory.norms import norm_small, norm_tail, root_tail, split_probability
from kedge.theory.ranking import linear_anchor, top_occurrences
from kedge.theory.rules import (
    all_present_anchor,
    all_present_precision,
    break_point,
    rules_anchor,
    rules_precision,
    words_needed,
)
from kedge.theory.sampling import samples_needed, uniform_error, uniform_failure

__all__ = [
    "Stability",
    "all_present_anchor",
    "all_present_precision",
    "berry_esseen",
    "berry_esseen_uniform",
    "break_point",
    "central_moments",
    "count_anchors",
    "count_moments",
    "delta_bound",
    "delta_level",
    "gaussian_precision",
    "linear_anchor",
    "linear_dummies",
    "linear_level",
    "linear_warnings",
    "norm_moments",
    "norm_share",
    "norm_small",
    "norm_tail",
    "normalised_level",
    "root_tail",
    "rule_dummies",
    "rule_warnings",
    "rules_anchor",
    "rules_precision",
    "samples_needed",
    "select",
    "split_probability",
    "stability",
    "third_absolute_moment",
    "top_occurrences",
    "uniform_error",
    "uniform_failure",
    "words_needed",
]
