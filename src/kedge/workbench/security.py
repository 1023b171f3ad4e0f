"""Who may talk to the server, how much they may say, and what a browser may do with the page.

Loopback alone does not keep a browser out: any page the user visits can send requests to it, and a
name that is rebound to 127.0.0.1 makes them same-origin. So the ``Host`` must be one of ours, an
``Origin`` must be that host, a body must say that it is JSON (which no form of another site can), and
nothing is served that a strict policy would not allow. Beyond loopback a token is required.
"""

import asyncio
import json
import re
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

from kedge.workbench.settings import LOOPBACK_NAMES, Settings, is_loopback
from kedge.workbench.tokens import WANTED, let_in, token_in_address, token_shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "host_allowed", "not_arrived"]

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
_ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


def host_allowed(header: str, settings: Settings) -> bool:
    """Whether the ``Host`` header names this server.

    Rebinding needs a name, so on an address other than loopback any literal address is fine; names
    are fine only when the user listed them.
    """
    name = _name(header)
    if name is None:
        return False
    if name in LOOPBACK_NAMES or name in settings.names or name == settings.host.lower():
        return True
    if is_loopback(settings.host):
        return False
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


# A name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port. Nothing else: a URL's
# user part ("evil.example@127.0.0.1") is no part of a host.
_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?P<port>:[0-9]{1,5})?")


def _name(header: str) -> str | None:
    found = _HOST.fullmatch(header)
    return None if found is None else found["name"].strip("[]").lower()


def _site(origin: str) -> str | None:
    """The host and port of an ``Origin``; None for one that cannot be read."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


class Guard:
    """Wraps an application: checks each request before it is read, and marks each response."""

    def __init__(self, app: "ASGIApp", settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Refuse, or pass on with limits."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await receive()  # the handshake of a WebSocket; there are none here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        marked = _add_headers(send)
        if (refusal := self._refusal(scope, headers)) is not None:
            await _refuse(marked, *refusal)
        elif (token := self._settings.token) is None or token_shown(token, headers):
            await self._app(scope, _Limited(receive, self._settings), marked)
        elif scope["method"] == "GET" and token_in_address(token, scope):
            await let_in(marked, token)
        else:
            await _refuse(marked, 401, "token", WANTED)

    def _refusal(self, scope: "Scope", headers: dict[str, str]) -> tuple[int, str, str] | None:
        host = headers.get("host", "")
        if not host_allowed(host, self._settings):
            return 421, "host", "This server does not answer under that name; see --allow-host."
        if _from_elsewhere(scope, headers):
            return 403, "origin", "Requests from other sites are refused."
        if headers.get("upgrade", "").lower() == "websocket":
            return 400, "websocket", "There are no WebSockets here; see /openapi.json."
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdecimal()) or int(length) > self._settings.body_bytes:
            return 413, "too_long", _too_long(self._settings)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and kind != "application/json":
            return 415, "content_type", "Send JSON, with the header 'content-type: application/json'."
        return None


def _from_elsewhere(scope: "Scope", headers: dict[str, str]) -> bool:
    """Whether a browser sends this for a page of another site."""
    origin = headers.get("origin")
    if origin is not None and _site(origin) != headers["host"]:
        return True
    # Following a link to the page itself is fine: it shows nothing to the site it came from.
    link = scope["path"] == "/" and headers.get("sec-fetch-mode") == "navigate"
    return headers.get("sec-fetch-site") in {"cross-site", "same-site"} and not link


class _Limited:
    """Receives a body up to a length, and within a time: a client may not say how long it will be."""

    def __init__(self, receive: "Receive", settings: Settings) -> None:
        self._receive, self._settings, self._left = receive, settings, settings.body_bytes
        self._until: float | None = None
        self._whole = False

    async def __call__(self) -> "Message":
        if self._whole:  # what follows is the client's going away, whenever that is
            return await self._receive()
        if self._until is None:
            self._until = asyncio.get_running_loop().time() + self._settings.arrival
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, not_arrived(self._settings.arrival), {"connection": "close"}) from None
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise HTTPException(413, _too_long(self._settings))
        self._whole = not message.get("more_body", False)
        return message


def not_arrived(seconds: float) -> str:
    """The message for a client that takes too long to send its request."""
    return f"The request did not arrive within {seconds:g} s."


def _too_long(settings: Settings) -> str:
    return f"The request is too long; texts of up to {settings.characters:,} characters are explained."


def _add_headers(send: "Send") -> "Callable[[Message], Awaitable[None]]":
    """Add the headers to whatever is sent."""

    async def marked(message: "Message") -> None:
        if message["type"] == "http.response.start":
            have = {name for name, _ in message.get("headers", [])}
            ours = [pair for pair in _ENCODED if pair[0] not in have]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return marked


async def _refuse(send: Any, status: int, kind: str, why: str) -> None:
    body = json.dumps({"error": {"kind": kind, "message": why}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
