"""kedge explains the decisions of text classifiers.

>>> import kedge
>>> e = kedge.explain(kedge.rules.any_of(["not", "bad"], ["good"]), "not bad, rather good")
>>> e.words, e.precision, e.status
(('good',), 1.0, 'exact')
"""

from importlib import import_module
from typing import Any

from kedge.anchor import Anchor
from kedge.apply import apply
from kedge.ask import Verdict
from kedge.compare import Comparison, compare
from kedge.coverage import CorpusIndex
from kedge.document import Document, Token
from kedge.errors import KedgeError
from kedge.explain import Explainer, explain, precision
from kedge.explanation import Explanation, Step
from kedge.model import Model, as_model, rules
from kedge.model.torch import torch_model
from kedge.model.weights import WordWeights
from kedge.perturb import Infill, Masking, Neighbours
from kedge.stability import Stability, stability

__all__ = [
    "Anchor",
    "Comparison",
    "CorpusIndex",
    "Document",
    "Explainer",
    "Explanation",
    "Infill",
    "KedgeError",
    "Masking",
    "Model",
    "Neighbours",
    "Stability",
    "Step",
    "Token",
    "Verdict",
    "WordWeights",
    "apply",
    "as_model",
    "compare",
    "datasets",
    "explain",
    "plots",
    "precision",
    "rules",
    "stability",
    "torch_model",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Parts that are imported when they are first used: ``kedge.theory``, ``kedge.tokenize``..."""
    if name in {"corpus", "datasets", "plots", "theory", "tokenize", "workbench"}:
        return import_module(f"kedge.{name}")
    raise AttributeError(f"module 'kedge' has no attribute {name!r}")
