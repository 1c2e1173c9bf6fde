"""Pairs of turns: the later one changes, corrects or ends what the earlier one said, or leaves it as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from bench.truth.replay import TURN, SetClock, open_replay
from bench.truth.report import Figure, PartReport, Share
from perdure import AsOf, Fact, Filter, Item, Perdure

SITTING_GAP = timedelta(hours=1)
"""Turns at most this far apart belong to one chat, and so to one document."""
ASKED_AFTER = timedelta(days=1)
"""How long after the latest turn the memory is asked what is so."""

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "home": ("home", "address", "time zone"),
    "work": ("employer", "role", "boss", "working hours", "commute", "study", "school", "salary"),
    "contact": ("phone", "mail", "wifi password", "nickname"),
    "people": ("partner", "marital", "age", "children", "roommate", "pet"),
    "body": ("diet", "allergy", "medication", "weight", "height", "doctor", "dentist"),
    "likes": ("preference", "gym", "hobby", "sports team", "religion", "language", "language learning"),
    "things": ("car", "phone model", "bank", "shop", "rent", "price", "budget"),
    "projects": ("project", "framework", "editor", "task owner"),
    "times": ("appointment", "deadline", "meeting"),
}


class Expect(StrEnum):
    """What the new turn does to what the old turn said."""

    CHANGED = "changed"
    CORRECTED = "corrected"
    ENDED = "ended"
    KEPT = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTurn:
    """One turn of a pair."""

    speaker: str
    role: str
    said_at: datetime
    text: str
    trust: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two turns about one value, and what must become of the first one's."""

    id: str
    language: str
    slot: str
    turns: Sequence[PairTurn]
    old: int
    new: int
    old_value: str
    new_value: str
    expect: Expect
    kind: str
    """Why the value is kept; empty for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutcome:
    """What the memory made of a pair."""

    pair: Pair
    has_old_fact: bool
    """Whether any fact holds the old value."""
    closed: bool
    """All facts with the old value closed; for a kept pair: any of them."""
    right_axis: bool
    new_is_current: bool


def load_pairs(path: Path) -> list[Pair]:
    return [_pair(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _pair(entry: Mapping[str, Any]) -> Pair:
    turns = [
        PairTurn(
            speaker=turn["speaker"],
            role=turn["role"],
            said_at=datetime.fromisoformat(turn["date"]),
            text=turn["text"],
            trust=turn.get("trust", 2),
        )
        for turn in entry["turns"]
    ]
    return Pair(
        id=entry["id"],
        language=entry["language"],
        slot=entry["slot"],
        turns=turns,
        old=entry["old"],
        new=entry["new"],
        old_value=entry["old_value"],
        new_value=entry["new_value"],
        expect=Expect(entry["expect"]),
        kind=entry.get("kind", ""),
    )


def run_pairs(path: Path) -> PartReport:
    """Retain every pair in a bank of its own and look at what became of its values."""
    with open_replay() as (memory, clock):
        outcomes = [_run_pair(memory, clock, pair) for pair in load_pairs(path)]
    return PartReport(_sections(outcomes), [line for outcome in outcomes for line in _miss(outcome)])


def _run_pair(memory: Perdure, clock: SetClock, pair: Pair) -> PairOutcome:
    for number, (turn, document_id) in enumerate(zip(pair.turns, _sittings(pair.turns), strict=True)):
        clock.now = turn.said_at if number == 0 else max(clock.now, turn.said_at)
        item = Item(
            content=turn.text,
            speaker=turn.speaker,
            role=turn.role,
            timestamp=turn.said_at,
            trust=turn.trust,
            document_id=document_id,
            metadata={TURN: str(number)},
        )
        memory.retain(pair.id, [item], update_mode="append")
    clock.now += ASKED_AFTER
    said_at = pair.turns[pair.old].said_at
    facts = list(memory.facts.iterate(pair.id, where=Filter(include_closed=True)))
    current = {fact.id for fact in memory.facts.iterate(pair.id)}
    true_then = {fact.id for fact in memory.facts.iterate(pair.id, where=Filter(as_of=AsOf(valid=said_at)))}
    old_facts = _facts_with(facts, pair.old, pair.old_value)
    new_facts = _facts_with(facts, pair.new, pair.new_value) if pair.new_value else []
    closings = [fact.id not in current for fact in old_facts]
    return PairOutcome(
        pair=pair,
        has_old_fact=bool(old_facts),
        closed=bool(closings) and (any(closings) if pair.expect is Expect.KEPT else all(closings)),
        right_axis=all(_on_right_axis(fact, pair.expect, fact.id in true_then) for fact in old_facts),
        new_is_current=any(fact.id in current for fact in new_facts),
    )


def _sittings(turns: Sequence[PairTurn]) -> Iterator[str]:
    """The document of each turn: a new one begins after a gap, or when the clock went back."""
    sitting = 0
    for number, turn in enumerate(turns):
        if number and not timedelta(0) <= turn.said_at - turns[number - 1].said_at <= SITTING_GAP:
            sitting += 1
        yield f"chat-{sitting}"


def _facts_with(facts: Sequence[Fact], turn: int, value: str) -> list[Fact]:
    """Facts of a turn that hold a value: in their own words, else in the words they were drawn from."""
    folded = value.casefold()
    of_turn = [fact for fact in facts if fact.metadata.get(TURN) == str(turn)]
    worded = [fact for fact in of_turn if folded in f"{fact.text}\n{fact.object or ''}".casefold()]
    return worded or [fact for fact in of_turn if folded in fact.source_text.casefold()]


def _on_right_axis(fact: Fact, expect: Expect, true_then: bool) -> bool:
    """A changed or ended value has an end and was true when it was said; a corrected one is retired and never was."""
    if expect is Expect.CORRECTED:
        return fact.retired_at is not None and not true_then
    return fact.valid_to is not None and true_then


def _sections(outcomes: Sequence[PairOutcome]) -> dict[str, dict[str, Figure]]:
    changes = [outcome for outcome in outcomes if outcome.pair.expect is not Expect.KEPT]
    kept_pairs = [outcome for outcome in outcomes if outcome.pair.expect is Expect.KEPT]
    successors = [outcome for outcome in changes if outcome.pair.expect is not Expect.ENDED]
    overall: dict[str, Figure] = {"changes closed": _closed(changes)}
    for expect in (Expect.CHANGED, Expect.CORRECTED, Expect.ENDED):
        overall[f"· {expect}"] = _closed([o for o in changes if o.pair.expect is expect])
    overall["right axis, of the closed"] = Share.of(o.right_axis for o in changes if o.closed)
    overall["new value current"] = Share.of(o.new_is_current for o in successors)
    overall["wrong closings"] = _closed(kept_pairs)
    overall["old value held at all"] = Share.of(o.has_old_fact for o in outcomes)
    return {
        "pairs": overall,
        "changes closed, by language": _grouped(changes, lambda pair: pair.language),
        "wrong closings, by language": _grouped(kept_pairs, lambda pair: pair.language),
        "changes closed, by family of slots": _grouped(changes, lambda pair: _family(pair.slot)),
        "wrong closings, by family of slots": _grouped(kept_pairs, lambda pair: _family(pair.slot)),
        "wrong closings, by why it is kept": _grouped(kept_pairs, lambda pair: pair.kind),
    }


def _closed(outcomes: Sequence[PairOutcome]) -> Share:
    return Share.of(outcome.closed for outcome in outcomes)


def _grouped(outcomes: Sequence[PairOutcome], group: Callable[[Pair], str]) -> dict[str, Figure]:
    names = sorted({group(outcome.pair) for outcome in outcomes})
    return {name: _closed([o for o in outcomes if group(o.pair) == name]) for name in names}


def _family(slot: str) -> str:
    """The family of a slot; `favourite ...` and `project ...` go by their first word."""
    first = slot.split()[0]
    if first == "favourite":
        return "likes"
    return next(name for name, slots in FAMILIES.items() if slot in slots or first in slots)


def _miss(outcome: PairOutcome) -> Iterator[str]:
    pair = outcome.pair
    values = f"{pair.id} {pair.language} {pair.slot}: {pair.old_value!r} -> {pair.new_value!r}"
    text = pair.turns[pair.new].text
    if not outcome.has_old_fact:
        yield f"{values}: no fact holds the old value: {pair.turns[pair.old].text}"
    elif pair.expect is Expect.KEPT:
        if outcome.closed:
            yield f"{values}: closed, should be kept ({pair.kind}): {text}"
    elif not outcome.closed:
        yield f"{values}: still open, should be {pair.expect}: {text}"
    elif not outcome.right_axis:
        yield f"{values}: closed on the wrong axis, should be {pair.expect}: {text}"
    elif pair.new_value and not outcome.new_is_current:
        yield f"{values}: the new value is not current: {text}"
