"""``kedge corpus``: every document of a file, resumable, on any number of workers."""

import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import click

from kedge.cli.meter import progress
from kedge.cli.models import load_model
from kedge.cli.options import ASKED, asking_options, label_named, model_options, quiet_option
from kedge.cli.wording import typed
from kedge.corpus import Source, check_rules, check_run, explain_file, open_source, pick_rules, result_rows
from kedge.corpus.rules import index_of
from kedge.errors import OptionError
from kedge.explainer import Explainer
from kedge.prior import Prior
from kedge.utils.sentences import spelled

__all__ = ["command"]

# Documents that are looked at for one with a text, to learn the model's labels from.
LOOKED = 100
# Questions about each document that is learned from.
_QUESTIONS = 100


@click.command("corpus", short_help="Explain every document of a file.")
@click.argument("sources", metavar="IN...", type=click.Path(allow_dash=True), nargs=-1, required=True)
@click.option(
    "--text",
    required=True,
    help="The column (CSV, TSV, Parquet) or key (JSONL) of the text; nested: review.body.",
)
@click.option("--id", "id_", help="The column that identifies a document.  [default: its row number]")
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False),
    help="Where to write the results: .jsonl or .parquet.",
)
@model_options
@click.option("--workers", type=int, help="How many processes to use.  [default: all cores]")
@click.option("--dask", metavar="ADDRESS", help="Run on a dask cluster, e.g. tcp://host:8786.")
@click.option("--timeout", type=float, help="Time limit per document, in seconds.")
@click.option("--resume", is_flag=True, help="Continue an interrupted run.")
@click.option("--retry-errors", is_flag=True, help="Resume, and redo the documents that failed.")
@click.option("--overwrite", is_flag=True, help="Replace an existing result.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N documents.")
@click.option(
    "--learn",
    type=click.IntRange(min=1),
    metavar="N",
    help="Learn word weights from N documents first (100 queries each), to save queries later.",
)
@click.option(
    "--promise",
    type=click.Choice(["document", "corpus"]),
    default="document",
    show_default=True,
    help="For black boxes: prove each anchor, or audit a sample of them for the whole corpus.",
)
@click.option("--full", is_flag=True, help="Write complete explanations, with texts and traces.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["csv", "tsv", "jsonl", "parquet"]),
    help="The format of IN, if its name does not say.",
)
@click.option("--encoding", default="utf-8", show_default=True, help="The encoding of CSV, TSV and JSONL.")
@click.option("--separator", help="The column separator.  [default: a comma (.csv) or a tab (.tsv)]")
@click.option(
    "--no-header", is_flag=True, help="CSV and TSV have no header line; columns are named 1, 2, ..."
)
@click.option(
    "--no-quotes", is_flag=True, help="Treat quotation marks in CSV and TSV as ordinary characters."
)
@asking_options
@click.option(
    "--index",
    type=click.Path(file_okay=False),
    help="Compute coverage with this corpus index; built from IN if it does not exist.",
)
@click.option(
    "--objective",
    type=click.Choice(["shortest", "coverage"]),
    default="shortest",
    show_default=True,
    help="Which anchor to return; coverage needs --index.",
)
@click.option("--rules", is_flag=True, help="Print rules for the whole model, and write them as HTML.")
@click.option("--max-rules", type=int, default=20, show_default=True, help="The most rules to return.")
@click.option(
    "--min-precision",
    type=float,
    default=0.9,
    show_default=True,
    help="The least share of the documents a rule covers that must have its label.",
)
@quiet_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(sources: tuple[str, ...], out: str, **given: Any) -> None:
    """Explain every document of IN (CSV, TSV, JSONL or Parquet; also .gz, .bz2, .xz, .zst).

    IN is a file, a folder, a pattern in quotes, several of these, or - for standard input.

    Writes one row per document, in input order. A document that cannot be explained becomes a row with the
    reason; if none can be, the exit code is 1. After an interruption, the same command with --resume
    continues.
    """
    check_run(out, workers=given["workers"], timeout=given["timeout"], limit=given["limit"])
    check_rules(given["max_rules"], given["min_precision"])
    documents = open_source(
        sources,
        given["text"],
        given["id_"],
        format=given["format_"],
        separator=given["separator"],
        quotes=not given["no_quotes"],
        header=not given["no_header"],
        encoding=given["encoding"],
    )
    check_run(out, documents)
    index = Path(given["index"]) if given["index"] is not None else None
    twice = (
        given["rules"]
        or given["promise"] == "corpus"
        or given["learn"]
        or (index is not None and not index.exists())
    )
    if documents.once and twice:
        raise OptionError(
            "--rules, --learn, --promise corpus and a new --index read IN a second time; save standard "
            "input to a file."
        )
    explainer = _explainer(documents, given)
    if given["learn"] is not None:
        explainer = _learned(explainer, documents, Path(out).with_suffix(".prior.json"), given)
    with progress(documents.total, limit=given["limit"], quiet=given["quiet"]) as watch, _resumable(out):
        summary = explain_file(
            explainer,
            documents,
            out,
            workers=given["workers"],
            dask=given["dask"],
            timeout=given["timeout"],
            resume=given["resume"],
            retry_errors=given["retry_errors"],
            overwrite=given["overwrite"],
            limit=given["limit"],
            label=label_named(
                given["label"], explainer.model, [item.text for item in documents.look(LOOKED)]
            ),
            full=given["full"],
            promise=given["promise"],
            watch=watch,
        )
    data = summary.to_dict()
    summary.reasons = {kind: spelled(reason, typed) for kind, reason in summary.reasons.items()}
    said = [f"{summary}\nwritten to {out}"]
    if given["rules"]:
        rules = pick_rules(
            result_rows(out),
            index_of(explainer, lambda: _texts(documents, given)),
            max_rules=given["max_rules"],
            min_precision=given["min_precision"],
        )
        page = Path(out).with_suffix(".rules.html")
        try:
            page.write_text(rules.to_html(explainer.model.name, documents.name), encoding="utf-8")
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


