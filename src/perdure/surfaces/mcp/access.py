"""Who calls a tool, which bank the endpoint stands for, and what the caller may do."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from perdure.domain.bank import check_bank_id
from perdure.engine import Perdure
from perdure.errors import InvalidInput, Unauthorised
from perdure.surfaces.keys import ApiKey, Scope, list_keys, match_key

FRESH_SECONDS = 1.0
DEFAULT_BANK = "default"


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who was let in. Without a key everything is open: stdio, or a loopback server that has no keys."""

    key: ApiKey | None = None
    bank: str | None = None
    """The bank that the endpoint stands for; None lets the tool's argument choose."""

    def choose(self, asked: str | None, scope: Scope) -> str:
        """The bank to work on; raises unless the caller may use it so."""
        if self.bank is not None and asked not in (None, self.bank):
            raise InvalidInput("bank", f"{self.bank!r}, the bank of this endpoint", asked)
        bank = check_bank_id(self.bank or asked or self._only_bank())
        if self.key is not None and not (self.key.allows(scope) and self.key.opens(bank)):
            raise Unauthorised(f"the key has no {scope.value} access to this bank")
        return bank

    def _only_bank(self) -> str:
        """A key for a single bank need not name it."""
        if self.key is not None and len(self.key.banks) == 1 and not self.key.opens(DEFAULT_BANK):
            return self.key.banks[0]
        return DEFAULT_BANK


class Door:
    """Lets callers in by the rules of the REST server: a key, or this machine while there are no keys at all."""

    def __init__(self, engine: Perdure, *, may_be_open: bool) -> None:
        self._engine, self._may_be_open = engine, may_be_open
        self._keys: list[ApiKey] = []
        self._read_at = float("-inf")

    def admit(self, headers: Mapping[str, str], bank: str | None) -> Caller:
        """The caller of a request; blocks on the store at most once a second."""
        if time.monotonic() - self._read_at >= FRESH_SECONDS:
            self._keys, self._read_at = list_keys(self._engine), time.monotonic()
        if not self._keys and self._may_be_open:
            self._check_local(headers)
            return Caller(bank=bank)
        scheme, _, text = headers.get("authorization", "").partition(" ")
        key = match_key(self._keys, text.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise Unauthorised("send `Authorization: Bearer` with a valid key")
        return Caller(key=key, bank=bank)

    @staticmethod
    def _check_local(headers: Mapping[str, str]) -> None:
        """A web page may let its own name point at this machine, or call it from a browser: both are refused."""
        names = [headers.get("host", "")]
        if "origin" in headers:
            names.append(headers["origin"].partition("://")[2])
        for name in names:
            bare = name.partition("]")[0].strip("[") if name.startswith("[") else name.partition(":")[0]
            if not is_loopback(bare):
                raise Unauthorised("a server without keys answers only as localhost")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def check_exposure(engine: Perdure, host: str) -> None:
    """Raise when other machines could reach a server that asks nobody for a key."""
    if not is_loopback(host) and not list_keys(engine):
        raise Unauthorised(
            f"{host} can be reached from other machines and there is no API key; "
            "create one with `perdure keys create`, or bind to 127.0.0.1"
        )


def caller_of(request: Any, otherwise: Caller) -> Caller:
    """The caller that the HTTP endpoint let in; over stdio there is no request."""
    found = request.scope.get("perdure.caller") if request is not None else None
    return found if isinstance(found, Caller) else otherwise
