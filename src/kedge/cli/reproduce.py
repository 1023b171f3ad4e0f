"""``kedge reproduce``: the paper's tables and figures, recomputed."""

import shlex
import sys
from importlib import util
from pathlib import Path
from types import ModuleType

import click

from kedge.cli.options import quiet_option
from kedge.errors import MissingDependency, OptionError

__all__ = ["command", "experiments"]

_PACKAGE = "kedge_sea_of_words"


@click.command("reproduce", short_help="Recompute the paper's tables and figures.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...|all")
@click.option("--quick", is_flag=True, help="Run everything on a few documents: minutes, not an hour.")
@click.option(
    "--clean",
    is_flag=True,
    help="Start from scratch, from a clean checkout of one commit; the report says so.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Folder of the report; it also caches finished work of the same source.",
)
@click.option(
    "--masked-model",
    help="A masked language model (name or folder) for the experiment infill.  [default: one is made]",
)
@click.option(
    "--patience",
    type=float,
    help="Time limit per model and data set, in seconds; the tables show what was done by then.",
)
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="How many processes to use."
)
@click.option("--work", hidden=True, help="Do this part of the work (empty: all) and write no report.")
@quiet_option
def command(
    names: tuple[str, ...],
    quick: bool,
    clean: bool,
    out: Path,
    masked_model: str | None,
    patience: float | None,
    jobs: int,
    work: str | None,
    quiet: bool,
) -> None:
    """Rerun the experiments of "A Sea of Words" and compare their numbers with the published ones.

    The experiments: exhaustive, logistic, networks, infill (tables); package (the official package
    itself); example, sampling, algorithm, rules, histograms, dummy, cdf, shift, jaccard-sd (figures);
    corrections. The review sets are looked for in $KEDGE_DATA, then in the user's cache, then
    downloaded; the authors' own runs in the folder authors of $KEDGE_DATA.
    """
    package = experiments()
    package.reproduce.check(names, masked_model=masked_model)  # before a folder is made
    if clean:
        package.reproduce.refuse_unclean()
    try:
        session = package.session.Session(
            out,
            package.setting.QUICK if quick else package.setting.FULL,
            masked_model=masked_model,
            quiet=quiet,
            patience=patience,
            clean=clean,
        )
    except OSError as error:
        raise OptionError(f"{out} cannot be written: {error.strerror}; choose another --out.") from error
    if work is not None:
        package.reproduce.work(names[0], work, session)
        return
    options = ["--quick"] if quick else []
    options += [] if masked_model is None else ["--masked-model", masked_model]
    options += [] if patience is None else ["--patience", f"{patience:g}"]
    line = shlex.join(["kedge", "reproduce", *names, *options, *([] if jobs == 1 else ["--jobs", str(jobs)])])
    try:
        if jobs > 1:
            quietly = ["--quiet"] if quiet else []
            package.reproduce.in_parallel(names, session, jobs, [*options, *quietly, "--out", str(out)])
            session = package.session.Session(
                out,
                session.scale,
                masked_model=masked_model,
                quiet=quiet,
                patience=None if patience is None else 0.0,  # it was had already
            )
        results = package.reproduce.reproduce(names, session, line + (" --clean" if clean else ""))
    except KeyboardInterrupt:
        session.say(f"Stopped; {session.new} pieces of work are kept. Go on with: {line} --out {out}")
        raise
    for result in results:
        if result.skipped:
            click.echo(f"{result.name}: {' '.join(result.notes)}")
    told = package.reproduce.counts(results)
    if told["numbers"]:
        click.echo(f"{told['within']} of {told['numbers']} published numbers are within two standard errors.")
    click.echo(f"The report is {out / 'report.html'} (and report.md, numbers.json).")
    if quick:
        click.echo(
            "This was a quick run: a few documents and runs, whose numbers show that it works, no more."
        )


def experiments() -> ModuleType:
    """The experiments, from the source tree beside the installed package or around the user."""
    if _PACKAGE in sys.modules:
        return sys.modules[_PACKAGE]
    roots = [Path(__file__).resolve().parents[3], Path.cwd()]
    folders = [root / "papers" / "sea_of_words" for root in roots]
    folder = next((f for f in folders if (f / "__init__.py").is_file()), None)
    if folder is None:
        raise MissingDependency(
            "The paper's experiments are part of the source tree (papers/sea_of_words), not of the installed "
            "package; run kedge reproduce from a checkout."
        )
    spec = util.spec_from_file_location(
        _PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018  (the file is there)
    package = util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    try:
        spec.loader.exec_module(package)
        for name in ("session", "setting", "reproduce"):
            __import__(f"{_PACKAGE}.{name}")
    except ImportError as error:
        del sys.modules[_PACKAGE]
        raise MissingDependency(
            f"Reproducing the paper needs {error.name}: pip install 'kedge[reproduce]'."
        ) from error
    return package
