"""History: which of the ends put to a fact are in force, decided once for every store.

A closing is an end that one fact puts to another: a change ends it on the axis of validity (it was true until then), a
correction on that of knowledge (it never was so). A closing is in force while the fact behind it is believed. When that fact
is forgotten, declared wrong or dropped by its source, what it closed opens again; when it is restored, it closes again. When
it was corrected itself, the correction closes in its place; when it was ended itself, what ended it does.

    Berlin ◄── ended by ── Lisbon ◄── ended by ── Porto      Lisbon was wrong:   Berlin ◄── ended by ── Porto

A fact has the fields of what is in force. Where they cannot hold all of its closings, a record beside it lists them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from perdure.domain.fact import RESTATED_AS, REWORDED, Fact
from perdure.domain.observation import CONSOLIDATION_RECORD, PENDING_RECORD, is_synthesised
from perdure.domain.plain import from_plain, to_plain
from perdure.domain.record import Record
from perdure.ports.store import FactsWhere, Transaction

CLOSINGS = "closings"
"""Kind of the records that list the closings of a fact, in force or not; the id is the fact's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """An end that `by` puts to a fact: at `valid_to`, or as never having been so (a correction, without `valid_to`)."""

    fact_id: str
    by: str | None
    """None only for an end that no stored fact states."""
    valid_to: datetime | None
    recorded_at: datetime
    """When it became known."""

    @property
    def is_correction(self) -> bool:
        return self.valid_to is None


def close_facts(tx: Transaction, closings: Iterable[Closing]) -> tuple[str, ...]:
    """Put these ends to stored facts; returns the facts that they closed.

    What leads to a fact that is not there, to itself or in a circle is left out. A fact that states its own end is not ended
    by a change. Of several changes the earliest end is in force.
    """
    return _History(tx).close(closings)


def settle_closings(tx: Transaction, changed: Sequence[str]) -> None:
    """Bring closings up to date after the belief in facts has changed: they were retired, or are believed again."""
    if changed:
        _History(tx).settle(changed)


def release_from_erased(tx: Transaction, erased: Mapping[str, Fact]) -> None:
    """Bring closings up to date before facts are deleted, which are still stored: none refers to them afterwards."""
    _History(tx).release(erased)


def find_wordings(tx: Transaction, facts: Iterable[Fact]) -> list[Fact]:
    """Return these facts and those that say the same in other words, from the first wording to the last."""
    return _History(tx).find_wordings(facts)


def is_corrected(tx: Transaction, fact: Fact) -> bool:
    """Return whether a newer fact took this one back."""
    return _History(tx).is_corrected(fact)


def mark_changed(tx: Transaction, facts: Iterable[Fact]) -> None:
    """Have the next consolidation look again at what rests on these stored facts; nothing in a bank that never had one."""
    changed = [fact for fact in facts if not is_synthesised(fact)]
    if changed and tx.records(CONSOLIDATION_RECORD, [CONSOLIDATION_RECORD]):
        tx.put_records([Record(kind=PENDING_RECORD, id=fact.id, bank=fact.bank) for fact in changed])


