"""Every error as a status, a kind and one sentence; never a traceback."""

import itertools
import logging
import math
import re
import traceback
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from kedge.errors import KedgeError, ModelError, ModelRaised
from kedge.utils.messages import visible
from kedge.workbench.jobs import Busy, TimeLimit
from kedge.workbench.settings import Settings

__all__ = ["add_handlers", "invalid_request", "problem", "too_long"]

log = logging.getLogger("kedge.workbench")

_KNOWN = {
    # FastAPI's 400 is a body that is not even JSON.
    400: (422, "body", "The body cannot be read; send a JSON object in UTF-8."),
    404: (404, "not_found", "There is nothing at this address; see /openapi.json."),
    405: (405, "method", "This address does not take that method; see /openapi.json."),
}


# What is wrong with a field, by pydantic's kind of error.
_FIELDS = {
    "extra_forbidden": "is not known; see /openapi.json.",
    "missing": "is missing.",
    "string_unicode": "holds half of a surrogate pair, which is no character.",
}


def too_long(settings: Settings) -> HTTPException:
    """What to raise for a text over the limit."""
    why = f"The text is too long; up to {settings.characters:,} characters are explained."
    return HTTPException(413, why)


_numbers = itertools.count(1)


def problem(error: Exception, settings: Settings) -> tuple[int, str, str]:
    """An error as a status, a kind and a sentence.

    What a model says when it fails may quote other texts, paths or keys: clients get a number under
    which the log has it.
    """
    if isinstance(error, HTTPException):
        kind = {408: "too_slow", 413: "too_long", 422: "request"}.get(error.status_code, "refused")
        return _KNOWN.get(error.status_code) or (error.status_code, kind, str(error.detail))
    if isinstance(error, Busy):
        return 429, "busy", f"The server is busy; try again in {math.ceil(error.seconds)} s."
    if isinstance(error, TimeLimit):
        why = (
            f"No answer within {settings.seconds:g} s, so the search was stopped; try a shorter text, "
            "another method, or a server with a longer --time-limit."
        )
        # Not a 5xx: the same request would take as long again, so that trying again is no use.
        return 422, "time_limit", why
    if isinstance(error, ModelError):
        number = _logged("The model failed", error)
        hidden = isinstance(error, ModelRaised) and not settings.debug
        why = f"The model failed; the server's log says how, under number {number}." if hidden else str(error)
        return 502, _named(error), why
    if isinstance(error, KedgeError):
        return 422, _named(error), str(error)
    number = _logged("Unexpected error", error)
    return 500, "internal", f"Something went wrong; the server's log says what, under number {number}."


def _logged(what: str, error: Exception) -> int:
    """Write an error to the log, where it cannot control the terminal that shows it; its number."""
    number = next(_numbers)
    lines = "".join(traceback.format_exception(error)).splitlines()
    log.error("%s (number %d)\n%s", what, number, "\n".join(map(visible, lines)))
    return number


def _named(error: KedgeError) -> str:
    """The kind of one of the library's errors: TextError is "text", ModelRaised "model_raised"."""
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def invalid_request(errors: Sequence[dict[str, Any]]) -> str:
    """What is wrong with a request, as a sentence that names the field.

    >>> invalid_request([{"type": "missing", "loc": ("body", "text"), "msg": "Field required"}])
    "The field 'text' is missing."
    >>> one = {"type": "x", "loc": ("body", "words", 0, "int"), "msg": "Input should be a valid integer"}
    >>> other = {"type": "x", "loc": ("body", "words", 0, "str"), "msg": "Input should be a string"}
    >>> invalid_request([one, other])
    "The field 'words[0]' should be a valid integer, or be a string."
    """
    first = errors[0]
    name = _field(first["loc"])
    what = f"The {'field' if first['loc'][0] == 'body' else 'parameter'} {name!r}"
    if first["type"] == "json_invalid":
        reason = str(first.get("ctx", {}).get("error", "it cannot be read")).removesuffix(" at")
        return f"The body is not JSON ({reason} at character {first['loc'][-1]}); send a JSON object."
    if not name:
        return "The body should be a JSON object."
    if (known := _FIELDS.get(first["type"])) is not None:
        return f"{what} {known}"
    # A field of several types has an error for each.
    reasons = [str(e["msg"]) for e in errors if _field(e["loc"]) == name]
    wanted = [reason.partition(" should ")[2] for reason in reasons]
    if all(wanted):
        return f"{what} should {', or '.join(dict.fromkeys(wanted))}."
    return f"{what} cannot be read: {reasons[0]}."


def _field(where: Sequence[int | str]) -> str:
    """The name of a field and the places in its list; which type of several was tried is left out."""
    if len(where) < 2 or isinstance(where[1], int):
        return ""
    return str(where[1]) + "".join(f"[{part}]" for part in where[2:] if isinstance(part, int))


def add_handlers(app: FastAPI, settings: Settings) -> None:
    """Answer every error of an application with a problem."""

    async def refuse(request: Request, error: Exception) -> JSONResponse:
        del request
        status, kind, message = problem(error, settings)
        headers = getattr(error, "headers", None)
        if isinstance(error, Busy):
            headers = {"retry-after": str(math.ceil(error.seconds))}
        # A message may quote the text, and a text may hold what UTF-8 cannot.
        message = message.encode("utf-8", "replace").decode()
        return JSONResponse({"error": {"kind": kind, "message": message}}, status, headers=headers)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)  # noqa: S101  (registered for it below)
        return await refuse(request, HTTPException(422, invalid_request(error.errors())))

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
