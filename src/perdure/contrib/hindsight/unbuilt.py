"""Paths of Hindsight's API that are not built: each says so, with a type that programs can read."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from perdure.surfaces.plugins.rest import identify, plain_error

router = APIRouter(include_in_schema=False, dependencies=[Depends(identify)])

_BANK = "/v1/default/banks/{bank_id}"
PATHS: tuple[tuple[str, str], ...] = (("POST", "/consolidation-strategies/preview"),)
"""Of those of 0.9.1, which the server speaks, and of the clients up to 1.1: strategies steer consolidation by language models."""


async def not_built(request: Request) -> JSONResponse:
    """501, with the path's template in the message."""
    template = getattr(request.scope.get("route"), "path", request.url.path)
    return plain_error(501, "not_built", f"{request.method} {template} is not built yet")


for _methods, _path in PATHS:
    router.add_api_route(_BANK + _path, not_built, methods=_methods.split(), response_model=None)
