"""Which database of several holds a bank: a record per bank in the first of them, the home.

The entry of a bank that moves:

    {database: A}                          it is in A
    {database: A, moving_to: B, no: n}     it is copied; it is in A while A has its row, and in B as soon as A has not
    {database: B, left_in: A, no: n}       it is in B; rows under the number n in A are to be erased
    {database: B}

Deleting the bank's row in A is the switch, one commit of one database. Every process keeps an entry for `KEEP_SECONDS`; one
that finds no row where an old entry leads reads it again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock

from perdure.domain.rendezvous import rendezvous
from perdure.errors import StoreError
from perdure.stores.sql.copying import BANK_DATABASE, TableStore

KEEP_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a bank is."""

    database: str
    moving_to: str | None = None
    left_in: str | None = None
    no: int | None = None
    """The bank's number in the database that it leaves or has left."""

    @property
    def databases(self) -> tuple[str, ...]:
        """Where to look for the bank's row, in this order."""
        return (self.database,) if self.moving_to is None else (self.database, self.moving_to)

    def to_json(self) -> str:
        values = {name: getattr(self, name) for name in ("database", "moving_to", "left_in", "no")}
        return json.dumps({name: value for name, value in values.items() if value is not None})


class BankMap:
    """The entries of all banks, read from the home when asked for."""

    def __init__(self, home: TableStore, home_id: str, databases: Sequence[str]) -> None:
        self._home, self._home_id, self._databases = home, home_id, tuple(databases)
        self._kept: dict[str, tuple[float, Place]] = {}
        self._lock = Lock()

    def kept(self, bank: str) -> Place | None:
        """The entry as this process last read it, or as it is."""
        with self._lock:
            entry = self._kept.get(bank)
        if entry is not None and time.monotonic() - entry[0] < KEEP_SECONDS:
            return entry[1]
        return self.read(bank)

    def read(self, bank: str) -> Place | None:
        """The entry as it is; None for a bank that has none and is not in the home either."""
        began = time.monotonic()
        with self._home.tables(writing=False) as tables:
            rows = tables.select(
                "SELECT body FROM shared_record WHERE kind = ? AND id = ?", BANK_DATABASE, bank
            )
            # A process that knows the home alone makes banks without entries there.
            at_home = rows or tables.select("SELECT 1 FROM bank WHERE id = ?", bank)
        if not rows:
            return Place(database=self._home_id) if at_home else None
        place = self._checked(bank, Place(**json.loads(rows[0][0])))
        with self._lock:
            self._kept[bank] = began, place
        return place

    def allot(self, bank: str) -> Place:
        """The entry of a bank, which is made for a new one; whoever is first decides."""
        place = self.read(bank)
        if place is not None:
            return place
        chosen = Place(database=rendezvous(bank, self._databases))
        self.add({bank: chosen})
        return self.read(bank) or chosen

    def add(self, places: Mapping[str, Place]) -> None:
        """Enter banks that have no entry yet."""
        now = datetime.now(UTC).isoformat()
        with self._home.tables(writing=True) as tables:
            for bank, place in places.items():
                tables.execute(
                    "INSERT INTO shared_record (kind, id, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?)"
                    " ON CONFLICT (kind, id) DO NOTHING",
                    BANK_DATABASE, bank, place.to_json(), now, now,
                )  # fmt: skip

    def replace(self, bank: str, place: Place) -> None:
        """Change the entry of a bank."""
        self.add({bank: place})
        with self._home.tables(writing=True) as tables:
            tables.execute(
                "UPDATE shared_record SET body = ?, updated_at = ? WHERE kind = ? AND id = ?",
                place.to_json(), datetime.now(UTC).isoformat(), BANK_DATABASE, bank,
            )  # fmt: skip
        with self._lock:
            self._kept.pop(bank, None)

    def _checked(self, bank: str, place: Place) -> Place:
        for database in (place.database, place.moving_to):
            if database is not None and database not in self._databases:
                raise StoreError(
                    f"bank {bank!r} is in the database {database}, which the setting `database` does not name"
                )
        return place
