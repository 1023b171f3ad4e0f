"""Strategies: from a reading and a goal to the anchor.

``kedge.search.guided`` is not imported here: models that can be read have no use for its statistics,
and ``import kedge`` stays light.
"""

from kedge.search.strategy import Candidate, Found, Goal, Selection, Strategy

__all__ = ["Candidate", "Found", "Goal", "Selection", "Strategy"]
