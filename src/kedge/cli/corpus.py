"""``kedge corpus``: every document of a file, resumable, on any number of workers."""

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

from kedge.cli.models import load_model
from kedge.cli.options import ASKED, asking_options, label_named, model_options, quiet_option
from kedge.cli.progress import progress
from kedge.cli.wording import spoken
from kedge.corpus import Source, check_rules, check_run, explain_file, open_source, pick_rules, result_rows
from kedge.coverage import CorpusIndex
from kedge.errors import OptionError
from kedge.explain import Explainer

__all__ = ["command"]


@click.command("corpus", short_help="Explain every document of a file.")
@click.argument("source", metavar="IN", type=click.Path(dir_okay=False))
@click.option("--text", required=True, help="The column (CSV, TSV, Parquet) or key (JSONL) of the text.")
@click.option("--id", "id_", help="The column that names a document; default: its row number.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="The result: .jsonl or .parquet.")
@model_options
@click.option("--workers", type=int, help="How many processes; default: all cores.")
@click.option("--dask", metavar="ADDRESS", help="Run on a dask cluster, e.g. tcp://host:8786.")
@click.option("--resume", is_flag=True, help="Go on where an interrupted run ended.")
@click.option("--overwrite", is_flag=True, help="Replace an existing result.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many documents.")
@click.option("--full", is_flag=True, help="Keep whole explanations, texts and traces included.")
@click.option("--separator", help="What separates columns; default: a comma (.csv) or a tab (.tsv).")
@click.option("--no-quotes", is_flag=True, help="Quotation marks in CSV or TSV are ordinary characters.")
@asking_options
@click.option(
    "--index",
    type=click.Path(file_okay=False),
    help="Coverage of each anchor, by this index of a corpus; made from IN if it is not there.",
)
@click.option(
    "--objective",
    type=click.Choice(["shortest", "coverage"]),
    default="shortest",
    show_default=True,
    help="Which of the anchors that reach the threshold; coverage needs --index.",
)
@click.option("--rules", is_flag=True, help="Print rules for the whole model, and write them as HTML.")
@click.option("--max-rules", type=int, default=20, show_default=True, help="How many rules at most.")
@click.option(
    "--min-precision",
    type=float,
    default=0.9,
    show_default=True,
    help="Share of the documents a rule covers that must have its label.",
)
@quiet_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(source: str, out: str, **given: Any) -> None:
    """Explain every document of IN (CSV, TSV, JSONL or Parquet; also .gz, .bz2, .xz).

    Writes one row per document, in input order. A document that cannot be explained is a row with the
    reason; if that is all of them, the exit code is 1. Interrupted at any moment, the same command with
    --resume goes on.
    """
    check_run(out, workers=given["workers"], limit=given["limit"])
    check_rules(given["max_rules"], given["min_precision"])
    documents = open_source(
        source, given["text"], given["id_"], separator=given["separator"], quotes=not given["no_quotes"]
    )
    explainer = _explainer(documents, given)
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
                label=label_named(given["label"], explainer.model, _texts(documents, given)),
                full=given["full"],
                watch=watch,
            )
        except KeyboardInterrupt:
            kept = f"{Path(out).name}.part"
            click.echo(f"kedge: every finished row is in {kept}; go on with --resume", err=True)
            raise
    data = summary.to_dict()
    summary.reasons = {kind: spoken(reason, kind) for kind, reason in summary.reasons.items()}
    said = [f"{summary}\nwritten to {out}"]
    if given["rules"]:
        rules = pick_rules(
            result_rows(out),
            _index(explainer, documents, given),
            max_rules=given["max_rules"],
            min_precision=given["min_precision"],
            threshold=explainer.options.threshold,
        )
        page = Path(out).with_suffix(".rules.html")
        try:
            html = rules.to_html(explainer.model.name, Path(source).name)
            page.write_text(html, encoding="utf-8")
        except OSError as error:
            raise OptionError(f"{page} cannot be written: {error.strerror}.") from error
        said.append(f"\n{rules}\nwritten to {page}")
        data |= {
            "rules": rules.to_rows(),
            "rule_coverage": rules.coverage,
            "rule_fidelity": rules.fidelity,
            "rule_needless": rules.needless,
        }
    click.echo(json.dumps(data) if given["as_json"] else "\n".join(said))
    if summary.documents and not summary.explained:
        sys.exit(1)


def _explainer(documents: Source, given: dict[str, Any]) -> Explainer:
    if given["objective"] == "coverage" and given["index"] is None:
        raise OptionError("--objective coverage needs --index, the corpus that coverage is a share of.")
    options = {name: given[name] for name in ASKED}
    model = load_model(given["model"], trust=given["trust"])
    explainer = Explainer(model, **options)
    if given["index"] is None:
        return explainer
    if not Path(given["index"]).exists():
        explainer.index(_texts(documents, given)).save(given["index"])
    return Explainer(model, **options, corpus=given["index"], objective=given["objective"])


def _index(explainer: Explainer, documents: Source, given: dict[str, Any]) -> CorpusIndex:
    """The index of the very documents that were explained: rules count their labels."""
    return explainer.index(_texts(documents, given))


def _texts(documents: Source, given: dict[str, Any]) -> Iterator[Any]:
    return (item.text for item in islice(iter(documents), given["limit"]))
