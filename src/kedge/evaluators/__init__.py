"""Precision: the probability that the label holds when an anchor is kept, in several ways."""

from kedge.evaluators.additive import Additive
from kedge.evaluators.chain import Chained
from kedge.evaluators.empirical import Empirical
from kedge.evaluators.enumeration import Enumeration
from kedge.evaluators.estimates import Estimates, Evaluator
from kedge.evaluators.gaussian import Gaussian
from kedge.evaluators.leaves import Leaves

__all__ = ["Additive", "Chained", "Empirical", "Enumeration", "Estimates", "Evaluator", "Gaussian", "Leaves"]
