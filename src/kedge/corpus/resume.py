"""Whether a run to be resumed is the run that was started: the same options, texts and model."""

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isclose
from typing import TYPE_CHECKING, Any

from kedge.corpus.files.readers import Source
from kedge.corpus.identity import model_digest, options_of, plain
from kedge.corpus.items import Item
from kedge.corpus.promise import Promise
from kedge.corpus.remedies import START_OVER
from kedge.corpus.workers.task import explain_item
from kedge.errors import StorageError
from kedge.typing import Label

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = ["FORMAT", "Row", "check_model", "paired", "run_options"]

Row = Mapping[str, Any]

FORMAT = 2
"""Version of the rows; raised when a column changes."""

# A network's last bits depend on how many texts are in a batch; another model is further off.
_SAME_NUMBER = 1e-4


def run_options(
    explainer: "Explainer",
    source: Source,
    limit: int | None,
    label: Label | None,
    *,
    full: bool,
    promise: Promise | None = None,
) -> dict[str, Any]:
    """What makes two runs the same run, as plain data."""
    return {
        "format": FORMAT,
        "source": source.name,
        "text": source.layout.text,
        "id": source.layout.id,
        "limit": limit,
        "label": plain(label),
        "full": full,
        "promise": plain(promise),
        "model": explainer.model.name,
        "model_digest": model_digest(explainer.given),
        **options_of(explainer),
    }


def paired(rows: Iterable[Row], items: Iterator[Item], name: str) -> Iterator[tuple[Row, Item]]:
    """Each row with the document it was made from; another text there now is refused."""
    for row in rows:
        item = next(items, None)
        if item is None or item.digest != row["digest"]:
            raise StorageError(
                f"Row {row['row']} of {name} was made from another text than the input has there "
                "now; give the same input, or ",
                START_OVER,
            )
        yield row, item


def check_model(explainer: "Explainer", pairs: Iterable[tuple[Row, Item]]) -> None:
    """Do rows again: a model retrained in the meantime would mix two results in one file."""
    for row, item in pairs:
        again = json.loads(explain_item(explainer, item).to_line())
        for name in ("label", "words", "status", "error_kind", "probability", "precision"):
            if not _alike(again[name], row[name]):
                raise StorageError(
                    f"Row {row['row']} comes out differently now ({name} {again[name]!r}, not "
                    f"{row[name]!r}), so this is not the model the run was started with; ",
                    START_OVER,
                )


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, abs_tol=_SAME_NUMBER)
    return one == other or str(one) == str(other)  # in a table labels are strings
