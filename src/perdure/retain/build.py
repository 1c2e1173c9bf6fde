"""Drawing facts: the extractor's findings become facts with their times, source and fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from perdure.domain.fact import Fact
from perdure.domain.item import Item
from perdure.domain.time import Window
from perdure.ports.extractor import ExtractedFact, Extractor, SteppedExtractor, Turn
from perdure.retain.identity import digest
from perdure.retain.plan import Plan

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


def build_facts(
    extractor: Extractor, bank: str, plans: Sequence[Plan], now: datetime
) -> Iterator[list[Draft]]:
    """The facts of all fresh turns, in order, as they are found."""
    counts = [0] * len(plans)
    for step in _extracted(extractor, [[planned.turn for planned in plan.turns] for plan in plans]):
        drafts = []
        for number, found in step:
            plan, index = plans[number], counts[number]
            fact = _fact(bank, plan, found, index, now)
            drafts.append(Draft(fact=fact, extracted=found, plan=plan, position=index))
            counts[number] += 1
        yield drafts


def _extracted(
    extractor: Extractor, documents: Sequence[Sequence[Turn]]
) -> Iterator[Sequence[tuple[int, ExtractedFact]]]:
    if isinstance(extractor, SteppedExtractor):
        yield from extractor.extract_in_steps(documents)
    else:
        yield [
            (number, fact) for number, facts in enumerate(extractor.extract_many(documents)) for fact in facts
        ]


def _fact(bank: str, plan: Plan, found: ExtractedFact, index: int, now: datetime) -> Fact:
    planned = plan.turns[found.turn]
    item = plan.items[planned.item]
    said_at = planned.turn.said_at
    triple = found.triple
    valid = _valid(found, item, said_at, now)
    return Fact(
        id=digest(bank, plan.document.id, planned.chunk_id, found.text, str(index), now.isoformat()),
        bank=bank,
        text=found.text,
        type=found.type,
        document_id=plan.document.id,
        chunk_id=planned.chunk_id,
        ordinal=index,
        source_text=found.source_text,
        speaker=planned.turn.speaker,
        context=item.context,
        occurred_start=found.occurred.start if found.occurred else None,
        occurred_end=found.occurred.end if found.occurred else None,
        mentioned_at=said_at,
        valid_from=valid.start,
        valid_to=valid.end,
        recorded_at=now,
        subject=triple.subject if triple else None,
        relation=triple.relation if triple else None,
        object=triple.object if triple else None,
        tags=item.tags,
        metadata=item.metadata,
        topic=item.topic or found.topic,
        tier=item.tier,
        classification=item.classification,
        trust=min(item.trust, SUSPECT_TRUST) if "instruction" in found.flags else item.trust,
        credibility=item.credibility,
        relevance=item.relevance,
        emotion=found.emotion,
        emotion_tags=found.emotion_tags,
        confidence=found.confidence,
        expires_at=item.expires_at,
        language=found.language,
        original_text=item.original_text,
        flags=found.flags,
    )


def _valid(found: ExtractedFact, item: Item, said_at: datetime | None, now: datetime) -> Window:
    """While it is true: as given, as stated, else from when it was said; never from the future on."""
    stated = found.valid or Window()
    start = item.valid_from or stated.start or (min(said_at, now) if said_at is not None else None)
    end = item.valid_to or stated.end
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
            old = same.pop(0)
            moved.append(
                replace(
                    old,
                    chunk_id=draft.fact.chunk_id,
                    ordinal=draft.fact.ordinal,
                    metadata=draft.fact.metadata,
                )
            )
        else:
            fresh.append(draft)
    return fresh, moved, [fact for facts in waiting.values() for fact in facts]


def drawn_identity(fact: Fact) -> tuple[str, str, str]:
    """Equal for a stored fact and one drawn again from the same words of the same document."""
    said = fact.mentioned_at.isoformat() if fact.mentioned_at else ""
    return (fact.document_id or "", fact.text, said)
