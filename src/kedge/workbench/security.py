"""Who may talk to the server, how much they may say, and what a browser may do with the page.

Loopback alone does not keep a browser out: any page the user visits can send requests to it, and a
name that is rebound to 127.0.0.1 makes them same-origin. So the ``Host`` must be one of ours, an
``Origin`` must be that host, and nothing is served that a strict policy would not allow.
"""

import json
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

from kedge.workbench.settings import LOOPBACK_NAMES, Settings, is_loopback

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "host_allowed"]

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


def _name(header: str) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None


class Guard:
    """Wraps an application: checks each request before it is read, and marks each response."""

    def __init__(self, app: "ASGIApp", settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Refuse, or pass on with limits."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # there are no websockets here
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(_marked(send), *refusal)
            return
        await self._app(scope, _Limited(receive, self._settings), _marked(send))

    def _refusal(self, scope: "Scope", headers: dict[str, str]) -> tuple[int, str, str] | None:
        host = headers.get("host", "")
        if not host_allowed(host, self._settings):
            return 421, "host", "This server does not answer under that name; see --allow-host."
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, "origin", "Requests from other sites are refused."
        # Following a link to the page itself is fine: it shows nothing to the site it came from.
        link = scope["path"] == "/" and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site") in {"cross-site", "same-site"} and not link:
            return 403, "origin", "Requests from other sites are refused."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._settings.body_bytes:
            return 413, "too_long", _too_long(self._settings)
        return None


class _Limited:
    """Receives a body up to a limit, for clients that do not say how long it will be."""

    def __init__(self, receive: "Receive", settings: Settings) -> None:
        self._receive, self._settings, self._left = receive, settings, settings.body_bytes

    async def __call__(self) -> "Message":
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise HTTPException(413, _too_long(self._settings))
        return message


def _too_long(settings: Settings) -> str:
    return f"The request is too long; texts of up to {settings.characters:,} characters are explained."


def _marked(send: "Send") -> "Callable[[Message], Awaitable[None]]":
    """Add the headers to whatever is sent."""

    async def marked(message: "Message") -> None:
        if message["type"] == "http.response.start":
            have = {name for name, _ in message.get("headers", [])}
            ours = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in have]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return marked


async def _refuse(send: Any, status: int, kind: str, why: str) -> None:
    body = json.dumps({"error": {"kind": kind, "message": why}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
