"""Figure: how much the similarity varies over runs of the same document."""

import numpy as np

from . import table_logistic
from .ranking import chosen
from .result import Figure, Result
from .session import Session
from .setting import classifier, positives
from .style import BLUE, ORANGE, TEAL, canvas

__all__ = ["run"]

TITLE = "Standard deviation of the Jaccard similarity over the runs of one document"


def run(session: Session) -> Result:
    """From the runs of the logistic table, which are in the cache."""
    numbers = {}
    with canvas(session, "jaccard-sd", 1, 3, size=(9.6, 2.7)) as axes:
        for axis, (data, most), colour in zip(
            axes, session.scale.ranked.items(), (BLUE, ORANGE, TEAL), strict=True
        ):
            texts = positives(data, "logistic")
            probability = classifier(data, "logistic").predict_proba(texts)[:, 1].tolist()
            items = [[data, texts[i], session.scale.runs] for i in chosen(probability, most)]
            found = session.each(table_logistic, data, items, table_logistic.work)
            spread = [float(np.std(a["similarity"])) for a in found if a]
            axis.hist(spread, bins=np.linspace(0, 0.5, 21), color=colour, lw=0)
            axis.set(title=data, xlabel=f"sd over {session.scale.runs} runs", ylabel="documents")
            numbers[data] = {
                "mean": float(np.mean(spread)),
                "share below 0.2": float(np.mean(np.array(spread) < 0.2)),
            }
    return Result(
        "jaccard-sd",
        TITLE,
        figures=(
            Figure(
                "jaccard-sd",
                "Spread of the similarity over runs, logistic model: "
                + "; ".join(f"{d} {n['mean']:.2f} on the mean" for d, n in numbers.items())
                + ".",
                "On the same document the similarity varies little from run to run.",
                all(n["mean"] < 0.2 for n in numbers.values()),
                numbers,
            ),
        ),
    )
