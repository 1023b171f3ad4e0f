"""``kedge serve``, as a user runs it."""

import re
import signal
import socket
import subprocess

import httpx
import pytest
from command import outside, program, run

pytestmark = pytest.mark.serve


@pytest.mark.posix
def test_serves_until_interrupted(tmp_path):
    """It says where it is, answers there, offers the given documents, and ends quietly on Ctrl+C."""
    (tmp_path / "mine.py").write_text("def model(texts):\n    return ['good' in t for t in texts]\n")
    (tmp_path / "texts.txt").write_text("good food\n\nbad food\n")
    options = ["--port", "0", "--model", "mine:model", "--documents", "texts.txt"]
    with subprocess.Popen(
        program("serve", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=outside(),
    ) as server:
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
    done = run("serve", "--port", "0", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_in_use_is_one_sentence():
    """Another server on the port is said, not thrown."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = run("serve", "--port", other.getsockname()[1])
    assert done.returncode == 2
    assert "choose another --port" in done.stderr
