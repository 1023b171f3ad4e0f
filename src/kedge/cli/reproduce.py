"""``kedge reproduce``: the paper's tables and figures, computed anew."""

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


@click.command("reproduce", short_help="Compute the paper's tables and figures anew.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...|all")
@click.option("--quick", is_flag=True, help="A few documents and runs of everything: minutes, not an hour.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Folder of the report; work done earlier is kept in it and not done again.",
)
@click.option("--masked-model", help="A masked language model, name or folder, for the experiment infill.")
@click.option(
    "--patience", type=float, help="Seconds per model and data set; tables of what is done by then."
)
@quiet_option
def command(
    names: tuple[str, ...],
    quick: bool,
    out: Path,
    masked_model: str | None,
    patience: float | None,
    quiet: bool,
) -> None:
    """Regenerate experiments of "A Sea of Words" and set their numbers beside the published ones.

    The experiments: exhaustive, logistic, networks, infill (tables); sampling, algorithm, rules,
    histograms, dummy, cdf, shift, jaccard-sd (figures); corrections. The review sets are found by
    $KEDGE_DATA, in the user's cache, or downloaded.
    """
    package = experiments()
    package.reproduce.check(names, masked_model=masked_model)  # before a folder is made
    try:
        session = package.session.Session(
            out,
            package.setting.QUICK if quick else package.setting.FULL,
            masked_model=masked_model,
            quiet=quiet,
            patience=patience,
        )
    except OSError as error:
        raise OptionError(f"{out} cannot be written: {error.strerror}; choose another --out.") from error
    line = "kedge reproduce " + " ".join(shlex.quote(part) for part in names) + (" --quick" if quick else "")
    line += "" if patience is None else f" --patience {patience:g}"
    results = package.reproduce.reproduce(names, session, line)
    cells = [cell for r in results for table in r.tables for cell in table.cells if cell.counted]
    within = sum(cell.verdict == "within" for cell in cells)
    for result in results:
        if result.skipped:
            click.echo(f"{result.name}: {' '.join(result.notes)}")
    if cells:
        click.echo(f"{within} of {len(cells)} table cells are within the published tolerance.")
    click.echo(f"The report is {out / 'report.html'} (and report.md, numbers.json).")


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
