"""What each word does to the label, as a table for the terminal."""

from kedge.render.shading import signed
from kedge.results.influence import Influence
from kedge.utils.messages import visible

__all__ = ["render_influence"]

# Rows shown; the rest are counted.
_ROWS = 20


def render_influence(known: Influence) -> str:
    """The words by the size of their influence, the strongest first, and how the numbers were found."""
    ranked = sorted(known.words, key=lambda w: -abs(w.value))
    rows = [(visible(w.word), signed(w.value, 0.0 if known.exact else w.error)) for w in ranked[:_ROWS]]
    width = max((len(word) for word, _ in rows), default=0)
    left = len(ranked) - len(rows)
    label = visible(str(known.label))
    how = "exact" if known.exact else f"{known.samples:,} samples, ± one standard error"
    lines = [f"{word:<{width}}  {value}" for word, value in rows]
    lines += [f"and {left:,} more words"] if left else []
    lines += ["", f"Effect of each word on the probability that the label “{label}” holds ({how})."]
    return "\n".join(lines)
