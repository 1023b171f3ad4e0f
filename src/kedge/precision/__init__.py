"""Precision: the probability that the label holds when an anchor is kept, by several roads."""

from kedge.precision.empirical import Empirical
from kedge.precision.enumeration import Enumeration
from kedge.precision.estimates import Estimates, Precision

__all__ = ["Empirical", "Enumeration", "Estimates", "Precision"]
