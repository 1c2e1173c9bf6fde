"""Errors as HTTP answers: FastAPI's `detail` for published clients, and a stable code beside it."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from perdure import errors
from perdure.errors import PerdureError
from perdure.surfaces.gate import plain_error

log = logging.getLogger("perdure.rest")

STATUS: tuple[tuple[type[PerdureError], int], ...] = (
    (errors.InvalidInput, 422),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.Forbidden, 403),
    (errors.Unauthorised, 401),
    (errors.Busy, 429),
    (errors.DeadlineExceeded, 504),
    (errors.Cancelled, 503),
    (errors.Unavailable, 501),
    (errors.StoreLocked, 503),
    (errors.StoreUnreachable, 503),
    (errors.StoreFull, 507),
    (errors.StoreReadOnly, 409),
    (errors.ProviderError, 502),
    (errors.LlmCapReached, 429),
    (errors.LlmBusy, 503),
    (errors.LlmError, 502),
)
CODES: Mapping[int, str] = {
    400: "bad_request",
    401: "unauthorised",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    410: "gone",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid_input",
}
RETRY_AFTER_SECONDS = 1


class Problem(BaseModel):
    """A stable code and a message for people."""

    code: str
    message: str


class ErrorResponse(BaseModel):
    """Every error: FastAPI's `detail`, and what went wrong under a stable code."""

    detail: Any
    error: Problem


ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorResponse, "description": description}
    for code, description in (
        (400, "Not readable as JSON or form data"),
        (401, "No valid key"),
        (403, "The key may not do this"),
        (404, "Does not exist"),
        (409, "Contradicts what is stored"),
        (413, "The request is too large"),
        (422, "A value is wrong; `detail` names the field"),
        (429, "Too much at once; see Retry-After"),
        (503, "The store is busy; see Retry-After"),
        (504, "Took too long; the work was called off"),
    )
}
"""The answers that a router documents beside its own."""


def install(app: FastAPI) -> None:
    """Answer every error in that form."""
    app.add_exception_handler(PerdureError, _perdure_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected)


async def _perdure_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, PerdureError)
    return answer_error(error)


def answer_error(error: PerdureError, fields: Mapping[str, object] | None = None) -> JSONResponse:
    """Return the answer that tells of an error; `fields` are what it says beside its message, for clients that raise it again."""
    status = _status(error)
    headers = {}
    if isinstance(error, errors.Busy):
        headers["Retry-After"] = str(math.ceil(error.retry_after))
    elif status == 503:
        asked = error.retry_after if isinstance(error, errors.LlmBusy) else None
        headers["Retry-After"] = str(math.ceil(asked or RETRY_AFTER_SECONDS))
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    detail: Any = None
    if isinstance(error, errors.InvalidInput):
        detail = [{"loc": ["body", error.field], "msg": str(error), "type": "value_error"}]
    if status >= 500 and not isinstance(error, errors.Unavailable):
        log.error("%s: %s", error.code, error)
    return plain_error(status, error.code, error.public, detail, headers, fields)


def _status(error: PerdureError) -> int:
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    """Without the offending input: it may be secret, huge, or not be JSON at all (NaN)."""
    assert isinstance(error, RequestValidationError)
    problems = [
        {"loc": list(part["loc"]), "msg": part["msg"], "type": part["type"]} for part in error.errors()
    ]
    first = problems[0] if problems else {"loc": [], "msg": "invalid request"}
    kind = request.headers.get("content-type", "").lower()
    if first["loc"] == ["body"] and first["type"] == "model_attributes_type" and "json" not in kind:
        first["msg"] = "expected JSON with the header Content-Type: application/json"
    message = f"{'.'.join(str(step) for step in first['loc'])}: {first['msg']}"
    return plain_error(422, "invalid_input", message, problems)


async def _http_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = CODES.get(error.status_code, "error")
    return plain_error(error.status_code, code, str(error.detail), headers=error.headers)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.exception("%s %s failed", request.method, request.url.path, exc_info=error)
    # The error goes on to uvicorn, which then drops the connection: the client must not send more on it.
    headers = {"Connection": "close"}
    return plain_error(500, "internal", "internal error; the server's log says more", headers=headers)
