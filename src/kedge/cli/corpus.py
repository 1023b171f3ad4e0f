"""``kedge corpus``: every document of a file, resumable, on any number of workers."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from kedge.choose import METHODS
from kedge.cli.models import EMBEDDED, load_model
from kedge.cli.progress import progress
from kedge.corpus import explain_file, open_source
from kedge.explain import Explainer

__all__ = ["command"]


@click.command("corpus")
@click.argument("source", metavar="IN", type=click.Path(dir_okay=False))
@click.option("--text", required=True, help="The column (CSV, TSV, Parquet) or key (JSONL) of the text.")
@click.option("--id", "id_", help="The column that names a document; default: its row number.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="The result: .jsonl or .parquet.")
@click.option(
    "--model", default=EMBEDDED, show_default=True, help="The embedded model, module:attribute, or a file."
)
@click.option("--trust", is_flag=True, help="Allow a model file that runs code when it is loaded.")
@click.option("--workers", type=int, help="How many processes; default: all cores.")
@click.option("--dask", metavar="ADDRESS", help="Run on a dask cluster, e.g. tcp://host:8786.")
@click.option("--resume", is_flag=True, help="Go on where an interrupted run ended.")
@click.option("--overwrite", is_flag=True, help="Replace an existing result.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many documents.")
@click.option("--full", is_flag=True, help="Keep whole explanations, texts and traces included.")
@click.option("--separator", help="What separates columns; default: a comma (.csv) or a tab (.tsv).")
@click.option("--no-quotes", is_flag=True, help="Quotation marks in CSV or TSV are ordinary characters.")
@click.option("--threshold", type=float, default=0.95, show_default=True, help="The precision to reach.")
@click.option(
    "--delta",
    type=float,
    default=0.05,
    show_default=True,
    help="Share of certified claims that may be wrong.",
)
@click.option(
    "--method", type=click.Choice(METHODS), default="auto", show_default=True, help="How to search."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same answers.")
@click.option("--max-queries", type=int, help="How many texts the model may be asked about, per document.")
@click.option("--outputs", default="auto", show_default=True, help="What a callable's numbers mean.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(source: str, out: str, **given: Any) -> None:
    """Explain every document of IN (CSV, TSV, JSONL or Parquet; also .gz, .bz2, .xz).

    Writes one row per document, in input order. A document that cannot be explained is a row with the
    reason. Interrupted at any moment, the same command with --resume goes on.
    """
    documents = open_source(
        source, given["text"], given["id_"], separator=given["separator"], quotes=not given["no_quotes"]
    )
    explainer = Explainer(
        load_model(given["model"], trust=given["trust"]),
        threshold=given["threshold"],
        delta=given["delta"],
        method=given["method"],
        seed=given["seed"],
        max_queries=given["max_queries"],
        outputs=given["outputs"],
    )
    with progress(documents.total, quiet=given["quiet"]) as watch:
        try:
            summary = explain_file(
                explainer,
                documents,
                out,
                workers=given["workers"],
                dask=given["dask"],
                resume=given["resume"],
                overwrite=given["overwrite"],
                limit=given["limit"],
                full=given["full"],
                watch=watch,
            )
        except KeyboardInterrupt:
            click.echo(
                f"kedge: every finished row is in {Path(out).name}.part; go on with --resume", err=True
            )
            raise
    click.echo(json.dumps(summary.to_dict()) if given["as_json"] else f"{summary}\nwritten to {out}")
    sys.stdout.flush()
