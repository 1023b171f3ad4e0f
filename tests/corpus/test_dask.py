"""A real dask cluster: a scheduler and two worker processes, over TCP."""

import json
import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import counted
import dask
import distributed
import pytest

import kedge
from kedge.corpus import explain_file, open_source

pytestmark = pytest.mark.dask

WORDS = ["good", "fine", "not", "food", "cold", "slow", "soup"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    """A scheduler and its workers, each a process; they end with the test."""

    def __init__(self, folder):
        self.folder, self.port, self.workers = folder, free_port(), []
        self.address = f"tcp://127.0.0.1:{self.port}"
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        self.scheduler = self._start("scheduler", *where)

    def _start(self, *arguments, first=()):
        support = Path(counted.__file__).parent
        path = os.pathsep.join([*first, str(support), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
            cwd=self.folder,
        )

    def add(self, *, first=(), threads=1, options=("--no-nanny",)):
        """Start a worker; ``first`` are folders that it looks into before all others."""
        where = ["worker", self.address, "--nthreads", str(threads), "--no-dashboard", *options]
        self.workers.append(self._start(*where, "--name", f"w{len(self.workers)}", first=first))
        return self.workers[-1]

    def wait(self, workers):
        with distributed.Client(self.address, timeout="60s", set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60)

    def end(self):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture
def empty_cluster(tmp_path):
    """A scheduler without workers."""
    made = Cluster(tmp_path)
    yield made
    made.end()


@pytest.fixture
def cluster(empty_cluster):
    """A scheduler and two workers of one thread."""
    empty_cluster.add()
    empty_cluster.add()
    empty_cluster.wait(2)
    return empty_cluster


def write_corpus(path, n):
    rng = random.Random(1)
    with path.open("w") as file:
        for _ in range(n):
            file.write(json.dumps({"text": " ".join(rng.choices(WORDS, k=rng.randint(3, 7)))}) + "\n")
    return open_source(path, "text")


def without_times(path):
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    for row in rows:
        row.pop("seconds")
    return rows


def test_half_the_cluster_dies(tmp_path, cluster):
    """With one of two workers killed half way the run completes, and with the same rows as one process."""
    address, workers = cluster.address, cluster.workers
    source = write_corpus(tmp_path / "in.jsonl", 160)
    explainer = kedge.Explainer(counted.Counted(str(tmp_path / "unpacked")))

    def kill_half_way(summary, _):
        if summary.documents == 80:
            workers[0].kill()
            workers[0].wait()

    summary = explain_file(explainer, source, tmp_path / "dask.jsonl", dask=address, watch=kill_half_way)
    assert workers[0].poll() is not None
    assert summary.documents == 160
    unpacked = (tmp_path / "unpacked").read_text().split()
    explain_file(explainer, source, tmp_path / "alone.jsonl", workers=1)
    assert without_times(tmp_path / "dask.jsonl") == without_times(tmp_path / "alone.jsonl")
    assert set(unpacked) <= {str(w.pid) for w in workers}
    assert len(unpacked) == len(set(unpacked)), "the model is sent once per worker"


def test_parallel_config(tmp_path, cluster):
    """explain_corpus follows a joblib.parallel_config around it, as for ray or spark."""
    import joblib

    address, workers = cluster.address, cluster.workers
    with distributed.Client(address), joblib.parallel_config(backend="dask"):
        explainer = kedge.Explainer(counted.Counted(str(tmp_path / "unpacked")))
        outcomes = list(explainer.explain_corpus(["good food", "cold soup", ""]))
    assert [o.explanation and o.explanation.words for o in outcomes] == [("good",), ("cold",), None]
    assert set((tmp_path / "unpacked").read_text().split()) <= {str(w.pid) for w in workers}


def bad_copy(folder, content):
    """A folder with another ``counted`` module than the client has."""
    folder.mkdir()
    (folder / "counted.py").write_text(content)
    return str(folder)


OLD = """
class Counted:
    def __setstate__(self, state):
        self.__dict__.update(state)
    def __call__(self, texts):
        return ["good" if "food" in t else "bad" for t in texts]
"""


@pytest.mark.parametrize("content", ["raise ImportError('not here')\n", "x = 1\n", OLD])
def test_a_worker_that_cannot_be_used(tmp_path, empty_cluster, content):
    """A worker without the model's module, or with an old copy, is left out; the others do its documents."""
    empty_cluster.add(first=[bad_copy(tmp_path / "bad", content)])
    empty_cluster.wait(1)
    empty_cluster.add()
    empty_cluster.wait(2)
    source = write_corpus(tmp_path / "in.jsonl", 200)
    explainer = kedge.Explainer(counted.Counted(str(tmp_path / "unpacked")))
    summary = explain_file(explainer, source, tmp_path / "dask.jsonl", dask=empty_cluster.address)
    assert (summary.documents, summary.errors) == (200, {})
    explain_file(explainer, source, tmp_path / "alone.jsonl", workers=1)
    assert without_times(tmp_path / "dask.jsonl") == without_times(tmp_path / "alone.jsonl")


def test_no_worker_that_can_be_used(tmp_path, empty_cluster):
    """When no worker can load the model that is the reason, in one sentence, and nothing is written."""
    empty_cluster.add(first=[bad_copy(tmp_path / "bad", "raise ImportError('not here')\n")])
    source = write_corpus(tmp_path / "in.jsonl", 20)
    explainer = kedge.Explainer(counted.Counted(str(tmp_path / "unpacked")))
    with pytest.raises(kedge.KedgeError, match="not here"):
        explain_file(explainer, source, tmp_path / "out.jsonl", dask=empty_cluster.address)
    assert not list(tmp_path.glob("out*"))


def test_one_thread_is_a_worker_too(tmp_path, empty_cluster):
    """A cluster of one worker thread does the work, not the client."""
    empty_cluster.add()
    source = write_corpus(tmp_path / "in.jsonl", 20)
    explainer = kedge.Explainer(counted.Counted(str(tmp_path / "unpacked")))
    explain_file(explainer, source, tmp_path / "out.jsonl", dask=empty_cluster.address)
    assert set((tmp_path / "unpacked").read_text().split()) == {str(empty_cluster.workers[0].pid)}


def test_workers_that_join_later_work_too(tmp_path, empty_cluster):
    """A worker that joins a run half way takes its part, and gets the model once."""
    empty_cluster.add()
    source = write_corpus(tmp_path / "in.jsonl", 1500)
    explainer = kedge.Explainer(counted.Counted(str(tmp_path / "unpacked")))

    def join_early(summary, _):
        if summary.documents == 50:
            empty_cluster.add()
            empty_cluster.wait(2)

    explain_file(explainer, source, tmp_path / "out.jsonl", dask=empty_cluster.address, watch=join_early)
    unpacked = (tmp_path / "unpacked").read_text().split()
    assert sorted(unpacked) == sorted(str(w.pid) for w in empty_cluster.workers)


def test_a_killed_scheduler_is_one_sentence(tmp_path, cluster):
    """Without its scheduler the run ends, says how to go on, and keeps its rows."""
    source = write_corpus(tmp_path / "in.jsonl", 400)
    explainer = kedge.Explainer(counted.Counted(str(tmp_path / "unpacked")))

    def kill(summary, _):
        if summary.documents == 40:
            cluster.scheduler.kill()

    with pytest.raises(kedge.KedgeError, match=r"scheduler .* is gone"):
        explain_file(explainer, source, tmp_path / "out.jsonl", dask=cluster.address, watch=kill)
    assert (tmp_path / "out.jsonl.part").read_bytes().count(b"\n") >= 40
    summary = explain_file(explainer, source, tmp_path / "out.jsonl", workers=1, resume=True)
    assert (summary.documents, summary.errors) == (400, {})


def test_no_scheduler():
    """An address where nobody answers is one sentence."""
    explainer = kedge.Explainer(kedge.rules.present("good"))
    impatient = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with impatient, pytest.raises(kedge.KedgeError, match="No dask scheduler answers"):
        list(explainer.explain_corpus(["good"], dask=f"tcp://127.0.0.1:{free_port()}"))
