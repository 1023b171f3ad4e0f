"""A real dask cluster: a scheduler and two worker processes, over TCP."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
from pathlib import Path

import counted
import pytest

import kedge
from kedge.corpus import explain_file, open_source

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

WORDS = ["good", "fine", "not", "food", "cold", "slow", "soup"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture
def cluster(tmp_path):
    """Start the three processes; give the scheduler's address and the workers."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    support = Path(counted.__file__).parent
    path = os.pathsep.join([str(support), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "10"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment, "cwd": tmp_path}
    program = [sys.executable, "-m", "dask"]
    scheduler = [*program, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = [*program, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    processes = [subprocess.Popen(scheduler, **quiet)]
    processes += [subprocess.Popen([*worker, "--name", f"w{k}"], **quiet) for k in range(2)]
    try:
        with distributed.Client(address, timeout="60s", set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


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
    address, workers = cluster
    source = write_corpus(tmp_path / "in.jsonl", 160)
    explainer = kedge.Explainer(counted.Counted(str(tmp_path / "unpacked")))

    def kill_half_way(summary, _):
        if summary.documents == 80:
            workers[0].send_signal(signal.SIGKILL)
            workers[0].wait()

    summary = explain_file(explainer, source, tmp_path / "dask.jsonl", dask=address, watch=kill_half_way)
    assert workers[0].poll() is not None
    assert summary.documents == 160
    explain_file(explainer, source, tmp_path / "alone.jsonl", workers=1)
    assert without_times(tmp_path / "dask.jsonl") == without_times(tmp_path / "alone.jsonl")
    unpacked = (tmp_path / "unpacked").read_text().split()
    assert set(unpacked) <= {str(w.pid) for w in workers}
    assert len(unpacked) == len(set(unpacked)), "the model is sent once per worker"


def test_parallel_config(tmp_path, cluster):
    """explain_corpus follows a joblib.parallel_config around it, as for ray or spark."""
    import joblib

    address, workers = cluster
    with distributed.Client(address), joblib.parallel_config(backend="dask"):
        explainer = kedge.Explainer(counted.Counted(str(tmp_path / "unpacked")))
        outcomes = list(explainer.explain_corpus(["good food", "cold soup", ""]))
    assert [o.explanation and o.explanation.words for o in outcomes] == [("good",), ("cold",), None]
    assert set((tmp_path / "unpacked").read_text().split()) <= {str(w.pid) for w in workers}


def test_no_scheduler():
    """An address where nobody answers is one sentence."""
    explainer = kedge.Explainer(kedge.rules.present("good"))
    impatient = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with impatient, pytest.raises(kedge.KedgeError, match="No dask scheduler answers"):
        list(explainer.explain_corpus(["good"], dask=f"tcp://127.0.0.1:{free_port()}"))
