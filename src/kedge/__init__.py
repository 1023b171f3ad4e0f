"""kedge explains the decisions of text classifiers with anchors.

An anchor is the shortest set of words that keeps a text's label: hold them in place, remove every other word
with probability 1/2, and the model still gives the label at least 95% of the time.

>>> import kedge
>>> e = kedge.explain(kedge.rules.any_of(["not", "bad"], ["good"]), "not bad, rather good")
>>> e.words, e.precision, e.status
(('good',), 1.0, 'exact')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kedge.api import explain, flip, influence, precision
from kedge.certificates.recheck import verify
from kedge.errors import KedgeError
from kedge.explainer import Explainer
from kedge.model import Model, as_model, rules
from kedge.model.networks.torch import torch_model
from kedge.model.weights import WordWeights
from kedge.perturb import Infill, Masking, Neighbours
from kedge.prior import Prior
from kedge.results.explanation import Explanation, Step
from kedge.results.flip import Flip
from kedge.results.influence import Influence
from kedge.results.interval import Interval
from kedge.search.beam import Beam
from kedge.search.exact.branch import Branch
from kedge.search.exact.chain import Chain
from kedge.search.exact.counted import Counted
from kedge.search.exact.lazy import Lazy
from kedge.search.exact.leading import Leading
from kedge.search.exact.ranked import Ranked
from kedge.search.exact.tree import Tree
from kedge.search.exhaustive import Exhaustive
from kedge.search.gradient import Gradient
from kedge.search.guided.guided import Guided
from kedge.studies.comparison import Comparison, compare
from kedge.studies.evaluation import Evaluation, evaluate
from kedge.studies.matching import apply
from kedge.studies.repeats import Stability, stability
from kedge.studies.verdict import Verdict
from kedge.text.anchor import Anchor
from kedge.text.document import Document, Token
from kedge.text.index import CorpusIndex

__all__ = [
    "Anchor",
    "Beam",
    "Branch",
    "Chain",
    "Comparison",
    "CorpusIndex",
    "Counted",
    "Document",
    "Evaluation",
    "Exhaustive",
    "Explainer",
    "Explanation",
    "Flip",
    "Gradient",
    "Guided",
    "Infill",
    "Influence",
    "Interval",
    "KedgeError",
    "Lazy",
    "Leading",
    "Masking",
    "Model",
    "Neighbours",
    "Prior",
    "Ranked",
    "Stability",
    "Step",
    "Token",
    "Tree",
    "Verdict",
    "WordWeights",
    "apply",
    "as_model",
    "compare",
    "corpus",
    "datasets",
    "evaluate",
    "explain",
    "flip",
    "influence",
    "plots",
    "precision",
    "ray",
    "rules",
    "spark",
    "stability",
    "theory",
    "tokenize",
    "torch_model",
    "verify",
    "workbench",
]

__version__ = "0.1.0"


# Parts that are imported when they are first used, so that `import kedge` stays light.
_LAZY = {
    "corpus": "kedge.corpus",
    "datasets": "kedge.data.datasets",
    "plots": "kedge.plots",
    "ray": "kedge.ray",
    "spark": "kedge.spark",
    "theory": "kedge.theory",
    "tokenize": "kedge.text.tokenize",
    "workbench": "kedge.workbench",
}

if TYPE_CHECKING:  # type checkers see what they are, and that there is nothing else
    from kedge import corpus, plots, ray, spark, theory, workbench
    from kedge.data import datasets
    from kedge.text import tokenize
else:

    def __getattr__(name: str) -> Any:
        """``kedge.theory``, ``kedge.tokenize`` and the like, on first use."""
        if name in _LAZY:
            return import_module(_LAZY[name])
        raise AttributeError(f"module 'kedge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
