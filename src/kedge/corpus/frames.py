"""A table of texts to a table of results: what Spark, Ray and others call on each piece of their data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kedge.corpus.files.columns import COLUMNS, Kind
from kedge.corpus.files.table import fitting
from kedge.corpus.workers.transfer import PackedExplainer, pack, unpack
from kedge.errors import MissingDependency, OptionError
from kedge.explainer import Explainer

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

__all__ = ["FrameTask", "ddl", "explain_frame"]

_DDL: dict[Kind, str] = {
    "string": "string",
    "integer": "bigint",
    "number": "double",
    "boolean": "boolean",
    "strings": "array<string>",
    "integers": "array<bigint>",
    "spans": "array<array<bigint>>",
}
_LEFT_OUT = {"row"}  # a place in a file; a table's rows have none
_DTYPES: dict[Kind, str] = {"integer": "Int64", "number": "Float64", "boolean": "boolean", "string": "string"}


def ddl(*without: str) -> str:
    """The columns of a result in the language of SQL, as Spark takes them."""
    left_out = _LEFT_OUT | set(without)
    return ", ".join(f"`{name}` {_DDL[kind]}" for name, kind in COLUMNS.items() if name not in left_out)


def explain_frame(
    explainer: Explainer,
    frame: "pd.DataFrame",
    *,
    text: str,
    id: str | None = None,  # noqa: A002
) -> "pd.DataFrame":
    """Explain every text of a pandas table; one row of results for each, in order.

    Parameters
    ----------
    explainer
        The model, and the options.
    frame
        The table.
    text, id
        Its columns with the documents and with their names; without the latter the table's index names them.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingDependency("Tables need pandas: pip install 'kedge[data]'.") from None
    for name in (text, id):
        if name is not None and name not in frame.columns:
            known = ", ".join(map(repr, frame.columns))
            raise OptionError(f"The table has no column {name!r}; it has {known}.")
    names = frame.index if id is None else frame[id]
    outcomes = explainer.explain_corpus(frame[text].tolist(), ids=names.tolist(), workers=1)
    rows = [fitting(outcome.to_row()) for outcome in outcomes]
    columns = {
        name: pd.Series([row[name] for row in rows], dtype=_DTYPES.get(kind, object))
        for name, kind in COLUMNS.items()
        if name not in _LEFT_OUT
    }
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class FrameTask:
    """An explainer sent to workers that explain tables: unpacked once in each of them."""

    packed: PackedExplainer
    text: str
    id: str | None

    @classmethod
    def of(cls, model: Any, text: str, id: str | None, options: dict[str, Any]) -> "FrameTask":  # noqa: A002
        """Of a model, or of an explainer of it."""
        explainer = (
            model.with_options(**options) if isinstance(model, Explainer) else Explainer(model, **options)
        )
        return cls(pack(explainer), text, id)

    def __call__(self, frame: "pd.DataFrame") -> "pd.DataFrame":
        """Explain a piece of the data."""
        return explain_frame(unpack(self.packed), frame, text=self.text, id=self.id)

    def each(self, frames: "Iterator[pd.DataFrame]") -> "Iterator[pd.DataFrame]":
        """Explain piece after piece."""
        yield from map(self, frames)
