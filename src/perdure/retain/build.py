"""Building facts: what the extractor finds becomes facts with their times, source and fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from perdure.domain.fact import GIVEN_RELATION, INSTRUCTION, ORIGIN, Fact
from perdure.domain.item import Item
from perdure.domain.time import Window
from perdure.domain.work import check_work
from perdure.ports.extractor import (
    BankContext,
    BankExtractor,
    ExtractedFact,
    Extractor,
    SteppedExtractor,
    Turn,
)
from perdure.retain.identity import dedupe_key, new_fact_id
from perdure.retain.index_text import NEIGHBOURS, IndexText, index_text_in_turns
from perdure.retain.plan import Plan
from perdure.retain.ready import ReadyExtractor, ReadyFact, as_stated, restated
from perdure.retain.relations import with_relations
from perdure.text.voice import nearest_other

SUSPECT_TRUST = 1
"""Trust of text that reads like orders to the agent, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A fact on its way into the store."""

    fact: Fact
    extracted: ExtractedFact
    plan: Plan
    position: int
    """Index of the extracted fact within its document, to which causes refer."""
    text: IndexText
    key: str
    """The dedupe key."""

    @property
    def turn_length(self) -> int:
        """Characters of the turn that the fact comes from."""
        return len(self.plan.turns[self.extracted.turn].turn.text)


def build_facts(
    extractor: Extractor, plans: Sequence[Plan], context: BankContext, now: datetime
) -> Iterator[list[Draft]]:
    """Yield the facts of all fresh turns, in order, as they are found."""
    in_call = count()
    in_document = [count() for _ in plans]
    turns = [[planned.turn for planned in plan.turns] for plan in plans]
    steps = (
        extractor.read(plans)
        if isinstance(extractor, ReadyExtractor)
        else _extracted(extractor, turns, context)
    )
    for step in with_relations(plans, steps):
        drafts = []
        for number, extracted in step:
            check_work()
            drafts.append(
                _draft(context.bank, plans[number], extracted, next(in_document[number]), next(in_call), now)
            )
        yield drafts


def _extracted(
    extractor: Extractor, documents: Sequence[Sequence[Turn]], context: BankContext
) -> Iterator[Sequence[tuple[int, ExtractedFact]]]:
    if isinstance(extractor, BankExtractor):
        yield from extractor.extract_in_bank(documents, context)
    elif isinstance(extractor, SteppedExtractor):
        yield from extractor.extract_in_steps(documents)
    else:
        yield [
            (number, fact) for number, facts in enumerate(extractor.extract_many(documents)) for fact in facts
        ]


def _draft(bank: str, plan: Plan, extracted: ExtractedFact, index: int, in_call: int, now: datetime) -> Draft:
    planned = plan.turns[extracted.turn]
    fact_id = new_fact_id(now, in_call, bank, plan.document.id, planned.chunk_id, extracted.text)
    first = max(extracted.turn - NEIGHBOURS, 0)
    around = [planned.turn for planned in plan.turns[first : extracted.turn + NEIGHBOURS + 1]]
    other = nearest_other(around, extracted.turn - first)
    fact = _fact(fact_id, bank, plan, extracted, index, other.speaker if other is not None else "", now)
    if isinstance(extracted, ReadyFact):
        fact = as_stated(fact, extracted, now)
    source = (extracted.start, extracted.start + len(extracted.source_text))
    text = index_text_in_turns(fact, around, extracted.turn - first, source, plan.document.title)
    return Draft(fact=fact, extracted=extracted, plan=plan, position=index, text=text, key=dedupe_key(fact))


def _fact(
    fact_id: str, bank: str, plan: Plan, extracted: ExtractedFact, index: int, listener: str, now: datetime
) -> Fact:
    planned = plan.turns[extracted.turn]
    item = plan.items[planned.item]
    said_at = planned.turn.said_at
    triple = extracted.triple
    valid = _valid(extracted, item, said_at, now)
    origin = item.stated_origin
    return Fact(
        id=fact_id,
        bank=bank,
        text=extracted.text,
        type=extracted.type,
        document_id=plan.document.id,
        chunk_id=planned.chunk_id,
        ordinal=index,
        source_text=extracted.source_text,
        speaker=planned.turn.speaker,
        listener=listener if planned.turn.is_talk else "",
        context=item.context,
        asked=extracted.asked,
        dates=extracted.dates,
        occurred_start=extracted.occurred.start if extracted.occurred else None,
        occurred_end=extracted.occurred.end if extracted.occurred else None,
        mentioned_at=said_at,
        valid_from=valid.start,
        valid_to=valid.end,
        recorded_at=now,
        subject=triple.subject if triple else None,
        relation=triple.relation if triple else None,
        object=triple.object if triple else None,
        tags=item.tags,
        metadata=item.metadata,
        topic=item.topic or extracted.topic,
        tier=item.tier,
        classification=item.classification,
        trust=min(item.trust, SUSPECT_TRUST) if INSTRUCTION in extracted.flags else item.trust,
        credibility=item.credibility,
        relevance=item.relevance,
        emotion=extracted.emotion,
        emotion_tags=extracted.emotion_tags,
        confidence=extracted.confidence,
        expires_at=item.expires_at,
        language=extracted.language,
        original_text=item.original_text,
        flags=extracted.flags if origin is None else (*extracted.flags, ORIGIN + origin),
    )


def _valid(extracted: ExtractedFact, item: Item, said_at: datetime | None, now: datetime) -> Window:
    """While it is true: as given with its relation or its item, as stated, else from when it was said; never from the future on."""
    stated = extracted.valid or Window()
    given = (extracted.triple and extracted.triple.given) or Window()
    start = (
        given.start or item.valid_from or stated.start or (min(said_at, now) if said_at is not None else None)
    )
    end = given.end or item.valid_to or stated.end
    if start is not None and end is not None and end < start:
        start = None
    return Window(start, end)


def keep_unchanged(
    plans: Sequence[Plan], drafts: Sequence[Draft]
) -> tuple[list[Draft], list[Fact], list[Fact]]:
    """(drafts that are new, facts that were drawn again from moved text, facts whose source is gone)."""
    waiting: dict[tuple[str, str, str], list[Fact]] = {}
    for plan in plans:
        for fact in plan.old_facts:
            waiting.setdefault(drawn_identity(fact), []).append(fact)
    fresh: list[Draft] = []
    moved: list[Fact] = []
    for draft in drafts:
        same = waiting.get(drawn_identity(draft.fact))
        if same:
            changes = draft.fact
            kept = same.pop(0)
            moved.append(
                replace(
                    stated_again(kept, draft),
                    chunk_id=changes.chunk_id,
                    ordinal=changes.ordinal,
                    metadata=changes.metadata,
                )
            )
        else:
            fresh.append(draft)
    return fresh, moved, [fact for facts in waiting.values() for fact in facts]


def stated_again(stored: Fact, draft: Draft) -> Fact:
    """Return a stored fact that was drawn again, with what its source states of it now.

    A relation that an earlier extractor read in its words goes.
    """
    if isinstance(draft.extracted, ReadyFact):
        return restated(stored, draft.fact)
    triple = draft.extracted.triple
    if triple is None or triple.given is None:
        is_read = stored.relation and not stored.made_by and GIVEN_RELATION not in stored.flags
        return replace(stored, subject=None, relation=None, object=None) if is_read and not triple else stored
    flags = tuple(dict.fromkeys((*stored.flags, GIVEN_RELATION)))
    changed = replace(
        stored, subject=triple.subject, relation=triple.relation, object=triple.object, flags=flags
    )
    if stored.end_recorded_at is not None:
        return changed
    return replace(changed, valid_from=draft.fact.valid_from, valid_to=draft.fact.valid_to)


def drawn_identity(fact: Fact) -> tuple[str, str, str]:
    """Equal for a stored fact and one drawn again from the same words of the same document."""
    said = fact.mentioned_at.isoformat() if fact.mentioned_at else ""
    return (fact.document_id or "", fact.text, said)


def drop_duplicates(
    drafts: Sequence[Draft], holders: Mapping[str, str]
) -> tuple[list[Draft], dict[str, str]]:
    """(drafts that say something new, new fact's id -> id of the fact that says it already).

    `holders` are the stored facts by their dedupe keys.
    """
    said = dict(holders)
    fresh: list[Draft] = []
    merged: dict[str, str] = {}
    for draft in drafts:
        if draft.key in said:
            merged[draft.fact.id] = said[draft.key]
        else:
            said[draft.key] = draft.fact.id
            fresh.append(draft)
    return fresh, merged
