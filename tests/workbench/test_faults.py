"""A server under fire: slow clients, models that do not come back, texts that are large, odd requests."""

import asyncio
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from command import outside, program

import kedge
from kedge.evaluators import binomials
from kedge.utils.deadline import TimeIsUp
from kedge.workbench import Settings
from kedge.workbench.jobs import Stopped, insist

pytestmark = pytest.mark.serve

JSON = {"Content-Type": "application/json"}
TYPED = b"Content-Type: application/json\r\n"
TEXT = b'{"text": "good food"}'


def good(texts):
    return ["good" in text for text in texts]


def raw(address, data, *, seconds=10):
    """Send bytes as they are; gives all that comes back until the server closes."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port), timeout=seconds) as line:
        line.sendall(data)
        received = b""
        while piece := line.recv(65536):
            received += piece
    return received


@contextmanager
def command(*options, cwd=None):
    """A server in a process of its own, as users start it; gives its address with what it said."""
    with subprocess.Popen(
        program("serve", "--port", "0", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=outside(),
        cwd=cwd,
    ) as server:
        try:
            said = server.stdout.readline()
            port = re.search(r":(\d+)/", said).group(1)
            yield f"http://127.0.0.1:{port}", said
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=20)


def test_small_answers_are_sent_at_once(address):
    """Connections have TCP_NODELAY: an answer does not wait for the client's delayed acknowledgement."""
    from kedge.workbench.server import listen

    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert httpx.get(f"{address}/healthz").json() == {"status": "ok", "jobs": 0}


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"Origin": "http://[bad"}, 403, "origin"),
        ({"Host": "evil.example@127.0.0.1"}, 421, "host"),
        ({"Host": "127.0.0.1:80:80"}, 421, "host"),
        ({"Host": "127.0.0.1/.evil.example"}, 421, "host"),
        ({"Upgrade": "websocket", "Connection": "Upgrade"}, 400, "websocket"),
        ({"Content-Type": "text/plain"}, 415, "content_type"),
        ({"Content-Type": ""}, 415, "content_type"),
        ({"Content-Length": "²"}, 413, "too_long"),
    ],
)
def test_odd_requests_are_refused(address, headers, status, kind):
    """Each gets the refusal that fits, as JSON, never an error of the server."""
    own = {"Host": "127.0.0.1", **JSON, "Content-Length": str(len(TEXT)), **headers}
    lines = [f"{name}: {value}" for name, value in own.items()]
    request = "\r\n".join(["POST /api/explain HTTP/1.1", *lines, "Connection: close"]).encode("latin-1")
    answer = raw(address, request + b"\r\n\r\n" + TEXT).decode()
    if "²" in str(headers):  # not even HTTP: refused before it is a request
        assert answer.startswith(("HTTP/1.1 400", f"HTTP/1.1 {status}"))
    else:
        assert answer.startswith(f"HTTP/1.1 {status}")
        assert f'"kind": "{kind}"' in answer


def test_other_servers_websockets_are_closed():
    """Under an ASGI server that knows WebSockets a handshake is turned down, not left hanging."""
    from kedge.workbench import create_app

    sent = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message["type"])

    asyncio.run(create_app(good)({"type": "websocket", "headers": []}, receive, send))
    assert sent == ["websocket.close"]


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        b"POST /api/predict HTTP/1.1\r\nHost: localhost\r\n" + TYPED + b"Content-Length: 9\r\n\r\n{",
    ],
    ids=["nothing", "half the headers", "half the body"],
)
def test_requests_that_do_not_arrive(serve, begun):
    """A client that stops in the middle of its request does not hold its connection for long."""
    with serve(good, Settings(arrival=0.3)) as address:
        started = time.monotonic()
        answer = raw(address, begun)
        assert time.monotonic() - started < 5
        assert not begun or answer.startswith(b"HTTP/1.1 408")
        assert not begun or b'"kind":"too_slow"' in answer.replace(b'": "', b'":"')
        # One after the other on one connection is fine, however long it stays open in between.
        with httpx.Client() as client:
            for _ in range(2):
                assert client.post(f"{address}/api/explain", json={"text": "good"}).status_code == 200
                time.sleep(0.4)


