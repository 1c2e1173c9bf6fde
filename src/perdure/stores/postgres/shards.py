"""The store on several databases, each of which holds whole banks. The first one, the home, holds the map and the shared records."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar
from uuid import uuid4

from perdure.domain.bank import Bank, check_bank_id
from perdure.domain.damage import Verification
from perdure.domain.record import Record
from perdure.errors import Conflict, InvalidInput, Unavailable
from perdure.ports.store import IndexUsage, Reading, Traces, Transaction
from perdure.stores.index.cache import IndexCache
from perdure.stores.index.feed import Feed
from perdure.stores.postgres.bank_map import BankMap, Place
from perdure.stores.postgres.rows import PostgresTransaction
from perdure.stores.postgres.store import PostgresReading, PostgresStore
from perdure.stores.sql.copying import BANK_DATABASE, DATABASE, MEMBER, bank_ids

T = TypeVar("T")
FEW_BANKS = 8
"""Up to so many banks are asked for one by one where they are; more, in every database at once."""
OWN = "own"
"""Id of the record by which a database tells who it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One of the databases."""

    id: str
    store: PostgresStore
    shown: str
    """Its address without user and password."""


class ShardedStore:
    """The Store protocol; each bank's rows are in one of the databases, which `move_bank` changes while it is in use."""

    def __init__(self, shards: Sequence[Shard], indexes: IndexCache) -> None:
        """`indexes` is the one that all of the stores share."""
        self.shards = tuple(shards)
        self._by_id = {shard.id: shard.store for shard in shards}
        self._indexes = indexes
        self.home = shards[0].store
        self.map = BankMap(self.home, shards[0].id, [shard.id for shard in shards])

    @classmethod
    def open(
        cls,
        urls: Sequence[str],
        open_one: Callable[[str, IndexCache], PostgresStore],
        index_memory_mb: int = 1024,
    ) -> ShardedStore:
        """Open all of them; those that come for the first time are made part of the set, with the banks that they have."""
        indexes = IndexCache(index_memory_mb << 20)
        with ExitStack() as opened:
            stores = []
            for url in urls:
                store = open_one(url, indexes)
                opened.callback(store.close)
                stores.append(store)
            sharded = cls(_join(stores), indexes)
            sharded._enter_new_members()
            opened.pop_all()
        return sharded

    def shard(self, name: str) -> Shard:
        """One of the databases, by its place in the setting (from 1), its address or its id."""
        for number, shard in enumerate(self.shards, start=1):
            if name in (str(number), shard.id, shard.shown):
                return shard
        listed = ", ".join(f"{number}: {shard.shown}" for number, shard in enumerate(self.shards, start=1))
        raise InvalidInput("database", f"one of {listed}", name)

    def store_of(self, bank: str) -> PostgresStore:
        """The database that holds a bank, or will hold it when it is made."""
        with self._connected():
            there = self._route(bank, lambda store: store if store.banks([bank]) else None)
            return there or self._by_id[self.map.allot(bank).database]

    def banks(self, ids: Sequence[str] | None = None) -> list[Bank]:
        if ids is not None and len(ids) <= FEW_BANKS:
            rows = [self._route(bank, partial(_bank_in, bank)) for bank in dict.fromkeys(ids)]
            return sorted((bank for bank in rows if bank is not None), key=lambda bank: bank.id)
        every = {shard.id: {bank.id: bank for bank in shard.store.banks(ids)} for shard in self.shards}
        return [every[database][bank] for bank, database in sorted(self._one_place_each(every).items())]

    def banks_with_records(self, kind: str) -> list[str]:
        every = {shard.id: shard.store.banks_with_records(kind) for shard in self.shards}
        return sorted(self._one_place_each(every))

    @contextmanager
    def reading(self, bank: str) -> Iterator[Reading]:
        check_bank_id(bank)
        with ExitStack() as stack:
            reading = self._route(bank, partial(_try_reading, stack, bank))
            if reading is None:
                yield stack.enter_context(self.home.reading(bank))
                return
            reading.feed_elsewhere = partial(self._feed_elsewhere, bank)
            yield reading

    @contextmanager
    def transaction(self, bank: str) -> Iterator[Transaction]:
        check_bank_id(bank)
        with ExitStack() as stack:
            yield self._begin(stack, bank)

    def record_recalls(self, bank: str, recalls: Iterable[tuple[str, datetime]]) -> None:
        with ExitStack() as stack:
            transaction = self._route(bank, partial(_try_transaction, stack, bank))
            if transaction is not None:
                transaction.add_recalls(recalls)

    def shared_records(self, kind: str, ids: Sequence[str] | None = None) -> list[Record]:
        return self.home.shared_records(kind, ids)

    def put_shared_records(self, records: Sequence[Record]) -> None:
        self.home.put_shared_records(records)

    def delete_shared_records(self, kind: str, ids: Sequence[str]) -> None:
        self.home.delete_shared_records(kind, ids)

    def traces(self) -> Traces:
        return _joint_traces(shard.store.traces() for shard in self.shards)

    def clears_traces_at_once(self) -> bool:
        return False

    def clear_traces(self) -> Traces:
        return _joint_traces([shard.store.clear_traces() for shard in self.shards])

    def pending_traces(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(told for shard in self.shards for told in shard.store.pending_traces()))

    def traces_progress(self) -> float:
        return min(shard.store.traces_progress() for shard in self.shards)

    def evictions(self) -> int:
        return self._indexes.evicted

    def index_usage(self) -> IndexUsage:
        return self._indexes.usage()

    def search_tables_due(self, bank: str) -> bool:
        return self.store_of(bank).search_tables_due(bank)

    def build_search_tables(
        self, bank: str, progress: Callable[[float], None] = lambda share: None, *, wait: bool = True
    ) -> bool:
        return self.store_of(bank).build_search_tables(bank, progress, wait=wait)

    @property
    def read_only(self) -> bool:
        return False

    def verify(self, *, quick: bool = False, repair: bool = False, drop: bool = False) -> Verification:
        each = [shard.store.verify(quick=quick, repair=repair, drop=drop) for shard in self.shards]
        checked: Counter[str] = Counter()
        for one in each:
            checked.update(one.checked)
        damage = tuple(damage for one in each for damage in one.damage)
        return Verification(checked=dict(checked), damage=damage, quick=quick)

    def backup(self, file: str) -> None:
        raise Unavailable(
            "backup: use pg_dump for each database, or `perdure database copy FILE` for a SQLite file of all banks"
        )

    def secure(self, role: str, *, off: bool = False) -> None:
        """Let a role use all of the databases under row-level security, or with `off` end that."""
        for shard in self.shards:
            shard.store.secure(role, off=off)

    def close(self) -> None:
        for shard in self.shards:
            shard.store.close()

    def bank_counts(self) -> dict[str, int]:
        """Id of each database -> how many banks it holds."""
        every = {shard.id: bank_ids(shard.store) for shard in self.shards}
        return {shard.id: 0 for shard in self.shards} | Counter(self._one_place_each(every).values())

    def _route(self, bank: str, attempt: Callable[[PostgresStore], T | None]) -> T | None:
        """What the attempt leads to in the database that has the bank; None where none has.

        The attempt returns None where the bank has no row. An entry that leads nowhere is read again.
        """
        with self._connected():
            place = self.map.kept(bank)
            while place is not None:
                for database in place.databases:
                    outcome = attempt(self._by_id[database])
                    if outcome is not None:
                        return outcome
                latest = self.map.read(bank)
                if latest == place:
                    return None
                place = latest
            return None

    def _begin(self, stack: ExitStack, bank: str) -> PostgresTransaction:
        """A transaction where the bank is, or where it is to be made: under the lock of its id the entry is looked at again."""
        while True:
            transaction = self._route(bank, partial(_try_transaction, stack, bank))
            if transaction is not None:
                return transaction
            with self._connected():
                place = self.map.allot(bank)
            with ExitStack() as trying:
                new = trying.enter_context(self._by_id[place.database].transaction(bank))
                assert isinstance(new, PostgresTransaction)
                if new.bank_no or self.map.read(bank) == place:
                    stack.push(trying.pop_all())
                    return new

    @contextmanager
    def _feed_elsewhere(self, bank: str) -> Iterator[Feed]:
        """A feed of a bank that has left its database since a reading began."""
        with ExitStack() as stack:
            reading = self._route(bank, partial(_try_reading, stack, bank))
            if reading is None:
                erased = stack.enter_context(self.home.reading(bank))
                assert isinstance(erased, PostgresReading)
                reading = erased
            yield stack.enter_context(reading._feed())

    def _one_place_each(self, every: Mapping[str, Iterable[str]]) -> dict[str, str]:
        """Bank -> the database that holds it; one that is being moved has rows in two."""
        places: dict[str, str] = {}
        for database, ids in every.items():
            for bank in ids:
                if bank not in places:
                    places[bank] = database
                elif (place := self.map.read(bank)) is not None:
                    places[bank] = place.database
        return places

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """A block in which the home's errors are Perdure's."""
        with self.home.errors:
            yield

    def _enter_new_members(self) -> None:
        """Enter the banks of databases that are here for the first time; say so when one of earlier times is missing."""
        with self.home.tables(writing=False) as tables:
            rows = tables.select("SELECT id, body FROM shared_record WHERE kind = ?", MEMBER)
        members = {member: json.loads(body)["shown"] for member, body in rows}
        missing = members.keys() - self._by_id.keys()
        for member in sorted(missing):
            if self._entries_of(member):
                expected = f"also {members[member]}, which holds banks of this set"
                raise InvalidInput("database", expected, [shard.shown for shard in self.shards])
        for shard in self.shards:
            if shard.id in members:
                continue
            ids = bank_ids(shard.store)
            self.map.add({bank: Place(database=shard.id) for bank in ids})
            taken = [bank for bank in ids if self.map.read(bank) != Place(database=shard.id)]
            if taken:
                raise Conflict(
                    f"{shard.shown} has a bank {taken[0]!r}, and so has another database of the set"
                )
            _put_record(self.home, MEMBER, shard.id, {"shown": shard.shown})

    def _entries_of(self, member: str) -> int:
        query = "SELECT count(*) FROM shared_record WHERE kind = ? AND strpos(body, ?) > 0"
        with self.home.tables(writing=False) as tables:
            ((count,),) = tables.select(query, BANK_DATABASE, member)
        return int(count)


