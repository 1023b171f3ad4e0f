"""No way to lose a row without a word: backends, simultaneous starts, kills from outside, errors of a day."""

import json
import os
import signal
import threading
import time
from itertools import islice

import joblib
import pytest
from runs import rows_in, start_corpus, wait_for

import kedge
from kedge.corpus import explain_file, open_source, result_rows
from kedge.corpus.workers.backends import explained_somewhere

GOOD = kedge.rules.any_of(["not", "bad"], ["good"])
TEXTS = ["good food", "not bad at all", "", "so good"] * 5

SLOW = """
import time
def model(texts):
    time.sleep(0.0004 * len(texts))
    return ["good" in t for t in texts]
"""


def write(folder, texts, name="in.jsonl"):
    (folder / name).write_text("".join(json.dumps({"t": t}) + "\n" for t in texts))
    return open_source(folder / name, "t")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork, in newer versions of Python
@pytest.mark.parametrize("n_jobs", [-1, -2, 2])
@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_any_number_of_jobs_of_any_backend(tmp_path, backend, n_jobs):
    """joblib's "all cores" is a number of workers: every text has its outcome, every document its row."""
    explainer = kedge.Explainer(GOOD)
    with joblib.parallel_config(backend=backend, n_jobs=n_jobs):
        outcomes = list(explainer.explain_corpus(TEXTS))
        summary = explain_file(explainer, write(tmp_path, TEXTS), tmp_path / "out.jsonl")
    assert [o.row for o in outcomes] == list(range(len(TEXTS)))
    assert summary.documents == len(TEXTS)
    assert [row["row"] for row in result_rows(tmp_path / "out.jsonl")] == list(range(len(TEXTS)))


@pytest.mark.skipif(os.name != "posix", reason="needs file locks")
def test_a_refused_overwrite_destroys_nothing(tmp_path):
    """A second run with --overwrite is refused, fifty times, and the one that is going on has every row."""
    (tmp_path / "slow_model.py").write_text(SLOW)
    write(tmp_path, [f"good w{k} and more" for k in range(400)])
    options = ["--out", "out.jsonl", "--model", "slow_model:model", "--workers", "1"]
    first = start_corpus(tmp_path, *options)
    try:
        wait_for(lambda: rows_in(tmp_path / "out.jsonl.part") >= 5)
        begun = (tmp_path / "out.jsonl.run").read_bytes()
        source, other = open_source(tmp_path / "in.jsonl", "t"), kedge.Explainer(GOOD)
        for _ in range(50):
            with pytest.raises(kedge.KedgeError, match="Another run is writing"):
                explain_file(other, source, tmp_path / "out.jsonl", overwrite=True, workers=1)
        second = start_corpus(tmp_path, *options, "--overwrite", "--threshold", "0.9")
        said = second.communicate(timeout=60)[1]
        assert (second.returncode, "Another run is writing" in said) == (2, True), said
        assert first.poll() is None  # it was going on all the time
        assert (tmp_path / "out.jsonl.run").read_bytes() == begun
    finally:
        said = first.communicate(timeout=120)[1]
    assert (first.returncode, said) == (0, "")
    assert [row["row"] for row in result_rows(tmp_path / "out.jsonl")] == list(range(400))


