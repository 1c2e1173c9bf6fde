"""Facts that another memory has drawn already: they are stored as worded there, with the times that it states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from perdure.domain.fact import GIVEN_RELATION, INSTRUCTION, Fact
from perdure.domain.imported import ImportedDocument, ImportedFact
from perdure.domain.orders import looks_like_instructions
from perdure.ports.extractor import Cause, ExtractedFact, Extractor, Triple, Turn
from perdure.ports.tagger import Mention
from perdure.retain.plan import Plan

CAUSE_CONFIDENCE = 1.0
"""Of a cause that the source states as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyFact(ExtractedFact):
    """An extracted fact and what its source states of it, which goes before what is read here."""

    stated: ImportedFact


class ReadyExtractor:
    """Gives the facts of imported documents; `reader` finds the names and dates in their words where the source states none."""

    def __init__(self, documents: Sequence[ImportedDocument], reader: Extractor) -> None:
        self._facts = {document.id: document.facts or () for document in documents}
        self._reader = reader

    @property
    def name(self) -> str:
        """Name of the extractor."""
        return "ready"

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        """None: facts belong to documents, which turns do not name."""
        return []

    def extract_many(self, documents: Sequence[Sequence[Turn]]) -> list[list[ExtractedFact]]:
        """None, as `extract`."""
        return [[] for _ in documents]

    def read(self, plans: Sequence[Plan]) -> Iterator[list[tuple[int, ExtractedFact]]]:
        """Yield the facts of each plan's document whose text is to be read, with the document's number."""
        turns = [[_turn_of(plan, fact) for fact in self._facts[plan.document.id]] for plan in plans]
        fresh = [
            [place for place, turn in enumerate(own) if turn is not None and plan.turns[turn].turn.fresh]
            for plan, own in zip(plans, turns, strict=True)
        ]
        texts = [
            [_as_turn(self._facts[plan.document.id][place])]
            for plan, places in zip(plans, fresh, strict=True)
            for place in places
        ]
        readings = iter(self._reader.extract_many(texts))
        for number, (plan, own, places) in enumerate(zip(plans, turns, fresh, strict=True)):
            facts = self._facts[plan.document.id]
            order = {place: position for position, place in enumerate(places)}
            step: list[tuple[int, ExtractedFact]] = []
            for place in places:
                turn = own[place]
                assert turn is not None
                causes = [order[cause] for cause in facts[place].causes if cause in order and cause != place]
                ready = _ready(facts[place], turn, plan.turns[turn].turn.text, next(readings), causes)
                step.append((number, ready))
            yield step


def _turn_of(plan: Plan, fact: ImportedFact) -> int | None:
    """Return the turn of the fact's item that holds its words, else the first one."""
    own = [index for index, planned in enumerate(plan.turns) if planned.item == fact.item]
    holding = (index for index in own if fact.text in plan.turns[index].turn.text)
    return next(holding, own[0] if own else None)


def _as_turn(fact: ImportedFact) -> Turn:
    return Turn(text=fact.text, said_at=fact.said_at)


def _ready(
    fact: ImportedFact, turn: int, turn_text: str, reading: Sequence[ExtractedFact], causes: Sequence[int]
) -> ReadyFact:
    """Return the fact as stated; of one whose words are read as one statement, times and relation are read too."""
    only = reading[0] if len(reading) == 1 else None
    start = turn_text.find(fact.text)
    flags = {flag for read in reading for flag in read.flags if flag != INSTRUCTION}
    if looks_like_instructions(fact.text):
        flags.add(INSTRUCTION)
    if fact.relation:
        flags.add(GIVEN_RELATION)
    return ReadyFact(
        text=fact.text,
        turn=turn,
        source_text=fact.text if start >= 0 else "",
        start=max(start, 0),
        type=fact.type,
        mentions=_mentions(fact, reading),
        triple=_triple(fact, only),
        occurred=fact.occurred or (only.occurred if only else None),
        valid=fact.valid or (only.valid if only else None),
        causes=tuple(Cause(cause=cause, confidence=CAUSE_CONFIDENCE) for cause in causes),
        confidence=fact.confidence if fact.confidence is not None else (only.confidence if only else None),
        emotion=only.emotion if only else 0.0,
        emotion_tags=only.emotion_tags if only else (),
        topic=fact.topic or (only.topic if only else None),
        language=only.language if only else "en",
        flags=tuple(sorted(flags)),
        stated=fact,
    )


def _triple(fact: ImportedFact, read: ExtractedFact | None) -> Triple | None:
    if fact.relation:
        return Triple(subject=fact.subject, relation=fact.relation, object=fact.object)
    return read.triple if read else None


def _mentions(fact: ImportedFact, reading: Sequence[ExtractedFact]) -> tuple[Mention, ...]:
    """Return the entities that the source names, and those read in the words; a name outside the words stands at their beginning."""
    related = [(part, "concept") for part in (fact.subject, fact.object) if fact.relation and part]
    named = list(fact.entities) or related
    stated = {name.casefold() for name, _ in named}
    read = [(mention.text, mention.type) for one in reading for mention in one.mentions]
    named += [(name, kind) for name, kind in read if name in fact.text and name.casefold() not in stated]
    mentions = []
    for name, kind in dict.fromkeys(named):
        start = fact.text.find(name)
        mentions.append(Mention(name, kind, max(start, 0), start + len(name) if start >= 0 else 0))
    return tuple(mentions)


def as_stated(fact: Fact, ready: ReadyFact, now: datetime) -> Fact:
    """Return the fact with what its source states of it alone, rather than of the text it stands in."""
    stated = ready.stated
    said_at = stated.said_at
    start = ready.valid.start if ready.valid else None
    end = ready.valid.end if ready.valid else None
    if start is None and said_at is not None and (end is None or said_at <= end):
        start = min(said_at, now)
    return replace(
        fact,
        mentioned_at=said_at,
        speaker=stated.speaker or fact.speaker,
        valid_from=start,
        valid_to=end,
        tags=fact.tags | stated.tags,
        metadata={**fact.metadata, **stated.metadata},
        context=stated.context or fact.context,
        expires_at=stated.expires_at or fact.expires_at,
    )


def restated(stored: Fact, again: Fact) -> Fact:
    """Return a stored fact with what its source now states of it; an end that another fact put to it stays."""
    if stored.end_recorded_at is not None:
        again = replace(again, valid_from=stored.valid_from, valid_to=stored.valid_to)
    return replace(
        stored,
        type=again.type,
        occurred_start=again.occurred_start,
        occurred_end=again.occurred_end,
        valid_from=again.valid_from,
        valid_to=again.valid_to,
        subject=again.subject,
        relation=again.relation,
        object=again.object,
        speaker=again.speaker,
        context=again.context,
        tags=again.tags,
        topic=again.topic,
        expires_at=again.expires_at,
    )
