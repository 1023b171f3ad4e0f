"""``kedge serve``, as a user runs it."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

SRC = str(Path(__file__).parents[2] / "src")
ENVIRONMENT = {**os.environ, "PYTHONPATH": SRC, "PYTHONUNBUFFERED": "1"}


def start(*arguments, cwd=None):
    """Start ``kedge serve`` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "kedge", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=ENVIRONMENT,
    )


def test_serves_until_interrupted(tmp_path):
    """It says where it is, answers there, offers the given documents, and ends quietly on Ctrl+C."""
    (tmp_path / "mine.py").write_text("def model(texts):\n    return ['good' in t for t in texts]\n")
    (tmp_path / "texts.txt").write_text("good food\n\nbad food\n")
    with start("--port", "0", "--model", "mine:model", "--documents", "texts.txt", cwd=tmp_path) as server:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline()).group()
            about = httpx.get(f"{address}/api/model").json()
            assert about["documents"] == ["good food", "bad food"]
            answer = httpx.post(f"{address}/api/explain", json={"text": "good food"}).json()
            assert (answer["label"], answer["words"]) == (True, ["good"])
        finally:
            server.send_signal(signal.SIGINT)
            _, errors = server.communicate(timeout=20)
    assert "Traceback" not in errors
    assert server.returncode in {0, 130, -signal.SIGINT}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "nowhere:model"], "nowhere:model cannot be loaded"),
        (["--documents", "no-such-file"], "cannot be read"),
        (["--host", "foo..bar"], "choose another --host"),
        (["--host", "192.0.2.1"], "choose another --host"),  # an address for examples, of no machine
        (["--time-limit", "-1"], "must be positive"),
        (["--outputs", "magic"], "'magic' is not one of 'auto', 'labels'"),
    ],
)
def test_bad_options_are_one_sentence(arguments, says):
    """Bad options end with code 2 and one sentence."""
    with start("--port", "0", *arguments) as server:
        _, errors = server.communicate(timeout=60)
    assert server.returncode == 2
    assert says in errors
    assert errors.count("\n") == 1


def test_a_port_in_use_is_one_sentence():
    """Another server on the port is said, not thrown."""
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        start("--port", str(other.getsockname()[1])) as server,
    ):
        _, errors = server.communicate(timeout=60)
    assert server.returncode == 2
    assert "choose another --port" in errors