class TestToken:
    """Beyond loopback a server wants its token."""

    def test_ways_to_show_it(self, serve):
        """A header, a cookie, or the address of the page, which gives the cookie and forgets the token."""
        with serve(good, Settings(token="opensesame")) as address, httpx.Client(base_url=address) as client:
            for path in ("/", "/healthz", "/?token=wrong", "/static/app.js"):
                assert client.get(path).status_code == 401
            bare = client.post("/api/explain", json={"text": "good"})
            assert bare.json()["error"]["kind"] == "token"
            bearer = {"authorization": "Bearer opensesame"}
            assert client.post("/api/explain", json={"text": "good"}, headers=bearer).status_code == 200
            opened = client.get("/?token=opensesame")
            assert (opened.status_code, opened.headers["location"]) == (303, "/")
            assert "HttpOnly" in opened.headers["set-cookie"]
            assert client.get("/").status_code == 200
            assert client.post("/api/explain", json={"text": "good"}).status_code == 200
            assert httpx.get(address, headers={"cookie": 'kedge-token="'}).status_code == 401

    @pytest.mark.posix
    @pytest.mark.parametrize(
        ("options", "wanted"),
        [(["--host", "0.0.0.0"], True), (["--host", "0.0.0.0", "--no-token"], False), ([], False)],  # noqa: S104
    )
    def test_the_command_makes_one_up(self, options, wanted):
        """On an address that others reach, unless it is told not to."""
        with command(*options) as (address, said):
            status = httpx.get(f"{address}/healthz").status_code
        assert ("?token=" in said) is wanted
        assert status == (401 if wanted else 200)


# A model that waits outside Python, on a pipe that nobody writes to, until it is woken.
ASLEEP = """
from pathlib import Path

def model(texts):
    if any("endless" in text for text in texts):
        Path("entered").touch()
        Path("pipe").read_bytes()
    return ["good" in text for text in texts]
"""


def until(true, seconds=60):
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.05)
    return False


class TestModelsThatDoNotComeBack:
    """A call outside Python cannot be stopped from a thread."""

    @pytest.mark.posix
    def test_health_tells_when_no_worker_is_left(self, tmp_path):
        """The server says so, and refuses at once with the time after which to try again."""
        (tmp_path / "asleep.py").write_text(ASLEEP, encoding="utf-8")
        os.mkfifo(tmp_path / "pipe")
        options = ("--model", "asleep:model", "--workers", 1, "--time-limit", 2)
        with command(*options, cwd=tmp_path) as (address, _):

            def ask(text):
                return httpx.post(f"{address}/api/explain", json={"text": text}, timeout=60)

            def health():
                return httpx.get(f"{address}/healthz", timeout=60)

            assert until(lambda: ask("good").status_code == 200)  # the first is slow: it imports
            # On a machine that stands still for two seconds the model may not be reached in time.
            assert until(lambda: ask("endless").status_code == 422 and (tmp_path / "entered").exists())
            assert until(lambda: health().status_code == 503)
            assert health().json()["status"] == "stuck"
            refused = ask("good")
            assert refused.status_code == 429
            assert int(refused.headers["retry-after"]) >= 1
            (tmp_path / "pipe").write_bytes(b"")
            assert until(lambda: health().json()["status"] == "ok")

    def test_isolated_models_are_ended(self, serve):
        """A process can be ended: the place is free again, and other answers are as always."""
        text = "The food was good, and so was the service of the people there."

        def asleep(texts):  # one that a process can load without this module
            import time

            time.sleep(60 if any("ever" in text for text in texts) else 0)
            return ["good" in text for text in texts]

        with serve(asleep, Settings(seconds=15, workers=1, isolate=True)) as address:
            fine = httpx.post(f"{address}/api/explain", json={"text": text}, timeout=30)
            assert fine.json()["words"] == ["good"]
            ended = httpx.post(f"{address}/api/explain", json={"text": "endless for ever"}, timeout=60)
            assert ended.status_code == 422
            started = time.monotonic()
            again = httpx.post(f"{address}/api/precision", json={"text": text, "words": ["good"]}, timeout=20)
            assert again.json()["reaches"] is True
            assert time.monotonic() - started < 20
            lines = httpx.post(f"{address}/api/explain?as=stream", json={"text": text}, timeout=20).text
            assert '"event": "result"' in lines
            bad = httpx.post(f"{address}/api/explain", json={"text": text, "method": "magic"}, timeout=20)
            assert bad.json()["error"]["kind"] == "option"

    def test_a_process_that_dies(self, serve):
        """Is the model's failure; the next request gets a new one."""

        def fragile(texts):
            import os

            if any("crash" in text for text in texts):
                os._exit(3)
            return ["good" in text for text in texts]

        with serve(fragile, Settings(workers=1, isolate=True, debug=True)) as address:
            died = httpx.post(f"{address}/api/explain", json={"text": "crash"}, timeout=30)
            assert died.status_code == 502
            assert "exit code 3" in died.json()["error"]["message"]
            assert httpx.post(f"{address}/api/explain", json={"text": "good"}, timeout=30).status_code == 200


