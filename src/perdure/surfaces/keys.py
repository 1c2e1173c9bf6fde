"""API keys: made once, shown once, kept as hashes; each opens a set of banks for some scopes."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from perdure.domain.bank import check_bank_id
from perdure.domain.record import Record
from perdure.errors import InvalidInput, NotFound

if TYPE_CHECKING:  # the help of `perdure keys` loads no engine
    from perdure.engine import Perdure

KIND = "api_key"
PREFIX = "pdr"
EVERY_BANK = "*"
_NO_HASH = "0" * 64


class Scope(StrEnum):
    """What a key may do; `admin` may do everything."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is kept: never its secret."""

    id: str
    name: str
    banks: tuple[str, ...]
    """Bank ids, or `*` alone for every bank."""
    scopes: frozenset[Scope]
    created_at: datetime | None = None
    digest: str = ""

    def opens(self, bank: str) -> bool:
        return self.banks == (EVERY_BANK,) or bank in self.banks

    def allows(self, scope: Scope) -> bool:
        return scope in self.scopes or Scope.ADMIN in self.scopes


def create_key(
    engine: Perdure,
    *,
    banks: Iterable[str] = (EVERY_BANK,),
    scopes: Iterable[str] = (Scope.READ, Scope.WRITE),
    name: str = "",
) -> tuple[ApiKey, str]:
    """A new key and its secret text, which cannot be had again."""
    key = ApiKey(
        id=secrets.token_hex(8),
        name=name,
        banks=_banks(tuple(dict.fromkeys(banks))),
        scopes=_scopes(scopes),
        created_at=datetime.now(UTC),
    )
    text = f"{PREFIX}_{key.id}_{secrets.token_urlsafe(32)}"
    body = {
        "name": key.name,
        "banks": list(key.banks),
        "scopes": sorted(scope.value for scope in key.scopes),
        "sha256": _digest(text),
    }
    engine.save_record(Record(kind=KIND, id=key.id, body=body, created_at=key.created_at))
    return key, text


def list_keys(engine: Perdure) -> list[ApiKey]:
    """All keys, oldest first."""
    return [_read(record) for record in engine.records(KIND)]


def revoke_key(engine: Perdure, key_id: str) -> None:
    """Take a key out of use; a running server notices within a second."""
    if not engine.records(KIND, ids=[key_id]):
        raise NotFound("key", key_id)
    engine.delete_record(KIND, key_id)


def match_key(keys: Sequence[ApiKey], text: str) -> ApiKey | None:
    """The key whose secret this is; takes the same time whether or not the id is known."""
    prefix, _, rest = text.partition("_")
    key_id, _, _ = rest.partition("_")
    named = next((key for key in keys if key.id == key_id), None) if prefix == PREFIX else None
    matches = hmac.compare_digest(_digest(text), named.digest if named is not None else _NO_HASH)
    return named if matches else None


def _digest(text: str) -> str:
    """A plain hash is enough: the secret holds 256 random bits, so there is nothing to guess."""
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _banks(banks: tuple[str, ...]) -> tuple[str, ...]:
    if not banks:
        raise InvalidInput("banks", "at least one bank, or * for all")
    if EVERY_BANK in banks:
        return (EVERY_BANK,)
    return tuple(check_bank_id(bank) for bank in banks)


def _scopes(scopes: Iterable[str]) -> frozenset[Scope]:
    try:
        chosen = frozenset(Scope(scope) for scope in scopes)
    except ValueError as error:
        raise InvalidInput("scopes", "each one of read, write, admin") from error
    if not chosen:
        raise InvalidInput("scopes", "at least one of read, write, admin")
    return chosen


def _read(record: Record) -> ApiKey:
    body = record.body
    banks, scopes = body["banks"], body["scopes"]
    assert isinstance(banks, list)
    assert isinstance(scopes, list)
    return ApiKey(
        id=record.id,
        name=str(body.get("name", "")),
        banks=tuple(banks),
        scopes=frozenset(Scope(scope) for scope in scopes),
        created_at=record.created_at,
        digest=str(body["sha256"]),
    )
