"""Perturbations: which positions are kept, and what stands where one is removed."""

from kedge.perturb.masking import Masking
from kedge.perturb.perturbation import Perturbation

__all__ = ["Masking", "Perturbation"]
