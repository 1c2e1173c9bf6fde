"""API keys: made once, shown once, kept as hashes; each opens a set of banks for some scopes, some until a time."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from perdure.domain.bank import check_bank_id
from perdure.domain.plain import from_record, to_record
from perdure.domain.record import Record
from perdure.errors import InvalidInput, NotFound

if TYPE_CHECKING:  # the help of `perdure keys` loads no engine
    from perdure.engine import Perdure

KIND = "api_key"
USE_KIND = "api_key_use"
"""When a key was last used; apart from the key, so that a late note of its use never brings a revoked one back."""
NEEDED_KIND = "api_keys_needed"
"""The mark that keys were made; it stays when the last one is revoked or has expired."""
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
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    """To about a minute: servers note it in batches."""
    digest: str = ""

    def opens(self, bank: str) -> bool:
        return self.banks == (EVERY_BANK,) or bank in self.banks

    def allows(self, scope: Scope) -> bool:
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def expired(self, now: datetime) -> bool:
        return self.expires_at is not None and now >= self.expires_at


@dataclass(frozen=True, slots=True)
class KeySet:
    """All keys at a moment, and whether one is needed."""

    keys: Sequence[ApiKey] = ()
    needed: bool = True


def create_key(
    engine: Perdure,
    *,
    banks: Iterable[str] = (EVERY_BANK,),
    scopes: Iterable[str] = (Scope.READ, Scope.WRITE),
    name: str = "",
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Create a key. Return it and its secret, which cannot be had again; from now on the memory is served with keys only."""
    now = datetime.now(UTC)
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("expires_at", "a time to come", expires_at.isoformat())
    key_id = secrets.token_hex(8)
    text = f"{PREFIX}_{key_id}_{secrets.token_urlsafe(32)}"
    key = ApiKey(
        id=key_id,
        name=name,
        banks=_banks(tuple(dict.fromkeys(banks))),
        scopes=_scopes(scopes),
        created_at=now,
        expires_at=expires_at,
        digest=_digest(text),
    )
    _need_keys(engine)  # first: should the second write fail, nobody gets in
    engine.records.save_own(_record(key))
    return key, text


def rotate_key(engine: Perdure, key_id: str, *, keep: timedelta = timedelta(0)) -> tuple[ApiKey, str]:
    """Create a key that opens what the old one opens; the old one works for `keep` longer, or not at all."""
    old = find_key(engine, key_id)
    new, text = create_key(
        engine, banks=old.banks, scopes=old.scopes, name=old.name, expires_at=_lifetime_again(old)
    )
    ends = datetime.now(UTC) + keep
    if keep <= timedelta(0):
        revoke_key(engine, key_id)
    elif old.expires_at is None or old.expires_at > ends:
        engine.records.save_own(_record(replace(old, expires_at=ends)))
    return new, text


def list_keys(engine: Perdure) -> list[ApiKey]:
    """All keys, oldest first, also those that have expired."""
    used = {record.id: record.updated_at for record in engine.records.list(USE_KIND)}
    keys = (from_record(ApiKey, record) for record in engine.records.list(KIND))
    return [replace(key, last_used_at=used.get(key.id)) for key in keys]


def find_key(engine: Perdure, key_id: str) -> ApiKey:
    records = engine.records.list(KIND, ids=[key_id])
    if not records:
        raise NotFound("key", key_id)
    return from_record(ApiKey, records[0])


def read_keys(engine: Perdure) -> KeySet:
    """Return the keys as the store has them now."""
    keys = list_keys(engine)
    return KeySet(keys, bool(keys) or keys_needed(engine))


def keys_needed(engine: Perdure) -> bool:
    """Whether a key was ever made here: then every caller needs one, even where none is left."""
    return bool(engine.records.list(NEEDED_KIND) or engine.records.list(KIND))


def revoke_key(engine: Perdure, key_id: str) -> None:
    """Take a key out of use; a running server notices within a second, and stays closed when it was the last."""
    find_key(engine, key_id)
    _need_keys(engine)  # files of earlier versions have keys without the mark
    engine.records.delete_own(KIND, key_id)
    engine.records.delete_own(USE_KIND, key_id)


def note_uses(engine: Perdure, uses: Mapping[str, datetime]) -> None:
    """Keep when keys were last used."""
    for key_id, moment in uses.items():
        engine.records.save_own(Record(kind=USE_KIND, id=key_id, created_at=moment, updated_at=moment))


def match_key(keys: Sequence[ApiKey], text: str) -> ApiKey | None:
    """Return the key with this secret, in the same time whether or not the id is known."""
    prefix, _, rest = text.partition("_")
    key_id, _, _ = rest.partition("_")
    named = next((key for key in keys if key.id == key_id), None) if prefix == PREFIX else None
    matches = hmac.compare_digest(_digest(text), named.digest if named is not None else _NO_HASH)
    return named if matches else None


def _need_keys(engine: Perdure) -> None:
    if not engine.records.list(NEEDED_KIND):
        now = datetime.now(UTC)
        engine.records.save_own(Record(kind=NEEDED_KIND, id="keys", created_at=now, updated_at=now))


def _lifetime_again(old: ApiKey) -> datetime | None:
    """As long a life as the old key had, from now on."""
    if old.expires_at is None or old.created_at is None:
        return None
    return datetime.now(UTC) + (old.expires_at - old.created_at)


def _digest(text: str) -> str:
    """Return a plain hash, which is enough: the secret holds 256 random bits, so there is nothing to guess."""
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


def _record(key: ApiKey) -> Record:
    return to_record(KIND, replace(key, last_used_at=None))
