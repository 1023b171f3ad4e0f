"""Readings of small documents, for tests that look below ``explain``."""

import numpy as np

import kedge
from kedge import Masking
from kedge.oracle import Oracle
from kedge.reading import read, read_document


def reading_of(model, text, keep=0.5, perturbation=None, oracle=None):
    """What ``explain`` would hand to evaluators and searches."""
    model = kedge.as_model(model)
    document, own = read_document(model, text, None)
    return read(
        model,
        document,
        own_units=own,
        split_by_user=False,
        perturbation=perturbation or Masking(keep=keep),
        label=None,
        oracle=oracle or Oracle(),
        rng=np.random.default_rng(0),
    )
