"""Aliases: further ids under which a bank is reached over REST. The bank keeps its own, which keys and logs go by."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as RequestScope

from perdure import Perdure
from perdure.contrib.hindsight.bodies import Body
from perdure.domain.bank import check_bank_id
from perdure.domain.record import Record
from perdure.errors import Conflict, NotFound, PerdureError
from perdure.surfaces.plugins.rest import (
    AdminBank,
    Known,
    ReadBank,
    Resource,
    Scope,
    Serving,
    Workers,
    reply,
    require,
)

router = Resource("Aliases", "/v1/default/banks/{bank_id}/aliases")
ALIAS = "bank_alias"
"""Kind of the records, which belong to no bank: the alias is the id."""
FRESH_SECONDS = 1.0
"""So long the table is used before it is read again."""
_PREFIX = "/v1/default/banks/"
log = logging.getLogger("perdure.rest")


class BankAliasEntry(BaseModel):
    """One id that a bank answers to."""

    alias: str
    primary: bool = False


class BankAliasesResponse(BaseModel):
    """A bank's aliases, the primary one first, then oldest first."""

    bank_id: str
    aliases: list[BankAliasEntry]


class CreateBankAliasRequest(Body):
    """Another id for the bank."""

    alias: str
    primary: bool = False


class SetBankAliasPrimaryRequest(Body):
    """Whether the bank is shown under the alias."""

    primary: bool


@router.get("", operation_id="list_bank_aliases")
def list_bank_aliases(service: Serving, bank: ReadBank) -> BankAliasesResponse:
    """Return the aliases of the bank."""
    service.engine.banks.get(bank)
    return _aliases(service.engine, bank)


@router.post("", operation_id="create_bank_alias", status_code=201, response_model=BankAliasesResponse)
def create_bank_alias(
    request: Request, service: Serving, bank: AdminBank, caller: Known, body: CreateBankAliasRequest
) -> Response:
    """Give the bank another id; 409 when a bank or an alias has it. The caller needs admin access to that id too."""
    engine = service.engine
    engine.banks.get(bank)
    alias = check_bank_id(body.alias)
    require(caller, Scope.ADMIN, alias)
    if engine.records.list(ALIAS, ids=[alias]) or any(one.id == alias for one in engine.banks.list()):
        raise Conflict(f"{alias!r} names a bank or an alias already")
    engine.records.save_own(Record(kind=ALIAS, id=alias, body={"bank": bank, "primary": False}))
    if body.primary:
        _show(engine, bank, alias, primary=True)
    request.app.state.aliases.expire()
    return reply(_aliases(engine, bank), 201)


@router.patch("/{alias}", operation_id="set_bank_alias_primary")
def set_bank_alias_primary(
    service: Serving, bank: AdminBank, alias: str, body: SetBankAliasPrimaryRequest
) -> BankAliasesResponse:
    """Show the bank under this alias instead of another one, or no longer."""
    _require(service.engine, bank, alias)
    _show(service.engine, bank, alias, primary=body.primary)
    return _aliases(service.engine, bank)


@router.delete("/{alias}", operation_id="delete_bank_alias")
def delete_bank_alias(request: Request, service: Serving, bank: AdminBank, alias: str) -> BankAliasesResponse:
    """Take an alias away; the bank is untouched."""
    _require(service.engine, bank, alias)
    service.engine.records.delete_own(ALIAS, alias)
    request.app.state.aliases.expire()
    return _aliases(service.engine, bank)


def aliases_of(engine: Perdure, bank: str) -> list[Record]:
    """Return the records of a bank's aliases, oldest first."""
    return [record for record in engine.records.list(ALIAS) if record.body["bank"] == bank]


def delete_aliases(engine: Perdure, bank: str) -> None:
    """Take away all aliases of a bank that is deleted."""
    for record in aliases_of(engine, bank):
        engine.records.delete_own(ALIAS, record.id)


def _require(engine: Perdure, bank: str, alias: str) -> None:
    if alias not in {record.id for record in aliases_of(engine, bank)}:
        raise NotFound("alias", alias)


def _show(engine: Perdure, bank: str, alias: str, *, primary: bool) -> None:
    for record in aliases_of(engine, bank):
        shown = primary if record.id == alias else record.body["primary"] and not primary
        if shown != record.body["primary"]:
            body = {"bank": bank, "primary": shown}
            engine.records.save_own(Record(kind=ALIAS, id=record.id, body=body, created_at=record.created_at))


def _aliases(engine: Perdure, bank: str) -> BankAliasesResponse:
    every = [
        BankAliasEntry(alias=one.id, primary=bool(one.body["primary"])) for one in aliases_of(engine, bank)
    ]
    return BankAliasesResponse(bank_id=bank, aliases=sorted(every, key=lambda one: not one.primary))


def read_table(engine: Perdure) -> Mapping[str, str]:
    """Alias -> bank; without those that a bank has for its own id, and those whose bank is gone."""
    records = engine.records.list(ALIAS)
    if not records:
        return {}
    banks = {bank.id for bank in engine.banks.list()}
    return {
        one.id: str(one.body["bank"]) for one in records if one.id not in banks and one.body["bank"] in banks
    }


class AliasTable:
    """Alias -> bank, read again when it is a second old, or when this process changed it. Used on the event loop's thread."""

    def __init__(self, engine: Perdure, workers: Workers) -> None:
        self._engine, self._workers = engine, workers
        self._table: Mapping[str, str] = {}
        self._fresh_until = 0.0

    def expire(self) -> None:
        """Have the table read again by the next request. May be called from any thread."""
        self._fresh_until = 0.0

    async def find(self, alias: str) -> str | None:
        """Return the bank of an alias. A table that cannot be read is used as it was."""
        now = time.monotonic()
        if now >= self._fresh_until:
            self._fresh_until = now + FRESH_SECONDS
            try:
                self._table = await self._workers.control(read_table, self._engine)
            except PerdureError as error:
                log.warning("aliases of banks are as they were: %s", error)
        return self._table.get(alias)


class Aliased:
    """Puts a bank's own id in the place of an alias in the path, before anything looks at it."""

    def __init__(self, app: ASGIApp, table: AliasTable) -> None:
        self._app, self._table = app, table

    async def __call__(self, scope: RequestScope, receive: Receive, send: Send) -> None:
        """Pass through. The scope itself is changed: what stands around reads the route from it afterwards."""
        if scope["type"] == "http" and scope["path"].startswith(_PREFIX):
            asked, slash, rest = scope["path"].removeprefix(_PREFIX).partition("/")
            bank = await self._table.find(asked)
            if bank is not None:
                scope["path"] = f"{_PREFIX}{bank}{slash}{rest}"
                scope["raw_path"] = quote(scope["path"]).encode("ascii")
        await self._app(scope, receive, send)
