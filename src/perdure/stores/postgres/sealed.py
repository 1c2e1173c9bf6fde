"""Writes of an encrypted bank: content is encrypted, and an erasure destroys its keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from perdure.domain.bank import Bank
from perdure.domain.fact import Fact
from perdure.stores.postgres.content import (
    COLUMNS,
    Decrypting,
    Key,
    Scope,
    encrypted,
    scope_of_fact,
    scope_of_record,
    scopes_of,
)
from perdure.stores.sql.columns import Values, batches
from perdure.stores.sql.transaction import BankTransaction

IS_ENCRYPTED = "SELECT 1 FROM content_key WHERE bank = ? AND scope = ''"
ENCRYPTED, ENCRYPTING = "", "encrypting"
"""Scopes that stand for the bank: what is written is encrypted; what was written before may not be yet."""
PLAIN_UNTIL = "plain until "
"""Prefix of the scope of a pending erasure, while files may hold the bank as it was before."""
_KEYS_OF = {"fact": "no", "fact_features": "fact", "document": "id", "chunk": "id"}
"""Table -> the column that, with the bank, tells its rows apart."""
RECORD_KEY = ("kind", "id")


class SealedTransaction(BankTransaction):
    """A transaction that encrypts the content of encrypted banks."""

    _encrypt_new: bool

    @property
    @abstractmethod
    def _decrypting(self) -> Decrypting:
        """Return what decrypts stored rows."""

    def _begin(self) -> None:
        super()._begin()
        self._is_encrypted: bool | None = None
        self._keys: dict[Scope, Key] = {}
        self._touched_scopes: set[Scope] = set()
        """Of what was deleted or rewritten."""
        self._bank_keys_destroyed = False

    def put_bank(self, bank: Bank) -> None:
        is_new = not self.bank_no
        super().put_bank(bank)
        if is_new and self._encrypt_new:
            self.encrypt_from_now_on()

    def update_facts(self, facts: Sequence[Fact]) -> None:
        if not self._encrypts():
            super().update_facts(facts)
            return
        query = "SELECT id, no, document_id FROM fact WHERE bank = ?"
        ids = [fact.id for fact in facts]
        before = {row[0]: row[1:] for row in self._where(query, "id", ids)}
        super().update_facts(facts)
        moved = [row[1] for row in self._where(query, "id", ids) if before[row[0]] != row[1:]]
        self._write_anew("fact_features", "fact", moved)

    def delete_bank(self) -> None:
        wholly_encrypted = self._encrypts() and self._was_never_plain()
        self._execute("DELETE FROM content_key WHERE bank = ?", self.bank_no)
        super().delete_bank()
        self._bank_keys_destroyed = wholly_encrypted

    def destroy_keys(self) -> bool:
        """Destroy the keys of what was deleted or rewritten. Return False if some was not encrypted."""
        if not self._encrypts():
            return self._bank_keys_destroyed
        documents, facts, records = (
            [scope.id for scope in self._touched_scopes if scope.kind == kind]
            for kind in ("document", "fact", "record")
        )
        number = "SELECT no FROM fact WHERE bank = ?"
        numbers = [no for (no,) in self._where(number, "document_id", documents)]
        numbers += [no for (no,) in self._where(number, "id", facts)]
        rest = [
            *self._content("fact", "no", numbers),
            *self._content("fact_features", "fact", numbers),
            *self._content("document", "id", documents),
            *self._content("chunk", "document_id", documents),
        ]
        kept_records = [
            (kind, record_id, body)
            for kind, record_id in (one.split("\x00", 1) for one in records)
            for (body,) in self._of_bank(
                "SELECT body FROM record WHERE bank = ? AND kind = ? AND id = ?", kind, record_id
            )
        ]
        stored = [scope.stored for scope in self._touched_scopes]
        for batch in batches(stored):
            condition, values = self._any("scope", batch)
            self._execute(f"DELETE FROM content_key WHERE bank = ? AND {condition}", self.bank_no, *values)
        self._keys.clear()
        self._decrypting.forget()
        for table, names, rows in rest:
            self._update_content(table, names, rows)
        self._rewrite_records(kept_records)
        return self._was_never_plain()

    # A bank that was made before

    def scopes_of_bank(self) -> set[str]:
        """Return the scopes that stand for the bank; the others are hashes."""
        query = "SELECT scope FROM content_key WHERE bank = ? AND length(scope) < 32"
        return {scope for (scope,) in self._of_bank(query)}

    def announce_encryption(self) -> None:
        """Have everybody expect encrypted content among what is not."""
        self._mark(ENCRYPTING)

    def encrypt_from_now_on(self) -> None:
        """Encrypt what is written."""
        self._mark(ENCRYPTED)
        self._is_encrypted = True

    def encrypt_block(self, table: str, after: Values | None, limit: int) -> tuple[Values | None, int]:
        """Encrypt a block of rows behind a key. Return the last key, None at the end, and the count."""
        key = RECORD_KEY if table == "record" else (_KEYS_OF[table],)
        names = (*key, *sorted(COLUMNS[table]), *(("document_id",) if table == "chunk" else ()))
        behind = "" if after is None else f" AND ({', '.join(key)}) > ({', '.join('?' * len(key))})"
        rows = self._raw_rows(
            f"SELECT {', '.join(names)} FROM {table} WHERE bank = ?{behind} ORDER BY {', '.join(key)} LIMIT ?",
            self.bank_no, *(after or ()), limit,
        )  # fmt: skip
        content = slice(len(key), len(key) + len(COLUMNS[table]))
        is_plain = self._decrypting.plain([row[content] for row in rows])
        plain = [row for row, due in zip(self._decrypting.rows(rows), is_plain, strict=True) if due]
        if table == "record":
            self._rewrite_records(plain)
        else:
            self._update_content(table, names, plain)
        return (rows[-1][: len(key)] if len(rows) == limit else None), len(plain)

    def end_encryption(self) -> None:
        """Note that the whole bank is encrypted, and that dead rows hold it as it was."""
        self._execute("DELETE FROM content_key WHERE bank = ? AND scope = ?", self.bank_no, ENCRYPTING)
        self._mark(f"{PLAIN_UNTIL}{self._note_plain_erasure()}")

    def _mark(self, scope: str) -> None:
        self._store_keys({Scope("", scope): Key.new()}, {Scope("", scope): scope})

    def _was_never_plain(self) -> bool:
        """Return whether no row, alive or dead, holds content of the bank as it is."""
        marks = self.scopes_of_bank()
        erasures = [int(one.removeprefix(PLAIN_UNTIL)) for one in marks if one.startswith(PLAIN_UNTIL)]
        return ENCRYPTING not in marks and not any(map(self._is_pending, erasures))

    @abstractmethod
    def _raw_rows(self, query: str, *parameters: object) -> list[Values]:
        """Return rows as they are stored."""

    @abstractmethod
    def _note_plain_erasure(self) -> int:
        """Note that content was erased which no key protects; the number of the erasure."""

    @abstractmethod
    def _is_pending(self, erasure: int) -> bool:
        """Return whether traces of an erasure may still be there."""

    # What is written

    def _insert(self, table: str, names: Sequence[str], rows: Iterable[Values]) -> None:
        if table in COLUMNS and self._encrypts():
            rows = self._sealed(table, names, list(rows))
        super()._insert(table, names, rows)

    def _update(self, table: str, names: Sequence[str], rows: Sequence[Values]) -> None:
        if table in COLUMNS and rows and self._encrypts():
            rows = self._sealed(table, names, rows)
        super()._update(table, names, rows)

    def _upsert(self, table: str, key: Sequence[str], row: Mapping[str, object]) -> None:
        if table in COLUMNS and self._encrypts():
            names = tuple(row)
            (sealed,) = self._sealed(table, names, [tuple(row.values())])
            row = dict(zip(names, sealed, strict=True))
        super()._upsert(table, key, row)

    def _delete(self, table: str, column: str, values: Iterable[object], **where: object) -> None:
        if table in COLUMNS and self._encrypts():
            values = list(values)
            self._touched_scopes |= set(self._scopes_of_stored(table, column, values, where))
        super()._delete(table, column, values, **where)

    # Scopes and keys

    def _encrypts(self) -> bool:
        if self._is_encrypted is None:
            if not self.bank_no:
                return False
            self._is_encrypted = bool(self._of_bank(IS_ENCRYPTED))
        return self._is_encrypted

    def _sealed(self, table: str, names: Sequence[str], rows: Sequence[Values]) -> list[Values]:
        scopes = self._scopes(table, names, rows)
        self._touched_scopes |= set(scopes)
        self._fetch_keys(scopes)
        return encrypted(table, names, rows, scopes, self._keys)

    def _scopes(self, table: str, names: Sequence[str], rows: Sequence[Values]) -> list[Scope]:
        """Return the scope of each row that is to be written."""
        return scopes_of(table, names, rows, self._scopes_of_facts)

    def _scopes_of_facts(self, numbers: Sequence[object]) -> dict[object, Scope]:
        query = "SELECT no, id, document_id FROM fact WHERE bank = ?"
        return {no: scope_of_fact(*row) for no, *row in self._where(query, "no", numbers)}

    def _scopes_of_stored(
        self, table: str, column: str, values: Sequence[object], where: Mapping[str, object]
    ) -> list[Scope]:
        """Return the scopes of rows that are to be deleted."""
        match table:
            case "document":
                return [Scope("document", str(one)) for one in values]
            case "record":
                return [scope_of_record(str(where["kind"]), str(one)) for one in values]
            case "chunk":
                query = "SELECT document_id FROM chunk WHERE bank = ?"
                return [Scope("document", document) for (document,) in self._where(query, column, values)]
        query = "SELECT id, document_id FROM fact WHERE bank = ?"
        return [scope_of_fact(*row) for row in self._where(query, "no", values)]

    def _fetch_keys(self, scopes: Iterable[Scope]) -> None:
        """Have a key for each scope; those that are missing are made."""
        missing = {scope.stored: scope for scope in scopes if scope not in self._keys}
        query = "SELECT scope, no, key FROM content_key WHERE bank = ?"
        for stored, no, secret in self._where(query, "scope", missing):
            self._keys[missing[stored]] = Key(no, secret)
        new_keys = {scope: Key.new() for scope in missing.values() if scope not in self._keys}
        self._store_keys(new_keys, {scope: scope.stored for scope in new_keys})

    def _store_keys(self, new_keys: Mapping[Scope, Key], stored: Mapping[Scope, str]) -> None:
        self._keys.update(new_keys)
        rows = [(key.no, stored[scope], key.secret) for scope, key in new_keys.items()]
        super()._insert("content_key", ("no", "scope", "key"), rows)

    def _write_anew(self, table: str, column: str, values: Sequence[object]) -> None:
        """Encrypt stored rows again, by the keys of their present scopes."""
        for of_table, names, rows in self._content(table, column, values):
            self._update_content(of_table, names, rows)

    def _content(
        self, table: str, column: str, values: Sequence[object]
    ) -> list[tuple[str, Sequence[str], list[Values]]]:
        """Return (table, columns, rows) of the readable content of stored rows, the key first."""
        names = (_KEYS_OF[table], *sorted(COLUMNS[table]))
        extra = ("document_id",) if table == "chunk" else ()
        query = f"SELECT {', '.join((*names, *extra))} FROM {table} WHERE bank = ?"
        return [(table, (*names, *extra), list(self._where(query, column, values)))] if values else []

    def _update_content(self, table: str, names: Sequence[str], rows: Sequence[Values]) -> None:
        if not rows:
            return
        sealed = self._sealed(table, names, rows)
        assignments = ", ".join(f"{name} = ?" for name in names[1:])
        self._execute_many(
            f"UPDATE {table} SET {assignments} WHERE bank = ? AND {names[0]} = ?",
            [(*row[1:], self.bank_no, row[0]) for row in sealed],
        )

    def _rewrite_records(self, rows: Sequence[Values]) -> None:
        """Encrypt the bodies (kind, id, body) of stored records."""
        if rows:
            statement = "UPDATE record SET body = ? WHERE bank = ? AND kind = ? AND id = ?"
            sealed = self._sealed("record", (*RECORD_KEY, "body"), rows)
            self._execute_many(statement, [(body, self.bank_no, *key) for *key, body in sealed])
