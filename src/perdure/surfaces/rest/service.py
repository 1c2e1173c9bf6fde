"""What every handler works with: the service around one engine, the caller, worker threads and replies."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Request, params
from fastapi.responses import Response
from pydantic import BaseModel
from pydantic_core import to_json

from perdure.engine import Perdure
from perdure.errors import Forbidden
from perdure.forget.target import Forgotten
from perdure.settings import Settings
from perdure.surfaces.access import Caller, KeyRing
from perdure.surfaces.audit import AuditTrail
from perdure.surfaces.connections import Connections
from perdure.surfaces.gate import KEY
from perdure.surfaces.keys import Scope
from perdure.surfaces.rest.errors import ERRORS
from perdure.surfaces.rest.middleware import Metrics
from perdure.surfaces.workers import CLIENT, Workers

DEPARTURE_SECONDS = 0.5
Answer = BaseModel | Sequence[BaseModel] | Mapping[str, object] | Response
Handler = Callable[..., Awaitable[Response]]
Lane = Literal["recall", "retain", "read"]


@dataclass(frozen=True, slots=True)
class Service:
    """The engine and what stands around it; one per app."""

    engine: Perdure
    settings: Settings
    workers: Workers
    keys: KeyRing
    metrics: Metrics
    connections: Connections
    trail: AuditTrail
    on_forget: list[Callable[[str], None]] = field(default_factory=list)
    """Called with the bank after an erasure, to erase copies that were made of it."""
    closing: ExitStack = field(default_factory=ExitStack)
    """Closed when the app ends."""
    started: float = field(default_factory=time.monotonic)

    def forget(self, bank: str, **target: Any) -> Forgotten:
        """Erase something of a bank, and the copies that were made of the bank."""
        forgotten = self.engine.forget(bank, **target)
        for erase_copies in self.on_forget:
            erase_copies(bank)
        return forgotten


async def _service(request: Request) -> Service:
    """Return the service. A coroutine, because FastAPI runs plain functions on a thread of their own."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


Serving = Annotated[Service, Depends(_service)]


async def _departure(request: Request) -> AsyncIterator[Callable[[], bool]]:
    """Look now and then whether the client is still there, while the request is served."""
    left = threading.Event()

    async def watch() -> None:
        while not await request.is_disconnected():
            await asyncio.sleep(DEPARTURE_SECONDS)
        left.set()

    watching = asyncio.create_task(watch())
    try:
        yield left.is_set
    finally:
        watching.cancel()


Departure = Annotated[Callable[[], bool], Depends(_departure)]
"""Whether the client has left: asked by work that is worth ending early."""


class Resource(APIRouter):
    """The routes of one resource: plain functions run on the app's worker threads, and the common errors are documented.

    What is not a GET waits in the line of what writes, unless it is marked as a recall.
    """

    def __init__(self, tag: str, prefix: str, dependencies: Sequence[params.Depends] = ()) -> None:
        super().__init__(prefix=prefix, tags=[tag], responses=ERRORS, dependencies=dependencies)

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Add a route; coroutines run on the event loop."""
        lane: Lane = "read" if set(options.get("methods") or ("GET",)) <= {"GET", "HEAD"} else "retain"
        handler = endpoint if inspect.iscoroutinefunction(endpoint) else on_worker(endpoint, lane=lane)
        super().add_api_route(path, handler, **options)


def on_worker(work: Callable[..., Answer], *, lane: Lane = "read") -> Handler:
    """Return a handler that works, and writes its answer, on a worker thread; it has an argument `service`."""

    @functools.wraps(work)
    async def handler(**arguments: Any) -> Response:
        workers: Workers = arguments["service"].workers
        return await workers.lanes[lane].run(lambda: reply(work(**arguments)))

    return handler


on_recall_worker = functools.partial(on_worker, lane="recall")
"""The same for recalls, which have threads of their own and are refused when too many are under way."""


def reply(answer: Answer, status: int = 200) -> Response:
    """Return the answer as JSON. Bodies were checked when they were made, so FastAPI need not check them again."""
    if isinstance(answer, Response):
        return answer
    return Response(to_json(answer, inf_nan_mode="null"), status, media_type="application/json")


async def identify(request: Request) -> Caller:
    """Return the caller whom the gate let in; without the gate there is none."""
    return Caller(request.scope[KEY])


Known = Annotated[Caller, Depends(identify)]
_EDGE, _INNER = r"[^\x00-\x20\x7f/\\]", r"[^\x00-\x1f\x7f/\\]"
BankId = Annotated[str, Path(max_length=128, pattern=f"^{_EDGE}({_INNER}*{_EDGE})?$")]


def require(caller: Caller, scope: Scope, bank: str) -> str:
    """Return the bank; raise unless the caller may do this with it."""
    if not caller.may(scope, bank):
        raise Forbidden(f"the key has no {scope.value} access to this bank")
    client = CLIENT.get()
    if client is not None:
        client.bank = bank
    return bank


async def _reader(bank_id: BankId, caller: Known) -> str:
    return require(caller, Scope.READ, bank_id)


async def _writer(bank_id: BankId, caller: Known) -> str:
    return require(caller, Scope.WRITE, bank_id)


async def _admin(bank_id: BankId, caller: Known) -> str:
    return require(caller, Scope.ADMIN, bank_id)


ReadBank = Annotated[str, Depends(_reader)]
WriteBank = Annotated[str, Depends(_writer)]
AdminBank = Annotated[str, Depends(_admin)]
