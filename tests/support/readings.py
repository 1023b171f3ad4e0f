"""Readings of small documents, for tests that look below ``explain``."""

import kedge
from kedge import Masking


def reading_of(model, text, keep=0.5, perturbation=None, **options):
    """What ``explain`` would hand to evaluators and strategies."""
    return kedge.Explainer(model, perturbation=perturbation or Masking(keep=keep), **options).read(text)
