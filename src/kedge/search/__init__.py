"""Searches: from a reading and an evaluator to the anchor."""

from kedge.search.beam import Beam
from kedge.search.exhaustive import exhaustive
from kedge.search.guided import Guided
from kedge.search.search import Candidate, Found, Goal, Search, Selection

__all__ = ["Beam", "Candidate", "Found", "Goal", "Guided", "Search", "Selection", "exhaustive"]
