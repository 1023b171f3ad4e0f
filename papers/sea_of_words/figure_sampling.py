"""Figure: the sampling table, ten perturbed copies of a document given an anchor."""

import numpy as np

import kedge
from kedge.text.document import Document
from kedge.text.tokenize import words

from .result import Check, Figure, Result
from .session import Session
from .style import BLUE, GREY, INK, canvas

__all__ = ["run"]

TEXT, ANCHOR, COPIES = "Food is very very good", (4,), 10
TITLE = "Sampling: copies of a document in which all words but the anchor are replaced at random"


def run(session: Session) -> Result:
    """Draw the table; check Prop. 1 on many more copies."""
    document = Document(TEXT, words(TEXT))
    sizes = np.ones(len(document), dtype=np.int64)
    kept = np.zeros_like(sizes)
    kept[list(ANCHOR)] = 1
    official = kedge.Masking(form="three_steps")
    rng = np.random.default_rng(0)
    rows = official.draw(sizes, kept, COPIES, rng).astype(bool)
    with canvas(session, "sampling", size=(5.4, 3.1)) as (axis,):
        axis.axis("off")
        cells = [[t.word for t in document.tokens]]
        cells += [
            [t.word if stays else "UNK" for t, stays in zip(document.tokens, row, strict=True)]
            for row in rows
        ]
        labels = ["document", *(f"sample {i}" for i in range(1, COPIES + 1))]
        table = axis.table(
            cellText=cells, rowLabels=labels, loc="center", cellLoc="center", edges="horizontal"
        )
        for (i, j), cell in table.get_celld().items():
            cell.set_edgecolor("#e6ebef")
            text = cell.get_text()
            text.set_color(BLUE if j in ANCHOR else GREY if text.get_text() == "UNK" else INK)
            text.set_fontweight("bold" if (i == 0 and j >= 0) or j in ANCHOR else "normal")
    share = {}
    for form in ("three_steps", "coins"):
        draws = kedge.Masking(form=form).draw(sizes, kept, session.scale.monte_carlo // 10, rng)
        share[form] = draws.mean(axis=0)
    # Four standard deviations of a share of coin flips.
    slack = 4 * 0.5 / np.sqrt(session.scale.monte_carlo // 10)
    same = bool(np.abs(share["three_steps"] - share["coins"]).max() < 2 * slack)
    figure = Figure(
        "sampling",
        f"Ten copies of '{TEXT}' drawn in the official three steps, given the anchor 'good'.",
        "The three official steps equal replacing each word outside the anchor independently with "
        "probability 1/2.",
        same,
        {form: values.tolist() for form, values in share.items()},
    )
    check = Check(
        "Prop. 1: the three steps and independent coins keep each word equally often, and the anchor always.",
        same and share["three_steps"][ANCHOR[0]] == 1,
        ", ".join(f"{form}: {np.round(values, 3).tolist()}" for form, values in share.items()),
    )
    return Result("sampling", TITLE, figures=(figure,), checks=(check,))