def check_alone(store: PostgresStore) -> None:
    """Raise where a database that is opened alone is one of several: the others' banks would seem to be gone."""
    own = _own_record(store)
    if own is None:
        return
    if own["home"] != own["id"]:
        raise InvalidInput("database", "all databases of the set, its first one first", store.shown)
    with store.tables(writing=False) as tables:
        others = tables.select("SELECT body FROM shared_record WHERE kind = ? AND id <> ?", MEMBER, own["id"])
        for (body,) in others:
            expected = f"all databases of the set, also {json.loads(body)['shown']}"
            raise InvalidInput("database", expected, store.shown)


def _join(stores: Sequence[PostgresStore]) -> list[Shard]:
    """The databases with their ids, which are made for new ones; raises unless they belong together."""
    home: str | None = None
    shards: list[Shard] = []
    for store in stores:
        own = _own_record(store)
        if own is None:
            own_id = uuid4().hex
            home = home or own_id
            _put_record(store, DATABASE, OWN, {"id": own_id, "home": home})
            own = {"id": own_id, "home": home}
        home = home or own["id"]
        if own["home"] != home:
            raise InvalidInput(
                "database", "databases of one set, its first one first", [one.shown for one in stores]
            )
        shards.append(Shard(id=own["id"], store=store, shown=store.shown))
    if len({shard.id for shard in shards}) < len(shards):
        raise InvalidInput("database", "each database once", [one.shown for one in stores])
    return shards


