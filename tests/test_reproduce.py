"""The reproduction: verdicts, cache, report, and every experiment on a handful of documents."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from kedge.cli.reproduce import experiments

pytest.importorskip("matplotlib")
package = experiments()

SHARED = Path(__file__).parents[2] / "shared" / "data"
here = pytest.mark.skipif(not SHARED.is_dir(), reason="the review data is not beside the project")
TINY = replace(
    package.setting.QUICK,
    name="tiny",
    documents=1,
    ranked={"restaurants": 1},
    runs=2,
    repeats=3,
    monte_carlo=4_000,
    shifts=(2, 1),
)


def part(name) -> ModuleType:
    return import_module(f"{package.__name__}.{name}")


@pytest.fixture
def session(tmp_path):
    return package.session.Session(tmp_path, TINY, quiet=True)


@pytest.mark.parametrize(
    ("paper", "sd", "found", "verdict"),
    [
        (0.7, 0.2, 0.9, "within"),
        (0.7, 0.2, 0.91, "outside"),
        (0.7, None, 0.8, "within"),
        (0.7, None, 0.59, "outside"),
        (0.7, 0.2, None, "no documents"),
        (None, None, 0.7, "not in the paper"),
    ],
)
def test_a_verdict_is_computed_from_the_published_tolerance(paper, sd, found, verdict):
    """The published sd, or 0.1 where there is none."""
    assert part("result").Cell("row", "column", paper, sd, found).verdict == verdict


def test_the_paper_has_43_cells():
    """Ten of the exhaustive table, 33 of the ranking tables."""
    published = part("published")
    ranking = [c for m in published.RANKING.values() for s in m.values() for c in s.values() if c]
    assert len(ranking) + sum(len(row) for row in published.EXHAUSTIVE.values()) == 43


def test_an_interrupted_run_goes_on_where_it_stopped(session, tmp_path):
    """What is done is not done again, by another session either, and a line cut short does no harm."""
    module, calls = part("figure_dummy"), []

    def work(item):
        calls.append(item)
        if item == 3 and calls.count(3) == 1:
            raise KeyboardInterrupt
        return item * 10

    with pytest.raises(KeyboardInterrupt):
        session.each(module, "t", [1, 2, 3, 4], work)
    with (tmp_path / "cache" / "figure_dummy.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"key": "cut sho')
    again = package.session.Session(tmp_path, TINY, quiet=True)
    assert again.each(module, "t", [1, 2, 3, 4], work) == [10, 20, 30, 40]
    assert calls == [1, 2, 3, 3, 4]


def test_patience_leaves_the_rest_for_later(tmp_path):
    """Without patience nothing new is done; what is known is given all the same."""
    module = part("figure_dummy")
    patient = package.session.Session(tmp_path, TINY, quiet=True)
    assert patient.each(module, "t", [1], str) == ["1"]
    hasty = package.session.Session(tmp_path, TINY, quiet=True, patience=-1)
    assert hasty.each(module, "t", [1, 2], str, partial=True) == ["1", None]
    assert hasty.left_out == 1


@here
def test_every_experiment_runs_and_the_report_has_them(session, tmp_path, monkeypatch):
    """Tables with verdicts, figures as PNG and PDF, checks that pass; the numbers as JSON."""
    monkeypatch.setenv("KEDGE_DATA", str(SHARED))
    names = ["exhaustive", "logistic", "infill", "sampling", "algorithm", "dummy", "cdf", "corrections"]
    results = package.reproduce.reproduce(names, session, "kedge reproduce")
    numbers = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    assert [r["name"] for r in numbers["results"]] == names
    assert numbers["facts"]["seed"] == 42
    verdicts = [cell["verdict"] for r in numbers["results"] for t in r["tables"] for cell in t["cells"]]
    assert len(verdicts) == 13
    assert set(verdicts) <= {"within", "outside", "no documents"}
    for result in results:
        assert all(check.holds for check in result.checks), result.checks
        for figure in result.figures:
            for suffix in ("png", "pdf"):
                assert (tmp_path / "figures" / f"{figure.stem}.{suffix}").stat().st_size > 1_000
    assert "no masked language model" in " ".join(results[2].notes)
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "table cells within the published tolerance" in report
    assert "figures/dummy.png" in (tmp_path / "report.html").read_text(encoding="utf-8")


@here
def test_networks_are_trained_by_the_recipes_and_kept(tmp_path, monkeypatch):
    """Each network is trained once and found again; its table has accuracies, a yardstick, nine verdicts."""
    pytest.importorskip("torch")
    monkeypatch.setenv("KEDGE_DATA", str(SHARED))
    short = replace(TINY, epochs=0.01)
    session = package.session.Session(tmp_path, short, quiet=True)
    networks = part("networks")
    made = networks.network("restaurants", "3 layers", short.epochs, Path(session.store))
    stored = list(session.store.glob("network-*.pt"))
    assert len(stored) == 1
    written = stored[0].stat().st_mtime_ns
    again = networks.network.__wrapped__("restaurants", "3 layers", short.epochs, Path(session.store))
    assert stored[0].stat().st_mtime_ns == written
    assert again.accuracy == made.accuracy
    (table,) = part("table_networks").run(session).tables
    assert len(table.cells) == 9
    names = [cell.row for cell in table.extra]
    assert {"3 layers, accuracy", "20 layers, accuracy"} <= set(names)
    assert networks.logistic_accuracy("restaurants") == pytest.approx(0.79, abs=0.03)


def test_a_difference_is_told_with_its_standard_error():
    """Beyond the tolerance by less than two standard errors, chance may do that; by more, it may not."""
    cell, told = part("result").Cell, part("report")._difference
    assert "chance alone may do that" in told(cell("row", "column", 0.7, 0.1, 0.85, 0.4, 16))
    assert "more than chance" in told(cell("row", "column", 0.7, 0.1, 0.1, 0.2, 100))
    assert told(cell("row", "column", 0.7, 0.1, None, note="nothing to compare")) == "nothing to compare"


@here
def test_everything_runs_at_the_quick_scale(tmp_path):
    """All tables and figures, a few documents and runs of each, by the command."""
    subprocess.run(
        [sys.executable, "-m", "kedge", "reproduce", "all", "--quick", "--quiet", "--out", str(tmp_path)],
        check=True,
        timeout=1800,  # it takes two or three minutes; this only ends one that hangs
        env={**os.environ, "KEDGE_DATA": str(SHARED)},
    )
    numbers = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    assert [r["name"] for r in numbers["results"]] == list(package.reproduce.EXPERIMENTS)
    assert numbers["summary"][0].endswith("of 43 table cells within the published tolerance")


def reproduce(*arguments, folder, before="pass"):
    """Run the command in a process of its own, after ``before``."""
    code = f"import sys; {before}; sys.argv[0] = 'kedge'; from kedge.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "reproduce", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
    )


@pytest.mark.parametrize("names", [["table9"], ["all", "table9"]])
def test_the_command_refuses_an_unknown_experiment(tmp_path, names):
    """One sentence with the names there are, exit code 2, and no folder."""
    done = reproduce(*names, folder=tmp_path)
    assert done.returncode == 2
    assert "There is no experiment 'table9'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "library", "extra"),
    [
        (["networks"], "torch", "reproduce"),
        (["corrections", "dummy"], "matplotlib", "reproduce"),
        (["infill", "--masked-model", "bert"], "transformers", "transformers"),
    ],
)
def test_a_missing_library_is_told_before_any_work(tmp_path, arguments, library, extra):
    """One sentence that names the experiment, the library and its extra; no folder is made."""
    hide = (
        "from importlib import util; find = util.find_spec; "
        f"util.find_spec = lambda name, *rest: None if name == {library!r} else find(name, *rest)"
    )
    done = reproduce(*arguments, "--quick", folder=tmp_path, before=hide)
    name = "dummy" if library == "matplotlib" else arguments[0]
    assert done.returncode == 2
    assert done.stderr == f"kedge: The experiment {name} needs {library}: pip install 'kedge[{extra}]'.\n"
    assert not list(tmp_path.iterdir())


def test_what_is_skipped_is_said_on_the_terminal(tmp_path):
    """An experiment without its masked model has nothing in the report but the reason: so it is printed."""
    done = reproduce("infill", "--quick", "--quiet", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("infill: Skipped: no masked language model was named")


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    """The place of the report is a file, say."""
    (tmp_path / "file").write_text("")
    done = reproduce("corrections", "--out", "file/report", folder=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "choose another --out" in done.stderr
