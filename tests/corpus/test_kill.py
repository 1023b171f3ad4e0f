"""Runs that are killed, and what is left of them."""

import json
import os
import random
import signal
import time
from functools import partial

import pytest
from runs import rows_in, start_corpus, wait_for

import kedge
from kedge.corpus import explain_file, open_source

MODEL = """
import time
def model(texts):
    time.sleep(0.00005 * len(texts))
    return ["good" if "good" in t or ("fine" in t and "not" not in t) else "bad" for t in texts]
"""
WORDS = ["good", "fine", "not", "food", "cold", "slow", "soup"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "slow_model.py").write_text(MODEL)
    write_corpus(tmp_path, 100)
    return tmp_path


def write_corpus(folder, documents):
    rng = random.Random(0)
    with (folder / "in.jsonl").open("w") as file:
        for k in range(documents):
            text = " ".join(rng.choices(WORDS, k=rng.randint(2, 6)))
            file.write(json.dumps({"name": f"d{k}", "text": "" if k % 40 == 7 else text}) + "\n")


def start(folder, out, *options, **kwargs):
    named = ["--id", "name", "--model", "slow_model:model", "--out", out]
    return start_corpus(folder, *named, *options, text="text", **kwargs)


def without_times(path):
    """The bytes of a result, but for its times."""
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    for row in rows:
        row.pop("seconds")
    return json.dumps(rows)


def uninterrupted(folder):
    """The same run in this process, with one worker, never interrupted."""
    namespace = {}
    exec(MODEL, namespace)  # noqa: S102
    source = open_source(folder / "in.jsonl", "text", "name")
    explain_file(kedge.Explainer(namespace["model"]), source, folder / "whole.jsonl", workers=1)
    return without_times(folder / "whole.jsonl")


@pytest.mark.slow
@pytest.mark.posix
@pytest.mark.parametrize("kills", [10, pytest.param(50, marks=pytest.mark.long)])
def test_kills_change_nothing(folder, kills):
    """Killed with SIGKILL at random points, the resumed run ends with the same file, byte for byte."""
    rng = random.Random(int.from_bytes(os.urandom(4), "little"))
    write_corpus(folder, 1500)  # no machine gets through before the last kill
    part, out = folder / "out.jsonl.part", folder / "out.jsonl"
    for kill in range(kills):
        workers = "1" if kill % 3 else "2"
        before = rows_in(part)
        # Some kills come while nothing is written yet, most between one row and the next few.
        target = before + rng.choice([0, 1, rng.randint(2, 12)])
        pause = rng.random() * (0.02 if target > before else 1.0)
        process = start(folder, out.name, "--resume", "--workers", workers)
        wait_for(lambda target=target: rows_in(part) >= target, process=process)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        # The pipe ends when the last of its workers does, too: they do not outlive it.
        said = process.communicate(timeout=60)[1]
        assert process.returncode == -signal.SIGKILL, said
        assert not out.exists()
        assert rows_in(part) >= before
    process = start(folder, out.name, "--resume", "--workers", "2")
    assert (process.communicate()[1], process.returncode) == ("", 0)
    assert without_times(out) == uninterrupted(folder)
    assert sorted(p.name for p in folder.glob("out*")) == ["out.jsonl", "out.jsonl.run"]


@pytest.mark.slow
@pytest.mark.posix
def test_interrupted_by_the_keyboard(folder):
    """Ctrl-C ends with exit code 130 and says how to go on; what was done is kept."""
    write_corpus(folder, 800)  # far more than is done by the time the signal comes
    part = folder / "out.jsonl.part"
    # A shell's background job ignores Ctrl-C, and so would its children.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = start(folder, "out.jsonl", "--workers", "2", start_new_session=True, preexec_fn=heed)
    wait_for(lambda: rows_in(part) >= 5, process=process)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert "--resume" in said
    assert "Traceback" not in said
    assert rows_in(part) >= 5
    again = start(folder, "out.jsonl", "--resume", "--workers", "1")
    again.communicate()
    assert without_times(folder / "out.jsonl") == uninterrupted(folder)


@pytest.mark.posix
def test_a_full_disk(folder):
    """When no more can be written the run ends with one sentence, and goes on once there is room."""
    import resource

    limited = start(
        folder,
        "out.jsonl",
        "--workers",
        "1",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )
    _, said = limited.communicate()
    assert limited.returncode == 2
    assert said.count("\n") == 1
    assert "--resume" in said
    assert (folder / "out.jsonl.part").stat().st_size == 10_000
    start(folder, "out.jsonl", "--resume", "--workers", "1").communicate()
    assert without_times(folder / "out.jsonl") == uninterrupted(folder)


def test_a_worker_that_dies_is_replaced(folder):
    """A document that kills its worker the first time is done again; one that always does is an error row."""
    (folder / "deadly.py").write_text(
        "import os, pathlib\n"
        "def model(texts):\n"
        "    if any('soup' in t for t in texts) and not pathlib.Path('died').exists():\n"
        "        pathlib.Path('died').touch(); os._exit(1)\n"
        "    if any('poison' in t for t in texts): os._exit(1)\n"
        "    return ['x' if 'a' in t else 'y' for t in texts]\n"
    )
    texts = ["a b", "soup", "poison b", *(f"a w{k}" for k in range(30))]
    (folder / "in.jsonl").write_text("".join(json.dumps({"text": t, "name": t}) + "\n" for t in texts))
    process = start(folder, "out.jsonl", "--workers", "2", "--model", "deadly:model")
    said = process.communicate()[1]
    assert process.returncode == 0, said
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == texts
    assert [row["id"] for row in rows if row["error"]] == ["poison b"]
    assert "died of this document, twice" in rows[2]["error"]