def simultaneous(folder, times):
    """Start two different runs on one result at the same time, so often; each time one is refused."""
    source = write(folder, TEXTS)
    explainers = [kedge.Explainer(GOOD, threshold=t) for t in (0.9, 0.8)]
    for k in range(times):
        out = folder / f"out{k}.jsonl"
        barrier = threading.Barrier(2)
        done, refused = [], []

        def start(explainer, out=out, barrier=barrier, done=done, refused=refused):
            barrier.wait()
            try:
                with joblib.parallel_config(backend="threading", n_jobs=2):
                    explain_file(explainer, source, out, overwrite=True, watch=lambda *_: time.sleep(0.002))
                done.append(explainer.options.threshold)
            except kedge.KedgeError as error:
                refused.append(str(error))

        threads = [threading.Thread(target=start, args=(e,)) for e in explainers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        asked = json.loads((folder / f"out{k}.jsonl.run").read_text())
        rows = list(result_rows(out))
        assert [row["row"] for row in rows] == list(range(len(TEXTS)))
        assert asked["threshold"] in done
        if len(done) == 1:  # else the second began when the first had ended
            assert "Another run" in refused[0]


@pytest.mark.skipif(os.name != "posix", reason="needs file locks")
def test_simultaneous_starts(tmp_path):
    """Of two runs that start at once on one result one is refused, and what was asked for is the winner's."""
    simultaneous(tmp_path, 10)


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="needs file locks")
def test_simultaneous_starts_many_times(tmp_path):
    """The same, three hundred times."""
    simultaneous(tmp_path, 300)


SERVICE = """
import pathlib
def model(texts):
    with open("asked", "a") as log:
        log.writelines(text + "\\n" for text in texts)
    if pathlib.Path("down").exists() and any("soup" in text for text in texts):
        raise RuntimeError("the service is down")
    return ["good" in text for text in texts]
"""


@pytest.mark.parametrize("out", ["out.jsonl", "out.parquet"])
@pytest.mark.parametrize("done", [None, 3])
def test_errors_are_not_final(tmp_path, out, done):
    """--retry-errors does those documents again that failed, and only those, of a whole result or a part."""
    texts = ["good food", "soup", "bad food", "good soup", "", "good bread"]
    write(tmp_path, texts)
    (tmp_path / "service.py").write_text(SERVICE)
    (tmp_path / "down").touch()
    options = ["--out", out, "--model", "service:model", "--workers", "1", "--json"]
    first = start_corpus(tmp_path, *options)
    assert json.loads(first.communicate()[0])["errors"] == {"ModelRaised": 2, "TextError": 1}
    if done is not None:  # as if the run had been interrupted after three rows
        lines = [json.dumps(row) + "\n" for row in result_rows(tmp_path / out)]
        (tmp_path / f"{out}.part").write_text("".join(lines[:done]))
        (tmp_path / out).unlink()
    (tmp_path / "down").unlink()
    (tmp_path / "asked").unlink()
    again = start_corpus(tmp_path, *options, "--retry-errors")
    said, wrong = again.communicate()
    assert (again.returncode, wrong) == (0, "")
    assert json.loads(said)["errors"] == {"TextError": 1}
    assert json.loads(said)["retried"] == (3 if done is None else 1)
    rows = list(result_rows(tmp_path / out))
    assert [row["row"] for row in rows] == list(range(6))
    assert [row["error_kind"] for row in rows] == [None, None, None, None, "TextError", None]
    assert sorted(path.name for path in tmp_path.glob("out*")) == [out, f"{out}.run"]
    # The first and the last row that were fine are done again, to see that it is the same model.
    checked = {"bad food"} if done is None else set()
    assert not checked & set((tmp_path / "asked").read_text().splitlines())


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_retry_that_is_killed_loses_nothing(tmp_path):
    """Killed in the middle of a retry, the run goes on with --resume and ends with every row."""
    texts = [f"good soup w{k}" if k % 2 else f"good food w{k}" for k in range(200)]
    write(tmp_path, texts)
    (tmp_path / "service.py").write_text(
        SERVICE.replace("    if", "    import time; time.sleep(0.01)\n    if")
    )
    (tmp_path / "down").touch()
    options = ["--out", "out.jsonl", "--model", "service:model", "--workers", "1"]
    start_corpus(tmp_path, *options).communicate()
    whole = (tmp_path / "out.jsonl").read_bytes()
    (tmp_path / "down").unlink()
    for intent in ("--retry-errors", "--resume"):
        process = start_corpus(tmp_path, *options, intent)
        before = rows_in(tmp_path / "out.jsonl.part")
        wait_for(lambda before=before: rows_in(tmp_path / "out.jsonl.part") > before + 10)
        process.kill()
        process.communicate()
        assert (tmp_path / "out.jsonl").read_bytes() == whole  # it stays until there is a better one
    process = start_corpus(tmp_path, *options, "--resume")
    assert (process.communicate()[1], process.returncode) == ("", 0)
    rows = list(result_rows(tmp_path / "out.jsonl"))
    assert [row["row"] for row in rows] == list(range(200))
    assert [row["error"] for row in rows if row["error"]] == []
    assert sorted(path.name for path in tmp_path.glob("out*")) == ["out.jsonl", "out.jsonl.run"]


