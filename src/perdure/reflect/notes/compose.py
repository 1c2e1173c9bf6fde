"""Composing a note from the store: what happened in its time, what that changed, what is planned, what is open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from perdure.domain.fact import Fact, FactType, Tier
from perdure.domain.filter import Filter
from perdure.domain.note import (
    CHANGED,
    HAPPENED,
    OPEN,
    PLANNED,
    Note,
    NoteLine,
    note_names,
    note_window,
    sections,
)
from perdure.domain.question import Question
from perdure.domain.rendering import document_line, ending, one_line
from perdure.domain.time import Window
from perdure.ports.store import FactsWhere, Order, Reading, Selection
from perdure.reflect.observations.compose import is_source

READ = 500
"""Facts of a note's time that are looked at, the latest."""
MOST_LINES = {"daily": 40, "weekly": 30, "quarterly": 40}
"""Lines of a section."""
_TYPES = frozenset(FactType) - {FactType.OBSERVATION}


def notes_of(facts: Iterable[Fact]) -> set[str]:
    """Names of the notes that tell of facts: those whose time holds all of when a fact happened, or was said if undated."""
    names = set()
    for fact in facts:
        if fact.dated is not None and is_source(fact):
            for name in note_names(fact.dated):
                window = note_window(name)
                if window is not None and _lies_in(fact, window):
                    names.add(name)
    return names


def _lies_in(fact: Fact, window: Window) -> bool:
    """Return whether a fact happened wholly in the window; what only says "in 2019" happened on no day of it."""
    if window.start is None or window.end is None or fact.dated is None:
        return False
    if fact.has_unsure_date or fact.occurred is None:
        return window.start <= fact.dated < window.end
    start = fact.occurred_start or fact.dated
    return window.start <= start < window.end and (fact.occurred_end or start) <= window.end


def compose_note(
    reading: Reading, bank: str, name: str, questions: Sequence[Question], now: datetime
) -> tuple[Note, list[Fact]]:
    """Return the note as the store has it, and the facts that it tells of."""
    window = note_window(name)
    assert window is not None
    where = Filter(types=_TYPES, include_ended=True).at(now)
    selection = Selection(where=where, dated=window, order=Order.LATEST_DATED, limit=READ)
    facts = [
        fact
        for fact in reversed(reading.browse(selection).facts)
        if is_source(fact) and _lies_in(fact, window)
    ]
    closed = reading.find_facts(FactsWhere(superseded_by=[fact.id for fact in facts])) if facts else []
    most = MOST_LINES[name.partition("/")[0]]
    lines = [
        *_told(facts, most),
        *_changes(facts, closed, most),
        *_questions(facts, questions, most),
    ]
    note = Note(bank=bank, name=name, sections=sections(lines))
    told = {fact.id: fact for fact in (*facts, *closed)}
    told_ids = set(told)
    behind = [fact_id for fact_id in note.fact_ids if fact_id not in told_ids]
    told |= {fact.id: fact for fact in reading.facts(behind)}
    return note, [told[fact_id] for fact_id in note.fact_ids if fact_id in told]


def _told(facts: Sequence[Fact], most: int) -> Iterator[tuple[str, NoteLine]]:
    """Yield what happened and what is planned, in order of time; where it is too much, what was stated most often and most firmly."""
    for planned, heading in ((False, HAPPENED), (True, PLANNED)):
        of_kind = [fact for fact in facts if fact.is_planned is planned]
        chosen = {fact.id for fact in sorted(of_kind, key=_weight, reverse=True)[:most]}
        for fact in of_kind:
            if fact.id in chosen:
                yield heading, NoteLine(document_line(fact), (fact.id,))


def _weight(fact: Fact) -> tuple[bool, int, bool]:
    return fact.tier is Tier.CORE, fact.proof_count, fact.relation is not None


def _changes(facts: Sequence[Fact], closed: Sequence[Fact], most: int) -> Iterator[tuple[str, NoteLine]]:
    """Yield what the facts ended; of what they took back only what is right now."""
    by_id = {fact.id: fact for fact in facts}
    for old in [fact for fact in closed if is_source(fact)][-most:]:
        new = by_id[old.superseded_by or ""]
        if old.is_ended:
            end = ending(old, new)
            yield CHANGED, NoteLine(f"{one_line(old.text)} {end[:1].upper()}{end[1:]}", (old.id, new.id))
        else:
            yield CHANGED, NoteLine(f"Corrected: {one_line(new.text)}", (new.id,))


def _questions(
    facts: Sequence[Fact], questions: Sequence[Question], most: int
) -> Iterator[tuple[str, NoteLine]]:
    told = {fact.id for fact in facts}
    open_ones = [one for one in questions if any(option.fact_id in told for option in one.options)]
    for question in open_ones[:most]:
        yield OPEN, NoteLine(question.text, tuple(option.fact_id for option in question.options))
