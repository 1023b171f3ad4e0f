"""Models of tables: a text column is explained, the other columns of the row are held fixed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kedge.errors import MissingDependency, ModelError, OptionError, TextError
from kedge.model.sklearn.pipeline import is_pipeline
from kedge.utils.sentences import Option

__all__ = ["Row", "hold_row", "reads_tables", "refuse_tables"]


@dataclass(frozen=True)
class Row:
    """A model of tables as a model of the texts in one column of one row.

    Parameters
    ----------
    model
        An object with ``predict``, or a function, that takes a pandas DataFrame.
    table
        The row, as a DataFrame of one row.
    column
        The name of the text column.
    """

    model: Any
    table: Any
    column: str

    @property
    def name(self) -> str:
        """How to call it in front of the user."""
        model = getattr(self.model, "__name__", type(self.model).__name__)
        return f"{model} on the column {self.column!r}"

    @property
    def classes_(self) -> Any:
        """The model's classes."""
        return self.model.classes_

    def predict(self, texts: Sequence[str]) -> Any:
        """What the model says about the row with each of these texts in it."""
        ask = getattr(self.model, "predict", self.model)
        return ask(self.put(texts))

    def __getattr__(self, name: str) -> Any:
        # Only what the model itself has is there, as with scikit-learn's own.
        if name != "predict_proba" or not hasattr(self.model, name):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return lambda texts: self.model.predict_proba(self.put(texts))

    def put(self, texts: Sequence[str]) -> Any:
        """The row with each of these texts in it."""
        table = self.table.loc[self.table.index.repeat(len(texts))].reset_index(drop=True)
        table[self.column] = list(texts)
        return table


def hold_row(model: Any, row: Any, column: Any) -> tuple[Any, str]:
    """A model of texts from a model of tables, and the text: for ``kedge.explain(..., column=)``.

    Parameters
    ----------
    model
        A pipeline, another object with ``predict``, or a function, that takes a DataFrame.
    row
        A dictionary, a pandas Series, or a table of one row.
    column
        The column whose text is explained.
    """
    table = _table(row)
    if column not in list(table.columns):
        known = ", ".join(repr(name) for name in table.columns)
        raise OptionError(f"The row has no column {column!r}; it has {known}.")
    text = table[column].iloc[0]
    if not isinstance(text, str):
        raise TextError(f"The column {column!r} must hold a text, got {type(text).__name__}.")
    if is_pipeline(model) and not reads_tables(model):
        return model, text  # it reads the text alone
    return Row(model, table, column), text


def _table(row: Any) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MissingDependency(
            Option("column"),
            " needs pandas, which is not installed; install it with: pip install 'kedge[data]'.",
        ) from None
    if hasattr(row, "to_pandas"):  # polars
        row = row.to_pandas()
    if isinstance(row, pd.Series):
        row = row.to_dict()
    if isinstance(row, Mapping):
        return pd.DataFrame([dict(row)])
    if isinstance(row, pd.DataFrame):
        if len(row) == 1:
            return row
        raise OptionError(
            Option("column"), f" explains one row of a table, got {len(row)} rows; pass df.iloc[0]."
        )
    raise OptionError(
        "With ",
        Option("column"),
        " the second argument is a row: a dictionary, a Series or a table of one row, got "
        f"{type(row).__name__}.",
    )


def reads_tables(pipeline: Any) -> bool:
    """Whether a scikit-learn pipeline starts from the columns of a table."""
    kind = type(pipeline.steps[0][1])
    return any(
        c.__module__.startswith("sklearn.compose.") and c.__name__ == "ColumnTransformer"
        for c in kind.__mro__
    )


def refuse_tables(pipeline: Any) -> None:
    """A pipeline that reads tables cannot read a text; say what can be done."""
    if not reads_tables(pipeline):
        return
    names = [c for _, _, c in pipeline.steps[0][1].transformers if isinstance(c, str)]
    column = names[0] if names else "text"
    raise ModelError(
        "This pipeline starts with a ColumnTransformer, so it reads the columns of a table, not a text; pass "
        f"a row and say which column holds the text: kedge.explain(pipeline, df.iloc[0], column={column!r})."
    )
