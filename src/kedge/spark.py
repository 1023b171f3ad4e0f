"""Explanations of a Spark table: ``kedge.spark.explain(df, model, text="review")``."""

from typing import Any, Unpack

from kedge.corpus.frames import DDL, FrameTask
from kedge.options import OptionsGiven

__all__ = ["explain"]


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
    return frame.select(*names).mapInPandas(FrameTask.of(model, text, id, dict(options)).each, schema=DDL)
