"""Security: names, origins, sizes, headers."""

import http.client
from urllib.parse import urlsplit

import httpx
import pytest

from kedge.data.demo import review_model
from kedge.workbench.security import host_allowed
from kedge.workbench.settings import Settings, is_loopback

pytestmark = pytest.mark.serve

ANYWHERE = "0.0.0.0"  # noqa: S104  (looked at, never bound)


def ask(address, method="GET", path="/healthz", body=None, **headers):
    """Send a request with exactly these headers."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[", "10.0.0.7"]
)
def test_other_names_are_refused(address, host):
    """A name rebound to loopback does not reach the server."""
    assert ask(address, Host=host)[0] in {400, 421}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1234", "[::1]:80", "LOCALHOST"])
def test_own_names_are_answered(address, host):
    """Loopback under any of its names is fine."""
    assert ask(address, Host=host)[0] == 200


@pytest.mark.parametrize(
    ("host", "names", "header", "allowed"),
    [
        (ANYWHERE, (), "192.168.1.5:8350", True),  # an address cannot be rebound
        (ANYWHERE, (), "evil.example", False),
        (ANYWHERE, ("box.lan",), "box.lan:8350", True),
        ("192.168.1.5", (), "192.168.1.5", True),
        ("127.0.0.1", (), "192.168.1.5", False),
        ("::", (), "[2001:db8::1]:80", True),
    ],
)
def test_names_of_other_addresses(host, names, header, allowed):
    """Beyond loopback literal addresses and listed names are answered, other names never."""
    assert host_allowed(header, Settings(host=host, names=frozenset(names))) is allowed


def test_loopback_is_recognised():
    """The default is loopback, and 0.0.0.0 is not."""
    assert is_loopback(Settings().host)
    assert all(map(is_loopback, ["localhost", "::1", "127.8.8.8"]))
    assert not any(map(is_loopback, [ANYWHERE, "192.168.1.5", "example.org"]))


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}],
)
def test_other_sites_are_refused(address, headers):
    """A page of another site cannot use the server through its visitor's browser."""
    answer = httpx.post(f"{address}/api/explain", json={"text": "good"}, headers=headers)
    assert answer.status_code == 403


def test_a_link_to_the_page_works(address):
    """Following a link from another site opens the page, and only the page."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert httpx.get(address, headers=headers).status_code == 200
    assert httpx.get(f"{address}/api/model", headers=headers).status_code == 403


def test_own_page_is_answered(address):
    """The page's own requests carry its origin."""
    answer = httpx.post(f"{address}/api/explain", json={"text": "good food"}, headers={"Origin": address})
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/", "/healthz", "/static/app.js", "/nothing"])
def test_headers(address, path):
    """Every answer has the strict policy; nothing may be framed, sniffed or loaded from elsewhere."""
    headers = httpx.get(address + path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


def test_the_page_is_complete_in_itself(address):
    """The page and its parts refer to nothing but themselves, and have no inline script or style."""
    page = httpx.get(address).text
    assert "http://" not in page
    assert "https://" not in page
    assert "<style" not in page
    assert ' style="' not in page
    assert page.count("<script") == 1
    for name in ("app.js", "api.js", "reader.js", "picture.js"):
        source = httpx.get(f"{address}/static/{name}").text
        assert "innerHTML" not in source
        assert "eval(" not in source
        assert "https://" not in source


def test_long_bodies_are_refused_early(serve):
    """A body over the limit is refused by its length, or when it has grown too long."""
    with serve(review_model(), Settings(characters=1000)) as address:
        answer = httpx.post(f"{address}/api/explain", content=b"x" * 200_000)
        assert answer.status_code == 413

        def chunks():
            for _ in range(300):
                yield b" " * 1000

        answer = httpx.post(
            f"{address}/api/explain", content=chunks(), headers={"content-type": "application/json"}
        )
        assert answer.status_code == 413
        assert "1,000 characters" in answer.json()["error"]["message"]
        wrong = ask(address, "POST", "/api/explain", Host="localhost", Content_Length="many")
        assert wrong[0] in {400, 413}


@pytest.mark.parametrize("path", ["explain", "precision", "predict"])
def test_long_texts_are_refused_clearly(serve, path):
    """A text over the limit is refused with the limit in the sentence."""
    with serve(review_model(), Settings(characters=1000)) as address:
        body = {"text": "good " * 400, **({"words": []} if path == "precision" else {})}
        answer = httpx.post(f"{address}/api/{path}", json=body)
    assert answer.status_code == 413
    assert "1,000 characters" in answer.json()["error"]["message"]
