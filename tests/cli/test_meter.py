"""What a run says on the way."""

from kedge.cli import meter as module
from kedge.cli.meter import Goal, progress, time_left
from kedge.corpus import Summary


def half_way(**values):
    """A summary after 50 documents in ten seconds."""
    summary = Summary(documents=50, **values)
    summary.started -= 10
    return summary


def test_time_left():
    """At the pace so far; what an earlier run had done counts for nothing."""
    assert round(time_left(half_way(), 500, Goal(1000))) == 10
    assert round(time_left(half_way(resumed=40), 500, Goal(1000))) == 50
    assert time_left(half_way(resumed=50), 500, Goal(1000)) is None
    assert time_left(Summary(), 0, Goal(1000)) is None


def test_the_time_left_knows_of_the_limit():
    """With --limit the run ends there, not at the end of the file; the size of a pipe is not known."""
    assert round(time_left(half_way(), 500, Goal(1_000_000, 100))) == 10
    assert round(time_left(half_way(), 500, Goal(1000, 5000))) == 10
    assert round(time_left(half_way(), 0, Goal(None, 100))) == 10
    assert time_left(half_way(), 0, Goal(None)) is None


def test_lines_in_a_log(capsys, monkeypatch):
    """Without a terminal a line now and then, with rate and time left."""
    monkeypatch.setattr(module, "LOG_EVERY", 0.0)
    with progress(1000) as watch:
        watch(half_way(), 500)
    assert capsys.readouterr().err == "kedge: 50 documents, 5.0/s, 0:10 left, 0 errors\n"


def test_a_bar_on_a_terminal(monkeypatch, capsys):
    """On a terminal a bar, which is gone when the run is over."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress(1000) as watch:
        watch(half_way(), 500)
    assert "written" not in capsys.readouterr().out


def test_quiet():
    """Nothing to call."""
    with progress(1000, quiet=True) as watch:
        assert watch is None
