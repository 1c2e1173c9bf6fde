"""Who calls and what the caller may do."""

from __future__ import annotations

import time
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request

from perdure.engine import Perdure
from perdure.errors import Unauthorised
from perdure.surfaces.keys import ApiKey, Scope, list_keys, match_key

FRESH_SECONDS = 1.0


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name.split("%")[0]).is_loopback
    except ValueError:
        return False


class KeyRing:
    """The keys as the store has them, read again when older than a second."""

    def __init__(self, engine: Perdure, may_be_open: bool) -> None:
        self._engine, self._may_be_open = engine, may_be_open
        self._keys: list[ApiKey] = []
        self._read_at = float("-inf")

    def fresh(self) -> bool:
        """Whether `identify` would use what was read already."""
        return time.monotonic() - self._read_at < FRESH_SECONDS

    def refresh(self) -> None:
        """Read the keys from the store."""
        self._keys = list_keys(self._engine)
        self._read_at = time.monotonic()

    def identify(self, authorization: str | None, host: str) -> ApiKey | None:
        """The caller's key; None on an open server, which only this machine may use and under its own name.

        The Host header is checked because a web page may have its own name point at this machine.
        """
        if not self._keys and self._may_be_open:
            if not is_loopback(_host_name(host)):
                raise HTTPException(403, "a server without keys answers only as localhost")
            return None
        scheme, _, text = (authorization or "").partition(" ")
        key = match_key(self._keys, text.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise Unauthorised("send `Authorization: Bearer` with a valid key")
        return key


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0]
    return host.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who was let in; no key means that everything is open."""

    key: ApiKey | None

    def may(self, scope: Scope, bank: str) -> bool:
        """Whether the caller may do this with that bank."""
        return self.key is None or (self.key.allows(scope) and self.key.opens(bank))

    def require(self, scope: Scope, bank: str) -> None:
        """Raise unless the caller may."""
        if not self.may(scope, bank):
            raise HTTPException(403, f"the key has no {scope.value} access to this bank")


async def identify(request: Request) -> Caller:
    """The caller of a request."""
    service = request.app.state.service
    if not service.keys.fresh():
        await service.workers.run(service.keys.refresh)
    headers = request.headers
    return Caller(service.keys.identify(headers.get("authorization"), headers.get("host", "")))


Known = Annotated[Caller, Depends(identify)]
_EDGE, _INNER = r"[^\x00-\x20\x7f/\\]", r"[^\x00-\x1f\x7f/\\]"
BankId = Annotated[str, Path(max_length=128, pattern=f"^{_EDGE}({_INNER}*{_EDGE})?$")]


async def _reader(bank_id: BankId, caller: Known) -> str:
    caller.require(Scope.READ, bank_id)
    return bank_id


async def _writer(bank_id: BankId, caller: Known) -> str:
    caller.require(Scope.WRITE, bank_id)
    return bank_id


async def _admin(bank_id: BankId, caller: Known) -> str:
    caller.require(Scope.ADMIN, bank_id)
    return bank_id


ReadBank = Annotated[str, Depends(_reader)]
WriteBank = Annotated[str, Depends(_writer)]
AdminBank = Annotated[str, Depends(_admin)]
