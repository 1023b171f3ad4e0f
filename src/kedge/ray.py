"""Explanations of a Ray dataset: ``kedge.ray.explain(dataset, model, text="review")``."""

from typing import Any, Unpack

from kedge.corpus.frames import FrameTask
from kedge.options import OptionsGiven

__all__ = ["explain"]


def explain(
    dataset: Any,
    model: Any,
    *,
    text: str,
    id: str | None = None,  # noqa: A002
    rows: int = 256,
    **options: Unpack[OptionsGiven],
) -> Any:
    """A Ray dataset with one row of results for each document of another.

    It is Ray's own ``map_batches``: lazy, in as many tasks as the cluster has room for, the model
    unpacked once in each worker process.

    Parameters
    ----------
    dataset
        The Ray dataset.
    model
        Whatever ``kedge.explain`` takes, or an ``Explainer``. It is pickled.
    text, id
        The columns with the documents and with their names.
    rows
        How many documents are taken at a time.
    options
        As of ``kedge.explain``.
    """
    names = [text] if id is None else [text, id]
    task = FrameTask.of(model, text, id, dict(options))
    return dataset.select_columns(names).map_batches(task, batch_format="pandas", batch_size=rows)
