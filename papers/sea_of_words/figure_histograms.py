"""Figure: document lengths, IDF and multiplicities of Restaurants and Yelp."""

from collections import Counter

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from .result import Check, Figure, Result
from .session import Session
from .setting import corpus
from .style import BLUE, INK, ORANGE, canvas

__all__ = ["run"]

TITLE = "Lengths, inverse document frequencies and multiplicities of the two data sets"


def run(session: Session) -> Result:
    """Four histograms for each data set, and the facts the paper states of them."""
    facts = {}
    with canvas(session, "histograms", 2, 4, size=(10.4, 4.4)) as axes:
        for row, (name, colour) in enumerate((("restaurants", BLUE), ("yelp", ORANGE))):
            texts, _ = corpus(name)
            lengths = np.array([len(t.split()) for t in texts])
            idf = TfidfVectorizer(norm=None).fit(texts).idf_
            times = np.array([m for t in texts for m in Counter(t.split()).values()])
            facts[name] = {
                "mean b": float(lengths.mean()),
                "mean v_j": float(idf.mean()),
                "mean m_j": float(times.mean()),
                "mean m_j > 1": float(times[times > 1].mean()),
                "share of m_j = 1": float((times == 1).mean()),
                "largest m_j": int(times.max()),
            }
            panels = (
                (lengths, "document length $b$"),
                (idf, "inverse document frequency $v_j$"),
                (times, "multiplicity $m_j$"),
                (times[times > 1], "multiplicity $m_j > 1$"),
            )
            for axis, (values, label) in zip(axes[4 * row : 4 * row + 4], panels, strict=True):
                whole = values.dtype.kind == "i"
                bins = (
                    np.arange(values.min(), min(values.max(), 40) + 2) - 0.5
                    if whole and "m_j" in label
                    else 30
                )
                axis.hist(values, bins=bins, color=colour, lw=0)
                mean = float(values.mean())
                axis.axvline(mean, color=INK, lw=1, ls="--")
                # Beside the line, at the top, on the side that is free: IDF has its bars on the right.
                axis.text(
                    mean,
                    0.97,
                    f" mean {mean:.3g} ",
                    ha="right" if "v_j" in label else "left",
                    transform=axis.get_xaxis_transform(),
                    va="top",
                    fontsize=8,
                    bbox={"facecolor": "white", "alpha": 0.8, "lw": 0, "pad": 1},
                )
                if "m_j" in label:
                    axis.set_yscale("log")
                axis.set_xlabel(label)
                axis.set_title(name.capitalize() if "length" in label else "")
                axis.set_ylabel("documents" if "length" in label else "words")
    r, y = facts["restaurants"], facts["yelp"]
    stated = {
        "Restaurants has about 11 words a review, Yelp about 133.": abs(r["mean b"] - 11) < 1
        and abs(y["mean b"] - 133) < 1,
        "Multiplicities are mostly 1 in Restaurants.": r["share of m_j = 1"] > 0.5,
        "Multiplicities reach 75 in Yelp.": abs(y["largest m_j"] - 75) <= 1,
        "IDF is about 7 on the mean in both.": max(abs(r["mean v_j"] - 7), abs(y["mean v_j"] - 7)) < 0.75,
    }
    caption = "; ".join(
        f"{name.capitalize()}: " + ", ".join(f"{k} {v:.3g}" for k, v in values.items())
        for name, values in facts.items()
    )
    return Result(
        "histograms",
        TITLE,
        figures=(Figure("histograms", caption + ".", " ".join(stated), all(stated.values()), facts),),
        checks=tuple(Check(statement, holds) for statement, holds in stated.items()),
    )
