"""Perdure's own verbs over HTTP, for `perdure.connect`: one path per verb, arguments and results as `perdure.remote` writes them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from itertools import islice
from operator import attrgetter
from typing import Any

from fastapi import Request
from fastapi.responses import Response, StreamingResponse
from pydantic_core import to_json

from perdure import __version__
from perdure.domain.bank import check_bank_id
from perdure.domain.verb import ADMIN, BankIn
from perdure.domain.work import check_work
from perdure.errors import Forbidden, InvalidInput, NotFound, PerdureError, Unavailable
from perdure.remote.wire import END_OF_STREAM, FORMAT, PATH, decode_arguments, encode_error, encode_result
from perdure.surfaces.access import Caller
from perdure.surfaces.audit import ACTION
from perdure.surfaces.keys import Scope
from perdure.surfaces.rest.errors import answer_error
from perdure.surfaces.rest.outline import outline
from perdure.surfaces.rest.schema import verbs_document
from perdure.surfaces.rest.service import BankId, Known, Resource, Service, Serving, require
from perdure.verbs import REFUSALS, VERBS, Verb

EVERY_BANK = "*"
"""The bank that a key must cover for a verb of all banks."""
router = Resource("Perdure", PATH)
LINES = 200
"""Lines of a stream per turn on a thread."""
ASKING = frozenset({"recall", "prompt", "reflect"})
"""Verbs that stand in the audit log although they change nothing."""


@router.get("", operation_id="greet", include_in_schema=False)
async def greet(service: Serving, caller: Known) -> Response:
    """Which Perdure this is, and by what it counts tokens."""
    told = {"format": FORMAT, "version": __version__, "tokens": service.engine.token_encoding}
    return Response(to_json(told), media_type="application/json")


@router.get("/openapi.json", operation_id="describe_verbs", include_in_schema=False)
async def describe_verbs(caller: Known) -> Response:
    """Return the OpenAPI document of the verbs."""
    return Response(to_json(verbs_document()), media_type="application/json")


@router.post("/banks/{bank_id}/{verb}", operation_id="call_verb_of_bank", include_in_schema=False)
async def call_of_bank(
    request: Request, service: Serving, caller: Known, bank_id: BankId, verb: str
) -> Response:
    """Call a verb of one bank."""
    return await _answered(request, service, caller, verb, bank_id)


@router.post("/{verb}", operation_id="call_verb", include_in_schema=False)
async def call(request: Request, service: Serving, caller: Known, verb: str) -> Response:
    """Call a verb of no bank, or of all."""
    return await _answered(request, service, caller, verb, None)


async def _answered(
    request: Request,
    service: Service,
    caller: Caller,
    name: str,
    bank: str | None,
) -> Response:
    """Answer a verb, or its error with everything that the client needs to raise it again."""
    request.scope[ACTION] = ""
    try:
        verb = _find_verb(name, bank)
        is_outline = _asks_for_outline(request, verb)
        _check_access(caller, Scope(verb.access), verb, bank)
        if bank is not None and (verb.lane == "retain" or name in ASKING):
            request.scope[ACTION] = name
        if name == "banks.export":
            assert bank is not None
            return await _streamed(service, bank)
        body = await request.body()
        lane = service.workers.lanes[verb.lane]
        result = await lane.run(_carry_out, service, caller, verb, bank, body, is_outline)
        return Response(result, media_type="application/json")
    except PerdureError as error:
        return answer_error(error, fields=encode_error(error))


def _find_verb(name: str, bank: str | None) -> Verb:
    if name in REFUSALS:
        raise Unavailable(f"{name} is not available over HTTP: {REFUSALS[name]}")
    verb = VERBS.get(name)
    if verb is None:
        raise NotFound("verb", name)
    if bank is None and verb.bank in (BankIn.ARGUMENT, BankIn.RECORD):
        raise InvalidInput("bank", f"a bank in the path: {PATH}/banks/BANK/{name}")
    if bank is not None and verb.bank in (BankIn.NOWHERE, BankIn.ALL):
        raise InvalidInput("bank", f"no bank in the path: {PATH}/{name}", bank)
    return verb


def _check_access(caller: Caller, scope: Scope, verb: Verb, bank: str | None) -> None:
    """Raise unless the caller may do this; a verb of no bank is for every key of the scope."""
    if verb.bank is BankIn.NOWHERE:
        if caller.key is not None and not caller.key.allows(scope):
            raise Forbidden(f"the key has no {scope.value} access")
        return
    require(caller, scope, EVERY_BANK if bank is None else check_bank_id(bank))


def _asks_for_outline(request: Request, verb: Verb) -> bool:
    """Whether the answer is to be its outline: `?form=outline`, of a recall or a reflection."""
    form = request.query_params.get("form")
    if form is not None and (form != "outline" or verb.name not in ("recall", "reflect")):
        raise InvalidInput("form", "outline, of recall and reflect", form)
    return form is not None


def _carry_out(
    service: Service, caller: Caller, verb: Verb, bank: str | None, body: bytes, is_outline: bool
) -> bytes:
    """Carry a verb out, on a thread of its lane."""
    if verb.name == "banks.restore":
        assert bank is not None
        return encode_result(service.engine.banks.restore(bank, _lines(body)))
    arguments = decode_arguments(verb.name, body)
    if verb.needs_admin(arguments):
        _check_access(caller, Scope(ADMIN), verb, bank)
    if bank is not None and verb.bank in (BankIn.ARGUMENT, BankIn.OPTIONAL):
        arguments["bank"] = bank
    if verb.name in _CHECKS:
        _CHECKS[verb.name](caller, bank, arguments)
    if verb.name == "reflect":
        arguments["cancelled"] = _is_called_off
    method: Any = service.forget if verb.name == "forget" else attrgetter(verb.name)(service.engine)
    result = method(**arguments)
    if verb.name == "banks.list":
        result = [one for one in result if caller.may(Scope.READ, one.id)]
    if verb.name == "retain":
        service.metrics.facts.inc(len(result.fact_ids))
    return encode_result(outline(result) if is_outline else result)


def _is_called_off() -> bool:
    """Whether nobody waits for the work of this thread any longer."""
    try:
        check_work()
    except PerdureError:
        return True
    return False


def _lines(body: bytes) -> Iterator[str]:
    try:
        yield from body.decode().splitlines()
    except UnicodeDecodeError as error:
        raise InvalidInput("lines", "UTF-8 text") from error


# What a verb obeys over HTTP beside its access


def _check_target(caller: Caller, bank: str | None, arguments: dict[str, Any]) -> None:
    """Raise unless the key opens the target of a clone, which is a bank of its own."""
    require(caller, Scope.ADMIN, check_bank_id(arguments["target"]))


def _check_record(caller: Caller, bank: str | None, arguments: dict[str, Any]) -> None:
    if arguments["record"].bank != bank:
        raise InvalidInput("record.bank", "the bank in the path", arguments["record"].bank)


def _check_wait(caller: Caller, bank: str | None, arguments: dict[str, Any]) -> None:
    """Refuse to wait: a thread of a lane is not for waiting, and clients ask again."""
    if arguments.get("wait") is not None:
        raise InvalidInput("wait", "nothing, over HTTP: ask again", arguments["wait"])


_CHECKS: dict[str, Callable[[Caller, str | None, dict[str, Any]], None]] = {
    "banks.clone": _check_target,
    "records.save": _check_record,
    "operations.get": _check_wait,
}


async def _streamed(service: Service, bank: str) -> Response:
    """Return the lines of an export, so many per turn on a thread; the last line counts them, so that a cut is seen."""
    lines = await service.workers.run(service.engine.banks.export, bank)
    first = await service.workers.run(lambda: list(islice(lines, LINES)))

    async def pieces() -> AsyncIterator[bytes]:
        block, count = first, 0
        try:
            while block:
                count += len(block)
                yield "".join(f"{line}\n" for line in block).encode()
                block = await service.workers.run(lambda: list(islice(lines, LINES)))
            yield to_json({END_OF_STREAM: count}) + b"\n"
        finally:
            close = getattr(lines, "close", None)
            if close is not None:
                await service.workers.control(close)

    return StreamingResponse(pieces(), media_type="application/x-ndjson")
