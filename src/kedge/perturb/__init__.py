"""Perturbations: which positions are kept, and what stands where one is removed."""

from kedge.perturb.infill import Infill
from kedge.perturb.masking import Masking
from kedge.perturb.neighbours import Neighbours
from kedge.perturb.perturbation import Perturbation

__all__ = ["Infill", "Masking", "Neighbours", "Perturbation"]