def test_a_computation_that_takes_too_long_gives_what_it_can(serve):
    """A search without questions is interrupted, too, and answers with a sampled anchor."""
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(500)]
    model = kedge.WordWeights(dict(zip(words, rng.normal(size=500), strict=True)))
    text = " ".join(rng.choice(words, 1_000))
    with serve(model, Settings(seconds=10)) as address:
        answer = httpx.post(
            f"{address}/api/explain", json={"text": text, "method": "exhaustive"}, timeout=30
        ).json()
    assert any("time limit was near" in note for note in answer["notes"])
    assert answer["status"] in {"certified", "estimated", "not_reached"}  # as far as the time allowed
    assert answer["interval"]["mean"] >= 0.9
    assert 1 <= len(answer["words"]) < 1_000


@pytest.mark.parametrize("told", [TimeIsUp, Stopped])
def test_an_interruption_that_python_ignores(monkeypatch, told):
    """Raised where exceptions are forgotten, it is raised again where they are not."""
    printed = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    insist()

    class Dying:
        def __init__(self, last_words):
            self.last_words = last_words

        def __del__(self):
            raise self.last_words

    Dying(ValueError("mine"))
    with pytest.raises(told):  # noqa: PT012
        Dying(told())
        for _ in range(1_000):
            time.sleep(0.01)
    assert [one.exc_type for one in printed] == [ValueError]


def test_memory_of_one_word_repeated():
    """What is remembered between requests is bounded in bytes, not in entries."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for n in range(20_000, 24_000):
        binomials.binomial(n, 0.5)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 100  # megabytes; a cache of entries would keep 700


def test_eight_clients(serve):
    """Everyone gets the same answer, whoever else asks."""
    with serve(good, Settings(waiting=64)) as address, ThreadPoolExecutor(8) as clients:
        answers = list(
            clients.map(
                lambda _: httpx.post(f"{address}/api/explain", json={"text": "good food"}, timeout=30).json(),
                range(40),
            )
        )
    assert {tuple(answer["words"]) for answer in answers} == {("good",)}


def test_nothing_a_model_says_controls_a_terminal():
    """Escape codes in labels and notes are shown, not obeyed."""
    e = kedge.explain(lambda texts: ["\x1b[2J" + str("good" in t) for t in texts], "good \x1b[31m food")
    assert "\x1b" not in str(e)
