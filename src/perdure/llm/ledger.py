"""The ledger of calls: sums per day, kept for ever, and single calls, kept for a while.

Sums are records that belong to no bank, one per day, bank, operation, model and process: each process adds to its own, so none
overwrites another's. When a day is over, its records are folded into one per bank, operation and model. Under a cap a call is
entered before it is sent and counts as the most it may cost until it ends: each process enters first and reads the others
afterwards, so of two concurrent calls at least one sees the other, and a cap is exceeded by at most one call.

Single calls are records of their bank and are deleted with it. Those of a bank that does not exist yet wait in memory until it does.
"""

from __future__ import annotations

import itertools
import json
import logging
import threading
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from perdure.domain.llm_call import ERROR, LLM_CALL, LlmCall, LlmCost
from perdure.domain.record import Record
from perdure.errors import LlmCapReached, StoreError
from perdure.llm.limits import DayCaps
from perdure.ports.clock import Clock
from perdure.ports.store import Store, Transaction

log = logging.getLogger(__name__)

SPENT = "llm_spent:"
"""Before the day: kind of the sums of a day that is not folded yet, per process."""
DAYS = "llm_spent_day"
"""Kind of the records that name the days with such sums."""
COST = "llm_cost"
"""Kind of the folded sums."""
WAITING = 1_000
"""Maximum of single calls kept in memory while their bank does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The most that a call can cost, counted before it is sent."""

    input_tokens: int
    output_tokens: int
    price: float | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A call that has begun and not ended."""

    id: str
    at: datetime
    bank: str
    operation: str
    model: str

    @property
    def day(self) -> date:
        return self.at.astimezone(UTC).date()


class Ledger:
    """Records calls and enforces the caps; safe to call from any thread and, over one store, any process."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        caps: DayCaps = DayCaps(),
        log_texts: bool = False,
        log_days: int = 30,
    ) -> None:
        self._store, self._clock, self._caps = store, clock, caps
        self._log_texts, self._log_days = log_texts, log_days
        self._process = uuid.uuid4().hex[:12]
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._listed_days: set[date] = set()
        self._trimmed: dict[str, date] = {}
        """Bank -> the day on which its old calls were last deleted."""
        self._unwritten: list[tuple[Entry, LlmCall]] = []
        """Calls that ended while the store could not be written."""
        self._waiting: list[LlmCall] = []
        """Calls of banks that do not exist."""

    @property
    def log_texts(self) -> bool:
        return self._log_texts

    def begin(self, bank: str, operation: str, model: str, estimate: Estimate, lasts: float) -> Entry:
        """Enter a call of at most `lasts` seconds; raise `LlmCapReached` if a cap of its bank and operation is reached."""
        entry = Entry(self._new_id(), self._clock(), bank, operation, model)
        if not self._caps.any:
            return entry
        with self._lock:
            self._write_pending()
            body = {
                "input": estimate.input_tokens,
                "output": estimate.output_tokens,
                "price": estimate.price,
                "until": (entry.at + timedelta(seconds=lasts)).isoformat(),
            }
            self._update(entry, lambda sums: sums["open"].__setitem__(entry.id, body))
            try:
                self._check_caps(entry)
            except LlmCapReached:
                self._update(entry, lambda sums: sums["open"].pop(entry.id))
                raise
        return entry

    def end(self, entry: Entry, call: LlmCall) -> None:
        """Record how a call ended."""
        with self._lock:
            self._unwritten.append((entry, call))
            self._write_pending()

    def flush(self) -> None:
        """Write what could not be written before."""
        with self._lock:
            self._write_pending()

    def _new_id(self) -> str:
        """Return an id that sorts by time, and within it by order."""
        milliseconds = int(self._clock().timestamp() * 1000)
        return f"{milliseconds:012x}{next(self._numbers):06x}{uuid.uuid4().hex[:14]}"

    # Sums

    def _check_caps(self, entry: Entry) -> None:
        """Compare the sums, and the most that other open calls may cost, with the caps."""
        now = self._clock()
        calls, tokens, price = 0, 0, 0.0
        for record in self._store.shared_records(SPENT + entry.day.isoformat()):
            sums: Mapping[str, Any] = record.body
            if (sums["bank"], sums["operation"]) != (entry.bank, entry.operation):
                continue
            calls += sums["calls"]
            tokens += sums["input"] + sums["output"]
            price += sums["price"]
            for call_id, reserved in sums["open"].items():
                if call_id == entry.id:
                    continue
                calls += 1
                tokens += reserved["input"]
                # A call that never ended, since its process was killed, may have been answered or not.
                if datetime.fromisoformat(reserved["until"]) > now:
                    tokens += reserved["output"]
                    price += reserved["price"] or 0.0
        caps = (
            ("calls", self._caps.calls, calls),
            ("tokens", self._caps.tokens, tokens),
            ("price", self._caps.price, price),
        )
        for name, cap, spent in caps:
            if cap is not None and spent >= cap:
                raise LlmCapReached(
                    f"llm_{name}_a_day",
                    f"llm_{name}_a_day: {spent:g} of {cap:g} are spent today on {entry.operation} in bank {entry.bank!r}",
                )

    def _update(self, entry: Entry, change: Any) -> None:
        """Change this process's sums for the entry's day, bank, operation and model."""
        kind = SPENT + entry.day.isoformat()
        row_id = json.dumps([entry.bank, entry.operation, entry.model, self._process])
        stored = self._store.shared_records(kind, [row_id])
        sums: dict[str, Any]
        if stored:
            sums = {**stored[0].body}
            sums["open"] = dict(sums["open"])
        else:
            sums = {
                "bank": entry.bank, "operation": entry.operation, "model": entry.model, "calls": 0, "failed": 0,
                "input": 0, "output": 0, "seconds": 0.0, "price": 0.0, "priced": 0, "open": {},
            }  # fmt: skip
        change(sums)
        if entry.day not in self._listed_days:
            self._fold_days(entry.day)
            self._store.put_shared_records([Record(kind=DAYS, id=entry.day.isoformat())])
            self._listed_days.add(entry.day)
        self._store.put_shared_records([Record(kind=kind, id=row_id, body=sums)])

    def _fold_days(self, today: date) -> None:
        """Fold the days before yesterday; calls of yesterday may still be open."""
        for record in self._store.shared_records(DAYS):
            day = date.fromisoformat(record.id)
            if day >= today - timedelta(days=1):
                continue
            # Where the sums are still there they are complete: folding them twice gives the same.
            spent = self._store.shared_records(SPENT + record.id)
            folded = _merge(_cost(day, one.body) for one in spent)
            self._store.put_shared_records([_cost_record(cost) for cost in folded])
            self._store.delete_shared_records(SPENT + record.id, [one.id for one in spent])
            self._store.delete_shared_records(DAYS, [record.id])

    # Single calls

    def _write_pending(self) -> None:
        """Write calls that ended; those that cannot be written stay until the next time."""
        try:
            while self._unwritten:
                entry, call = self._unwritten[0]
                self._update(entry, lambda sums, call=call: _add(sums, call))
                self._unwritten.pop(0)
                self._waiting = [*self._waiting, call][-WAITING:]
            for bank in sorted({call.bank for call in self._waiting}):
                self._write_calls(bank)
        except StoreError as error:
            log.warning("%d calls are not in the ledger yet: %s", len(self._unwritten), error)

    def _write_calls(self, bank: str) -> None:
        calls = [call for call in self._waiting if call.bank == bank]
        with self._store.transaction(bank) as tx:
            if tx.bank() is None:
                return
            tx.put_records([call.to_record() for call in calls])
            self._trim(tx, bank)
        self._waiting = [call for call in self._waiting if call.bank != bank]

    def _trim(self, tx: Transaction, bank: str) -> None:
        """Delete, once a day, single calls that are too old."""
        now = self._clock()
        if self._trimmed.get(bank) == now.date():
            return
        oldest = now - timedelta(days=self._log_days)
        old = [record.id for record in tx.records(LLM_CALL) if LlmCall.from_record(record).at < oldest]
        tx.delete_records(LLM_CALL, old)
        self._trimmed[bank] = now.date()


