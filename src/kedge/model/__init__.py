"""Models: one way in, one type behind it."""

from kedge.model.convert import as_model
from kedge.model.model import Model, Predictions

__all__ = ["Model", "Predictions", "as_model"]