class _Terminated(BaseException):
    """Somebody wants the run to end: a shutdown, a scheduler of jobs, a closed terminal."""


@contextmanager
def _resumable(out: str) -> Iterator[None]:
    """After an interruption, say how to continue."""

    def terminated(number: int, _: Any) -> None:
        raise _Terminated(number)

    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    # A signal that is ignored stays so: nohup asks for that.
    before = {s: signal.signal(s, terminated) for s in signals if signal.getsignal(s) == signal.SIG_DFL}
    try:
        yield
    except (KeyboardInterrupt, _Terminated) as stop:
        kept = f"{Path(out).name}.part"
        click.echo(f"kedge: every finished row is in {kept}; continue with --resume", err=True)
        if isinstance(stop, _Terminated):
            sys.exit(128 + stop.args[0])
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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


def _learned(explainer: Explainer, documents: Source, path: Path, given: dict[str, Any]) -> Explainer:
    """The same with a prior, which is kept beside the result; a resumed run uses the one it has."""
    if (given["resume"] or given["retry_errors"]) and path.exists():
        return explainer.with_options(prior=Prior.load(path))
    texts = [item.text for item in islice(iter(documents), given["learn"]) if isinstance(item.text, str)]
    options: Any = {name: given[name] for name in ASKED if name != "max_queries"}
    prior = Prior.learn(explainer.given, texts, queries=_QUESTIONS * len(texts), **options)
    try:
        prior.save(path)
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror}.") from error
    click.echo(f"{prior}\nwritten to {path}", err=True)
    return explainer.with_options(prior=prior)


def _texts(documents: Source, given: dict[str, Any]) -> Iterator[Any]:
    return (item.text for item in islice(iter(documents), given["limit"]))