class _History:
    """The closings of a bank within a transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._listed = {record.id: _read(record) for record in tx.records(CLOSINGS)}
        """Fact id -> its closings, of the facts that have a record."""
        self._erased: set[str] = set()
        """Facts that are still stored, but no longer count."""

    def close(self, closings: Iterable[Closing]) -> tuple[str, ...]:
        closed = []
        for closing in closings:
            fact = self._fact(closing.fact_id)
            if fact is None or not self._is_possible(closing, fact):
                continue
            end = closing.valid_to and max(closing.valid_to, fact.valid_from or closing.valid_to)
            recorded = max(closing.recorded_at, fact.recorded_at or closing.recorded_at)
            own = replace(closing, valid_to=end, recorded_at=recorded)
            self._put(fact, [*self._closings_of(fact), own])
            self.settle([fact.id])
            if self._fact(fact.id) != fact:
                closed.append(fact.id)
        return tuple(dict.fromkeys(closed))

    def settle(self, changed: Iterable[str]) -> None:
        """Each fact depends on those that closed it, and closings make no circle: this ends at the ends of the chains.

        A closing by a fact that is not believed depends on what closes that fact, even when its own fields stay as they are.
        """
        pending = list(dict.fromkeys(changed))
        for fact in self._tx.facts(pending):
            self._put(fact, self._closings_of(fact))
        while pending:
            dependent = {fact.id: fact for closer in pending for fact in self._closed_by(closer)}
            pending = [
                fact.id
                for fact in dependent.values()
                if self._put(fact, self._closings_of(fact)) or fact.retired_at is not None
            ]

    def release(self, erased: Mapping[str, Fact]) -> None:
        closings = {fact_id: self._closings_of(fact) for fact_id, fact in erased.items()}
        dependent = {fact.id: fact for closer in erased for fact in self._closed_by(closer)}
        past = {
            fact.id: [each for closing in self._closings_of(fact) for each in _past_erased(closing, closings)]
            for fact in dependent.values()
        }
        self._erased.update(erased)
        self._tx.delete_records(CLOSINGS, list(erased))
        self._listed = {fact_id: own for fact_id, own in self._listed.items() if fact_id not in erased}
        staying = [fact for fact in dependent.values() if fact.id not in erased]
        for fact in staying:
            self._put(fact, past[fact.id])
        self.settle([fact.id for fact in staying])

    def find_wordings(self, facts: Iterable[Fact]) -> list[Fact]:
        restated = {record.id: str(record.body["fact"]) for record in self._tx.records(RESTATED_AS)}
        reached = {fact.id: fact for fact in facts}
        pending = list(reached)
        while pending:
            ids = set(pending)
            near = [
                *self._tx.facts([new for old, new in restated.items() if old in ids]),
                *self._tx.facts([old for old, new in restated.items() if new in ids]),
                *self._tx.facts([by for fact_id in pending for by in self._reworders(reached[fact_id])]),
                *(old for by in pending for old in self._closed_by(by) if by in self._reworders(old)),
            ]
            pending = [fact.id for fact in near if fact.id not in reached]
            reached |= {fact.id: fact for fact in near}
        return list(reached.values())

    def _reworders(self, fact: Fact) -> set[str]:
        """Return the facts that a language model worded in the place of this one."""
        if fact.invalid_reason != REWORDED:
            return set()
        closings = [one for one in self._closings_of(fact) if one.recorded_at == fact.retired_at]
        return {one.by for one in closings if one.by is not None}

    def is_corrected(self, fact: Fact) -> bool:
        """Return whether a correction of the fact is in force."""
        return any(closing.is_correction for closing in self._in_force(self._closings_of(fact)))

    def _was_retired_by_correction(self, fact: Fact) -> bool:
        """Return whether a correction retired the fact, in force or no longer, and not a person or its source."""
        return any(
            closing.is_correction and closing.recorded_at == fact.retired_at
            for closing in self._closings_of(fact)
        )

    def _is_possible(self, closing: Closing, fact: Fact) -> bool:
        if not closing.is_correction and fact.valid_to is not None and fact.end_recorded_at is None:
            return False
        return closing.by is None or (
            self._fact(closing.by) is not None and fact.id not in self._closers_from(closing.by)
        )

    def _closers_from(self, fact_id: str) -> set[str]:
        """Return the fact, what closed it, what closed that, and so on."""
        reached: set[str] = set()
        pending = [fact_id]
        while pending:
            fact = self._fact(pending.pop())
            if fact is not None and fact.id not in reached:
                reached.add(fact.id)
                pending += [closing.by for closing in self._closings_of(fact) if closing.by is not None]
        return reached

    def _closed_by(self, closer: str) -> list[Fact]:
        """Return the facts that have a closing by this one, in force or not."""
        listed = [fact_id for fact_id, own in self._listed.items() if any(one.by == closer for one in own)]
        facts = [*self._tx.find_facts(FactsWhere(superseded_by=[closer])), *self._tx.facts(listed)]
        return [fact for fact in facts if fact.id not in self._erased]

    def _closings_of(self, fact: Fact) -> list[Closing]:
        if fact.id in self._listed:
            return self._listed[fact.id]
        if fact.end_recorded_at is not None:
            end, recorded = fact.valid_to, fact.end_recorded_at
        elif fact.retired_at is not None and fact.superseded_by is not None:
            end, recorded = None, fact.retired_at
        else:
            return []
        return [Closing(fact_id=fact.id, by=fact.superseded_by, valid_to=end, recorded_at=recorded)]

    def _in_force(self, closings: Iterable[Closing]) -> list[Closing]:
        """Return the closings as they are in force, each perhaps by other facts in place of `by`."""
        return [each for closing in closings for each in self._behind(closing, frozenset())]

    def _behind(self, closing: Closing, passed: frozenset[str]) -> list[Closing]:
        """Return the closing while the fact behind it is believed; else what the closings of that fact in force make of it."""
        if closing.by is None:
            return [closing]
        closer = self._fact(closing.by)
        if closer is None or closer.id in passed or closer.id == closing.fact_id:
            return []
        if closer.retired_at is None:
            return [closing]
        own = [each for one in self._closings_of(closer) for each in self._behind(one, passed | {closer.id})]
        return [_passed_on(closing, each) for each in own if each.by != closing.fact_id]

    def _put(self, fact: Fact, closings: Sequence[Closing]) -> bool:
        """Write the fact as its closings leave it, and the list of them where needed; returns whether anything changed."""
        distinct = list(dict.fromkeys(closings))
        opened = _opened(fact, corrected=self._was_retired_by_correction(fact))
        after = _closed(opened, self._in_force(distinct))
        if after != fact:
            self._tx.update_facts([after])
            mark_changed(self._tx, [after])
        before = self._closings_of(fact)
        self._list(after, distinct)
        return after != fact or before != distinct

    def _list(self, fact: Fact, closings: list[Closing]) -> None:
        """Keep the closings of a fact in a record, unless its own fields hold them all."""
        listed = self._listed.pop(fact.id, None)
        if self._closings_of(fact) == closings:
            if listed is not None:
                self._tx.delete_records(CLOSINGS, [fact.id])
            return
        self._listed[fact.id] = closings
        if listed != closings:
            body = {"closings": to_plain(closings)}
            self._tx.put_records([Record(kind=CLOSINGS, id=fact.id, bank=fact.bank, body=body)])

    def _fact(self, fact_id: str) -> Fact | None:
        return None if fact_id in self._erased else next(iter(self._tx.facts([fact_id])), None)


def _passed_on(closing: Closing, own: Closing) -> Closing:
    """Return a closing by a fact that is not believed, by what closed that fact: the correction of it, or the end of it."""
    if own.is_correction:
        return replace(closing, by=own.by)
    return replace(own, fact_id=closing.fact_id)


def _past_erased(
    closing: Closing, erased: Mapping[str, Sequence[Closing]], passed: frozenset[str] = frozenset()
) -> list[Closing]:
    """Return the closing by what stays, in place of erased facts, whose closings these are."""
    if closing.by is None or closing.by not in erased:
        return [closing] if closing.by != closing.fact_id else []
    if closing.by in passed:
        return []
    behind = [_passed_on(closing, own) for own in erased[closing.by]]
    return [past for each in behind for past in _past_erased(each, erased, passed | {closing.by})]


def _opened(fact: Fact, *, corrected: bool) -> Fact:
    """Return the fact without what closings did to it; one that was declared wrong stays retired, since then."""
    ended = fact.end_recorded_at is not None
    return replace(
        fact,
        superseded_by=None,
        valid_to=None if ended else fact.valid_to,
        end_recorded_at=None,
        retired_at=fact.invalidated_at if corrected else fact.retired_at,
    )


def _strongest(closings: Sequence[Closing]) -> Closing | None:
    """Return the first correction, or else the earliest end; of equal ones the one that was made first."""
    return min(closings, key=_strength, default=None)


def _strength(closing: Closing) -> tuple[bool, datetime, datetime]:
    return not closing.is_correction, closing.valid_to or closing.recorded_at, closing.recorded_at


def _closed(opened: Fact, in_force: Sequence[Closing]) -> Fact:
    """Return the fact with what is in force: an end unless it states its own, and a correction, unless its source dropped it."""
    closed = opened
    end = _strongest([closing for closing in in_force if not closing.is_correction])
    if end is not None and end.valid_to is not None and opened.valid_to is None:
        closed = replace(
            closed,
            valid_to=max(end.valid_to, opened.valid_from or end.valid_to),
            end_recorded_at=end.recorded_at,
            superseded_by=end.by,
        )
    correction = _strongest([closing for closing in in_force if closing.is_correction])
    if correction is None:
        return closed
    if opened.retired_at is None:
        return replace(closed, retired_at=correction.recorded_at, superseded_by=correction.by)
    if opened.invalidated_at is not None:
        closed = replace(closed, retired_at=min(opened.retired_at, correction.recorded_at))
    return closed if closed.superseded_by is not None else replace(closed, superseded_by=correction.by)


def read_closings(fact_id: str, bank: str, closings: object) -> Record:
    """Return the record of a fact's closings, from an export; raises what says that it is none."""
    record = Record(kind=CLOSINGS, id=fact_id, bank=bank, body={"closings": closings})
    _read(record)
    return record


def _read(record: Record) -> list[Closing]:
    body: Mapping[str, Any] = record.body
    return from_plain(list[Closing], [{**closing, "fact_id": record.id} for closing in body["closings"]])
