"""Pictures with matplotlib (``pip install 'kedge[plot]'``); all take ``ax=`` and give the Axes back.

``search`` (also ``e.plot()``) is Algorithm 1's picture for one document, ``words`` shows what each
word does, ``stability`` anchors over seeds or thresholds, ``shift`` anchors as the model moves,
``evaluation`` how several tools do.
"""

from kedge.plots.shifts import shift, shifted
from kedge.plots.spread import stability
from kedge.plots.tools import evaluation
from kedge.plots.trace import search
from kedge.plots.weights import words

__all__ = ["evaluation", "search", "shift", "shifted", "stability", "words"]