def read_costs(store: Store, bank: str | None = None, since: date | None = None) -> list[LlmCost]:
    """Return the cost of calls, oldest day first: of all banks or one, of all days or from one on."""
    rows = [_cost(date.fromisoformat(str(one.body["day"])), one.body) for one in store.shared_records(COST)]
    for day in store.shared_records(DAYS):
        if not any(row.day.isoformat() == day.id for row in rows):
            rows += [
                _cost(date.fromisoformat(day.id), one.body) for one in store.shared_records(SPENT + day.id)
            ]
    return _merge(
        row
        for row in rows
        if (bank is None or row.bank == bank) and (since is None or row.day >= since) and row.calls
    )


def erase_bank_costs(store: Store, bank: str) -> None:
    """Remove the name of an erased bank from the sums."""
    days = [SPENT + day.id for day in store.shared_records(DAYS)]
    for kind in (COST, *days):
        touched = [one for one in store.shared_records(kind) if one.body["bank"] == bank]
        if kind == COST:
            nameless = [one for one in store.shared_records(kind) if one.body["bank"] == ""]
            costs = [
                _cost(date.fromisoformat(str(one.body["day"])), {**one.body, "bank": ""})
                for one in (*nameless, *touched)
            ]
            store.put_shared_records([_cost_record(cost) for cost in _merge(costs)] if touched else [])
        else:
            for one in touched:
                renamed = json.dumps(["", *json.loads(one.id)[1:], uuid.uuid4().hex[:12]])
                store.put_shared_records([replace(one, id=renamed, body={**one.body, "bank": ""})])
        store.delete_shared_records(kind, [one.id for one in touched])


