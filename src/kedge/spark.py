"""Explanations of a Spark table: ``kedge.spark.explain(df, model, text="review")``, or as a column of it."""

from importlib import import_module
from typing import Any, Unpack

from kedge.corpus.frames import FrameTask, ddl
from kedge.errors import MissingDependency
from kedge.options import OptionsGiven

__all__ = ["column", "explain"]


def explain(
    frame: Any,
    model: Any,
    *,
    text: str,
    id: str | None = None,  # noqa: A002
    **options: Unpack[OptionsGiven],
) -> Any:
    """A Spark table with one row of results for each document of another.

    It is Spark's own ``mapInPandas``: lazy, spread over the executors as the data is, the model unpacked once
    in each Python worker. ``spark.sql.execution.arrow.maxRecordsPerBatch`` says how many documents are taken
    at a time.

    Parameters
    ----------
    frame
        The Spark table.
    model
        Whatever ``kedge.explain`` takes, or an ``Explainer``. It is pickled.
    text, id
        The columns with the documents and with their names.
    options
        As of ``kedge.explain``.
    """
    names = [text] if id is None else [text, id]
    return frame.select(*names).mapInPandas(FrameTask.of(model, text, id, dict(options)).each, schema=ddl())


def column(model: Any, **options: Unpack[OptionsGiven]) -> Any:
    """A function of a text column, for ``withColumn``: each text's results as one value with fields.

    It is Spark's own ``pandas_udf``, so all other columns stay beside it:
    ``df.withColumn("why", kedge.spark.column(model)("review")).select("key", "why.words")``.

    Parameters
    ----------
    model
        Whatever ``kedge.explain`` takes, or an ``Explainer``. It is pickled.
    options
        As of ``kedge.explain``.
    """
    try:
        import pandas as pd

        functions: Any = import_module("pyspark.sql.functions")
    except ImportError:
        raise MissingDependency("A column of a Spark table needs pyspark: pip install pyspark.") from None
    task = FrameTask.of(model, "text", None, dict(options))

    def explained(texts: pd.Series) -> pd.DataFrame:  # the types show Spark what kind of function it is
        return task(texts.to_frame("text")).drop(columns="id")

    return functions.pandas_udf(explained, ddl("id"))
