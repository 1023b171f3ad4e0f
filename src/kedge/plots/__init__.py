"""Pictures with matplotlib (``pip install 'kedge[plot]'``); all take ``ax=`` and give the Axes back.

``search`` (also ``e.plot()``) is Algorithm 1's picture for one document, ``words`` shows how much
each word weighs, ``stability`` anchors over seeds or thresholds, ``shift`` anchors as the model moves.
"""

from kedge.plots.search import search
from kedge.plots.shift import shift, shifted
from kedge.plots.stability import stability
from kedge.plots.words import influence, words

__all__ = ["influence", "search", "shift", "shifted", "stability", "words"]