def _add(sums: dict[str, Any], call: LlmCall) -> None:
    sums["open"].pop(call.id, None)
    sums["calls"] += 1
    sums["failed"] += call.status == ERROR
    sums["input"] += call.input_tokens
    sums["output"] += call.output_tokens
    sums["seconds"] += call.seconds
    if call.price is not None:
        sums["price"] += call.price
        sums["priced"] += 1


def _cost(day: date, sums: Mapping[str, Any]) -> LlmCost:
    """Return sums as a cost; calls that never ended count as failed, with the tokens that were sent."""
    lost: Mapping[str, Mapping[str, Any]] = sums.get("open", {})
    return LlmCost(
        day=day,
        bank=sums["bank"],
        operation=sums["operation"],
        model=sums["model"],
        calls=sums["calls"] + len(lost),
        failed=sums["failed"] + len(lost),
        input_tokens=sums["input"] + sum(one["input"] for one in lost.values()),
        output_tokens=sums["output"],
        seconds=sums["seconds"],
        price=sums["price"] if sums["priced"] else None,
    )


def _cost_record(cost: LlmCost) -> Record:
    key = [cost.day.isoformat(), cost.bank, cost.operation, cost.model]
    body = {
        "day": cost.day.isoformat(), "bank": cost.bank, "operation": cost.operation, "model": cost.model,
        "calls": cost.calls, "failed": cost.failed, "input": cost.input_tokens, "output": cost.output_tokens,
        "seconds": cost.seconds, "price": cost.price or 0.0, "priced": int(cost.price is not None),
    }  # fmt: skip
    return Record(kind=COST, id=json.dumps(key), body=body)


def _merge(costs: Iterable[LlmCost]) -> list[LlmCost]:
    """Return one row per day, bank, operation and model, in that order."""
    merged: dict[tuple[date, str, str, str], LlmCost] = {}
    for cost in costs:
        key = (cost.day, cost.bank, cost.operation, cost.model)
        if (before := merged.get(key)) is None:
            merged[key] = cost
            continue
        prices = [price for price in (before.price, cost.price) if price is not None]
        merged[key] = replace(
            before,
            calls=before.calls + cost.calls,
            failed=before.failed + cost.failed,
            input_tokens=before.input_tokens + cost.input_tokens,
            output_tokens=before.output_tokens + cost.output_tokens,
            seconds=before.seconds + cost.seconds,
            price=sum(prices) if prices else None,
        )
    return [merged[key] for key in sorted(merged)]
