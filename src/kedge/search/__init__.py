"""Searches: from a reading and an evaluator to the anchor.

``kedge.search.guided`` is not imported here: models that can be read have no use for its statistics, and
``import kedge`` stays light.
"""

from kedge.search.beam import Beam
from kedge.search.branch import branch
from kedge.search.counted import Counted
from kedge.search.covering import Covering
from kedge.search.exhaustive import exhaustive
from kedge.search.gradient import Gradient
from kedge.search.lazy import lazy
from kedge.search.linear import linear
from kedge.search.search import Candidate, Found, Goal, Search, Selection
from kedge.search.tree import tree

__all__ = [
    "Beam",
    "Candidate",
    "Counted",
    "Covering",
    "Found",
    "Goal",
    "Gradient",
    "Search",
    "Selection",
    "branch",
    "exhaustive",
    "lazy",
    "linear",
    "tree",
]
