"""A token for those who may use a server that others can reach.

A program sends it in the ``authorization`` header. A browser opens the page with it in the address, and from
then on has it in a cookie that scripts cannot read and other sites cannot use.
"""

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.types import Scope

__all__ = ["COOKIE", "WANTED", "let_in", "token_in_address", "token_shown"]

COOKIE = "kedge-token"
WANTED = (
    "This server has a token: open the address that it printed when it started, or send the header "
    "'authorization: Bearer TOKEN'."
)


def token_shown(token: str, headers: dict[str, str]) -> bool:
    """Whether a request has the token, in its header or its cookie."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and _same(token, given.strip()):
        return True
    try:
        kept = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return False
    return kept is not None and _same(token, kept.value)


def token_in_address(token: str, scope: "Scope") -> bool:
    """Whether the address of a page has the token."""
    query = scope.get("query_string", b"").decode("latin-1")
    return _same(token, parse_qs(query).get("token", [""])[0])


async def let_in(send: Any, token: str) -> None:
    """Keep the token in a cookie, and take it out of the address."""
    cookie = f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict"
    headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _same(token: str, given: str) -> bool:
    return secrets.compare_digest(token.encode(), given.encode("utf-8", "replace"))
