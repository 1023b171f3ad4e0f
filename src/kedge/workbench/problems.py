"""Every error as a status, a kind and one sentence; never a traceback."""

import logging
import re
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from kedge.errors import KedgeError, ModelError
from kedge.workbench.jobs import Busy, TimeLimit
from kedge.workbench.settings import Settings

__all__ = ["add_handlers", "problem", "too_long"]

log = logging.getLogger("kedge.workbench")

_KNOWN = {
    # FastAPI's 400 is a body that is not even JSON.
    400: (422, "body", "The body cannot be read; send a JSON object in UTF-8."),
    404: (404, "not_found", "There is nothing at this address; see /openapi.json."),
    405: (405, "method", "This address does not take that method; see /openapi.json."),
}


def too_long(settings: Settings) -> HTTPException:
    """What to raise for a text over the limit."""
    why = f"The text is too long; up to {settings.characters:,} characters are explained."
    return HTTPException(413, why)


def problem(error: Exception, settings: Settings) -> tuple[int, str, str]:
    """An error as a status, a kind and a sentence."""
    if isinstance(error, HTTPException):
        kind = {413: "too_long", 422: "request"}.get(error.status_code, "refused")
        return _KNOWN.get(error.status_code) or (error.status_code, kind, str(error.detail))
    if isinstance(error, Busy):
        return 429, "busy", "Too many requests are waiting; try again in a moment."
    if isinstance(error, TimeLimit):
        why = (
            f"No answer within {settings.seconds:g} s, so the search was stopped; try a shorter text, "
            "another method, or a server with a longer --time-limit."
        )
        # Not a 5xx: the same request would take as long again, so that trying again is no use.
        return 422, "time_limit", why
    if isinstance(error, ModelError):
        log.error("The model failed", exc_info=error)
        # The library's sentence ends by pointing to the traceback, which stays on this side.
        return 502, _named(error), str(error)
    if isinstance(error, KedgeError):
        return 422, _named(error), str(error)
    log.error("Unexpected error", exc_info=error)
    return 500, "internal", "Something went wrong on the server; its log says what."


def _named(error: KedgeError) -> str:
    """The kind of one of the library's errors: TextError is "text", ModelRaised "model_raised"."""
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def add_handlers(app: FastAPI, settings: Settings) -> None:
    """Answer every error of an application with a problem."""

    async def refuse(request: Request, error: Exception) -> JSONResponse:
        del request
        status, kind, message = problem(error, settings)
        headers = getattr(error, "headers", None) or ({"retry-after": "1"} if status == 429 else None)
        # A message may quote the text, and a text may hold what UTF-8 cannot.
        message = message.encode("utf-8", "replace").decode()
        return JSONResponse({"error": {"kind": kind, "message": message}}, status, headers=headers)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)  # noqa: S101  (registered for it below)
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        why = f"{where}: {first['msg']}." if where else f"{first['msg']}."
        return await refuse(request, HTTPException(422, why))

    handlers: dict[type[Exception], Any] = {
        HTTPException: refuse,
        KedgeError: refuse,
        Busy: refuse,
        TimeLimit: refuse,
        Exception: refuse,
        RequestValidationError: invalid,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
