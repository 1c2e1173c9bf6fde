"""What every handler works with."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import Response
from pydantic import BaseModel
from pydantic_core import to_json

from perdure.engine import Perdure
from perdure.errors import NotFound
from perdure.settings import Settings
from perdure.surfaces.access import KeyRing
from perdure.surfaces.rest.metrics import Metrics
from perdure.surfaces.rest.spool import Spool
from perdure.surfaces.workers import Workers

_CLIENT = re.compile(r"hindsight-client-\w+/(\d+)\.(\d+)")
STRICT_SINCE = (0, 10)


@dataclass(frozen=True, slots=True)
class Service:
    """The engine and what stands around it; one an app."""

    engine: Perdure
    settings: Settings
    workers: Workers
    keys: KeyRing
    metrics: Metrics
    spool: Spool
    transfers: set[str] = field(default_factory=set)
    """Ids of the transfers under way."""
    started: float = field(default_factory=time.monotonic)


async def _service(request: Request) -> Service:
    """A coroutine, because FastAPI runs plain functions on a thread of their own."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


Serving = Annotated[Service, Depends(_service)]


async def _existing_bank(request: Request, bank_id: str) -> None:
    """Clients of Hindsight 0.10 and later expect 404 for a bank that does not exist; earlier ones an empty one."""
    client = _CLIENT.search(request.headers.get("user-agent", ""))
    if client is None or (int(client[1]), int(client[2])) < STRICT_SINCE:
        return
    service = await _service(request)
    if not await service.workers.run(exists, service.engine, bank_id):
        raise NotFound("bank", bank_id)


StrictClients = Depends(_existing_bank)


def exists(engine: Perdure, bank: str) -> bool:
    """Whether the bank is there."""
    try:
        engine.bank(bank)
    except NotFound:
        return False
    return True


def reply_plain(body: dict[str, Any]) -> Response:
    """A body of plain JSON values; pydantic's writer takes a quarter of the standard library's time."""
    return Response(to_json(body, inf_nan_mode="null"), media_type="application/json")


def reply(body: BaseModel, status: int = 200) -> Response:
    """The body as it is: already checked when it was made, so FastAPI need not check it again."""
    return Response(body.model_dump_json(by_alias=True), status, media_type="application/json")
