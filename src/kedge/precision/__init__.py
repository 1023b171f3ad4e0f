"""Precision: the probability that the label holds when an anchor is kept, by several roads."""

from kedge.precision.additive import Additive
from kedge.precision.empirical import Empirical
from kedge.precision.enumeration import Enumeration
from kedge.precision.estimates import Estimates, Precision
from kedge.precision.gaussian import Gaussian
from kedge.precision.leaves import Leaves

__all__ = ["Additive", "Empirical", "Enumeration", "Estimates", "Gaussian", "Leaves", "Precision"]