def _own_record(store: PostgresStore) -> dict[str, str] | None:
    with store.tables(writing=False) as tables:
        rows = tables.select("SELECT body FROM shared_record WHERE kind = ? AND id = ?", DATABASE, OWN)
    return json.loads(rows[0][0]) if rows else None


def _put_record(
    store: PostgresStore, kind: str, record_id: str, body: dict[str, object] | dict[str, str]
) -> None:
    now = datetime.now(UTC)
    store.put_shared_records(
        [Record(kind=kind, id=record_id, body=dict(body), created_at=now, updated_at=now)]
    )


def _bank_in(bank: str, store: PostgresStore) -> Bank | None:
    return next(iter(store.banks([bank])), None)


def _try_reading(stack: ExitStack, bank: str, store: PostgresStore) -> PostgresReading | None:
    """A reading that the stack closes; None where the database does not have the bank."""
    with ExitStack() as trying:
        reading = trying.enter_context(store.reading(bank))
        assert isinstance(reading, PostgresReading)
        if not reading.bank_no:
            return None
        stack.push(trying.pop_all())
        return reading


def _try_transaction(stack: ExitStack, bank: str, store: PostgresStore) -> PostgresTransaction | None:
    """A transaction that the stack ends; None where the database does not have the bank."""
    with ExitStack() as trying:
        transaction = trying.enter_context(store.transaction(bank))
        assert isinstance(transaction, PostgresTransaction)
        if not transaction.bank_no:
            return None
        stack.push(trying.pop_all())
        return transaction


def _joint_traces(each: Iterable[Traces]) -> Traces:
    return Traces.PENDING if Traces.PENDING in each else Traces.CLEARED
