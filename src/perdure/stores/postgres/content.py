"""Encryption of content: destroying a key erases it at once in dead rows, log, replicas and backups.

Each document has a key of its own, and so have facts without one and records. A key is one row of
`content_key`; a text is stored as U+0002, the key's number and a colon, then base64 of nonce and AES-GCM's
ciphertext. An erasure deletes the keys of what it touched, and encrypts what stays there with new ones. Only
the key table's own past still has the old keys, until that small table is written anew and the log was
recycled (`perdure.stores.postgres.traces`).

Not encrypted, since searches need it: vectors, hashes of terms, tags and ids; words of large banks; names of
entities, speakers and relations; times and numbers.
"""

from __future__ import annotations

import re
import secrets
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from perdure.stores.sql.columns import Values

COLUMNS: Mapping[str, frozenset[str]] = {
    "fact": frozenset(
        "text source_text asked context dates original_text subject object metadata topic invalid_reason".split()
    ),
    "fact_features": frozenset(("words", "terms", "passage", "passage_in_context")),
    "document": frozenset(("title", "context", "metadata")),
    "chunk": frozenset(("text",)),
    "record": frozenset(("body",)),
}
"""Table -> its columns that are encrypted."""
_MARK = "\x02"
_STORED = re.compile(r"\x02([0-9a-f]+):", re.ASCII)
_PLAIN = ("", "{}", "[]", None)
"""Values that are stored as they are: statements compare with them, and they tell nothing."""
_NONCE = 12

FetchKeys = Callable[[Sequence[int]], Iterable[tuple[int, bytes]]]
"""Number -> key, of the keys of these numbers that are there."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a key is for."""

    kind: str
    """document, fact or record."""
    id: str

    @property
    def stored(self) -> str:
        """Return a hash, since the id may say something."""
        return blake2b(f"{self.kind}\x00{self.id}".encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Key:
    """A row of `content_key`."""

    no: int
    secret: bytes

    @classmethod
    def new(cls) -> Key:
        """Return a new random key."""
        return cls(secrets.randbits(62), AESGCM.generate_key(256))

    def encrypt(self, text: str) -> str:
        """Return a text as it is stored."""
        nonce = secrets.token_bytes(_NONCE)
        sealed = AESGCM(self.secret).encrypt(nonce, text.encode(), None)
        return f"{_MARK}{self.no:x}:{b64encode(nonce + sealed).decode()}"


class Decrypting:
    """Rows with their encrypted texts made readable; keys are fetched when first met."""

    def __init__(self, fetch: FetchKeys) -> None:
        self._fetch = fetch
        self._keys: dict[int, AESGCM | None] = {}

    def rows(self, rows: list[Values]) -> list[Values]:
        """Decrypt rows; a value without a key, or only similar to an encrypted text, stays as it is."""
        numbers = {
            int(match[1], 16)
            for row in rows
            for value in row
            if isinstance(value, str) and value.startswith(_MARK) and (match := _STORED.match(value))
        }
        if not numbers:
            return rows
        if unknown := [no for no in numbers if no not in self._keys]:
            self._keys.update(dict.fromkeys(unknown))
            self._keys.update({no: AESGCM(key) for no, key in self._fetch(unknown)})
        return [tuple(map(self._readable, row)) for row in rows]

    def plain(self, rows: Sequence[Values]) -> list[bool]:
        """Return for each row whether any of its values is content that no key at hand has encrypted."""
        readable = self.rows(list(rows))
        return [
            any(value == stored and value not in _PLAIN for value, stored in zip(read, row, strict=True))
            for read, row in zip(readable, rows, strict=True)
        ]

    def forget(self) -> None:
        """Fetch keys anew."""
        self._keys.clear()

    def _readable(self, value: object) -> object:
        if not isinstance(value, str) or not (match := _STORED.match(value)):
            return value
        cipher = self._keys.get(int(match[1], 16))
        if cipher is None:
            return value
        try:
            sealed = b64decode(value[match.end() :], validate=True)
            return cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], None).decode()
        except (InvalidTag, Base64Error, ValueError):
            return value


def encrypted(
    table: str,
    names: Sequence[str],
    rows: Iterable[Values],
    scopes: Sequence[Scope],
    keys: Mapping[Scope, Key],
) -> list[Values]:
    """Return rows of a table with their content encrypted, each by the key of its scope."""
    places = [at for at, name in enumerate(names) if name in COLUMNS[table]]
    sealed: list[Values] = []
    for row, scope in zip(rows, scopes, strict=True):
        values = list(row)
        for at in places:
            if values[at] not in _PLAIN:
                values[at] = keys[scope].encrypt(values[at])
        sealed.append(tuple(values))
    return sealed


def scopes_of(
    table: str,
    names: Sequence[str],
    rows: Sequence[Values],
    of_facts: Callable[[Sequence[object]], Mapping[object, Scope]],
) -> list[Scope]:
    """Return the scope of each row to write; `of_facts` looks up those of stored facts by number."""
    at = {name: place for place, name in enumerate(names)}
    match table:
        case "document":
            return [Scope("document", str(row[at["id"]])) for row in rows]
        case "chunk":
            return [Scope("document", str(row[at["document_id"]])) for row in rows]
        case "record":
            return [scope_of_record(str(row[at["kind"]]), str(row[at["id"]])) for row in rows]
        case "fact" if "document_id" in at:
            return [scope_of_fact(row[at["id"]], row[at["document_id"]]) for row in rows]
    numbers = [row[at["no" if table == "fact" else "fact"]] for row in rows]
    scopes = of_facts(numbers)
    return [scopes[number] for number in numbers]


def scope_of_record(kind: str, record_id: str) -> Scope:
    """Return the scope of a record, which is its own."""
    return Scope("record", f"{kind}\x00{record_id}")


def scope_of_fact(fact_id: str, document_id: str | None) -> Scope:
    """Return the scope of a fact: that of its document, or its own."""
    return Scope("fact", fact_id) if document_id is None else Scope("document", document_id)