WAITING = """
import multiprocessing, os, pathlib, time

def wait_to_be_killed(name, times):
    if len(list(pathlib.Path().glob(f"{name}.*.killed"))) < times:
        pathlib.Path(f"{name}.new").write_text(str(os.getpid()))
        os.replace(f"{name}.new", f"{name}.waits")
        time.sleep(600)

def model(texts):
    for text in texts:
        for word in {"halt", "stay"} & set(text.split()):
            wait_to_be_killed(word, 3)
    return ["good" in text for text in texts]

if multiprocessing.current_process().name == "kedge-worker":
    wait_to_be_killed("loading", 2)
"""


def kill_what_waits(folder, name, times):
    """Kill the worker that has come to a place of this name, so often."""
    for k in range(times):
        wait_for((folder / f"{name}.waits").exists)
        worker = int((folder / f"{name}.waits").read_text())
        (folder / f"{name}.waits").unlink()
        (folder / f"{name}.{k}.killed").touch()
        os.kill(worker, signal.SIGKILL)


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_kills_from_outside_are_no_document_s_fault(tmp_path, workers):
    """Workers that something kills again and again cost time, and no document its explanation.

    They are killed while they load the model, and three times each over the same two documents: where they
    are then does not depend on how fast the machine is.
    """
    (tmp_path / "waiting_model.py").write_text(WAITING)
    texts = [f"good w{k} and more" for k in range(200)]
    texts[60], texts[140] = "good food halt", "good food stay"
    write(tmp_path, texts)
    process = start_corpus(
        tmp_path, "--out", "out.jsonl", "--model", "waiting_model:model", "--workers", workers
    )
    try:
        if workers == "1":  # two would wait at the same time
            kill_what_waits(tmp_path, "loading", 2)
        else:
            for k in range(2):
                (tmp_path / f"loading.{k}.killed").touch()
        kill_what_waits(tmp_path, "halt", 3)
        kill_what_waits(tmp_path, "stay", 3)
        said = process.communicate(timeout=120)[1]
    finally:
        process.kill()
    assert (process.returncode, said) == (0, "")
    rows = list(result_rows(tmp_path / "out.jsonl"))
    assert [row["row"] for row in rows] == list(range(200))
    assert [row["error"] for row in rows if row["error"]] == []


def test_rows_that_are_missing_are_an_error(tmp_path, monkeypatch):
    """Where workers give back less than they were given, the run says so, and is not finished."""

    def forgetful(explainer, items, *args, **kwargs):
        yield from islice(explained_somewhere(explainer, items, *args, **kwargs), 12)
        list(items)

    monkeypatch.setattr("kedge.corpus.run.explained_somewhere", forgetful)
    explainer = kedge.Explainer(GOOD)
    with pytest.raises(kedge.KedgeError, match="20 documents were read, but there are 12 results"):
        list(explainer.explain_corpus(TEXTS, workers=1))
    with pytest.raises(kedge.KedgeError, match="20 documents were read, but there are 12 results"):
        explain_file(explainer, write(tmp_path, TEXTS), tmp_path / "out.jsonl", workers=1)
    assert not (tmp_path / "out.jsonl").exists()
    assert rows_in(tmp_path / "out.jsonl.part") == 12
