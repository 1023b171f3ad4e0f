"""kedge explains the decisions of text classifiers.

>>> import kedge
>>> e = kedge.explain(kedge.rules.any_of(["not", "bad"], ["good"]), "not bad, rather good")
>>> e.words, e.precision, e.status
(('good',), 1.0, 'exact')
"""

from kedge import datasets
from kedge.anchor import Anchor
from kedge.document import Document, Token
from kedge.errors import KedgeError
from kedge.explain import Explainer, explain
from kedge.explanation import Explanation
from kedge.model import Model, as_model, rules
from kedge.perturb import Masking

__all__ = [
    "Anchor",
    "Document",
    "Explainer",
    "Explanation",
    "KedgeError",
    "Masking",
    "Model",
    "Token",
    "as_model",
    "datasets",
    "explain",
    "rules",
]

__version__ = "0.1.0"
