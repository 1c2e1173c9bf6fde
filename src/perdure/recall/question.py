"""Reading a question: its terms, entities, vector and window of time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from perdure.dates import Anchor, read_anchors, read_dates
from perdure.domain.fact import Entity
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit, Query, Stance
from perdure.domain.time import Window
from perdure.errors import ModelError, ModelMismatch, public_message
from perdure.ports.embedder import Vector
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import KeyedEntity, Rows
from perdure.recall.asker import asker_of
from perdure.recall.components import RecallRun
from perdure.recall.fuse import fuse_by_reciprocal_rank
from perdure.recall.relatives import named_relative
from perdure.text.asked_slot import AskedSlot, read_asked_slot
from perdure.text.asking import as_question, without_asking
from perdure.text.names import entity_keys, normal_name
from perdure.text.only_time import read_only_time
from perdure.text.stance import TimeAsked, is_past_tense, read_stance
from perdure.text.terms import index_terms, plain_words
from perdure.text.third_person import THE_USER, in_third_person

MAX_NAME_WORDS = 5
ANCHOR_DEPTH = 20
"""Hits per channel when the event is looked for that bounds a window."""
ANCHOR_FACTS = 3
_SEASON = 100.0
"""Days of the longest window that may be of another year than it was read."""
_NAMED_BESIDE = re.compile(r"\b(?:at|in|with|for|on|from) (?:the )?(?-i:[A-ZÀ-ÖØ-Þ])")
"""Something that tells which value of the past is meant ("my boss at Vattra")."""
_TIME_CLAUSE = re.compile(
    r"\s+(?:before|prior to|until|at the time|back then|back when)\b.*?(?=[?.!]*$)", re.IGNORECASE
)
_DANGLING = re.compile(
    r"(?:\s+(?:in|on|at|over|during|around|since|until|by|from|through(?:out)?|back))*(?:\s+(?:this|last|the|of|start|beginning|end|middle|early|late|mid))*\s*$",
    re.IGNORECASE,
)
_TIME_WORDS = re.compile(
    r"\b(?:use[d]? to|previous(?:ly)?|former(?:ly)?|old|originally|earlier)\s", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, eq=False)
class ParsedQuestion:
    """A question ready for the channels."""

    query: Query
    vector: Vector | None
    where: Filter
    """What may be recalled: what is over too, where the question asks for the past."""
    slot: AskedSlot | None = None
    """What the question asks for, where its words say so."""


class _TimeSpan(NamedTuple):
    """Words of a question that give a window."""

    start: int
    end: int
    window: Window


def parse_question(run: RecallRun) -> ParsedQuestion:
    """Read the question; without an embedder the vector is None and the semantic channel is named as lost."""
    request = run.request
    asked_at = request.asked_at or run.components.clock()
    times = _time_spans(request.query, asked_at)
    window = request.hints.window or (times[0].window if times else None)
    if window is not None and request.hints.window is None and is_past_tense(request.query):
        window = _before(window, asked_at)
    asked = read_stance(request.query, past_window=_is_over(window, asked_at))
    only_time = read_only_time(request.query, [(time.start, time.end) for time in times])
    if only_time is not None and window is not None:
        return _only_time(run, asked_at, window, told=only_time.told)
    run = replace(run, where=admitting(run.where, asked.stance))
    asker = asker_of(run.reading, request.query, request.asker)
    question = as_question(request.query)
    told = question if asker is None else in_third_person(question, asker)
    told = named_relative(run.reading, run.where.changed(include_ended=True), told)
    # Facts of a user without a name are told apart by what they say, not by "the user", which most of them hold.
    content = without_asking(request.query if asker == THE_USER else told)
    slot = read_asked_slot(told)
    if _asks_for_former_value(slot, asked, told):
        asked = replace(asked, stance=Stance.PAST)
    vector, entities = _embed_and_find_entities(run, content, [told, *request.hints.entities])
    query = Query(
        text=request.query,
        content=content,
        asked_at=asked_at,
        asker=asker,
        terms=dict.fromkeys(index_terms(content), 1.0),
        words=plain_words(content),
        entities={entity.id: 1.0 for entity in entities},
        entity_names=tuple(entity.name for entity in entities),
        window=window,
        stance=asked.stance,
        before=asked.before,
        earliest=asked.earliest,
        judged=_without_time(told, asked_at)
        if slot is not None and slot.one and asked.stance is Stance.PAST
        else without_asking(told),
        slot=(slot.subject, slot.relations[0]) if slot is not None else None,
    )
    bound = query if window is not None else _bound_by_event(run, query)
    return ParsedQuestion(bound, vector, run.where, slot)


def _asks_for_former_value(slot: AskedSlot | None, asked: TimeAsked, question: str) -> bool:
    """Whether a plain past tense asks for what was ("Who was Ann married to?"), with nothing beside it that says which."""
    is_of_table = slot is not None and slot.one and not slot.is_open
    return is_of_table and asked.plainly_past and _NAMED_BESIDE.search(question) is None


def _only_time(run: RecallRun, asked_at: datetime, window: Window, *, told: bool) -> ParsedQuestion:
    """A question for what a time holds: nothing is searched for, and what is over since then counts too."""
    query = Query(
        text=run.request.query, content="", asked_at=asked_at, window=window, stance=Stance.ANY, only_time=True,
        asks_for_told=told,
    )  # fmt: skip
    return ParsedQuestion(query, None, admitting(run.where, Stance.ANY))


def admitting(where: Filter, stance: Stance) -> Filter:
    """The filter, which admits what is over when the question asks for it; one that names a moment stays as it is."""
    return (
        where if stance is Stance.NOW or where.as_of.valid is not None else where.changed(include_ended=True)
    )


def _before(window: Window, now: datetime) -> Window:
    """A window ahead as that of the year before: a question in the past tense asks for no time to come."""
    if window.start is None or window.end is None or window.start <= now or (window.days or 0.0) > _SEASON:
        return window
    return Window(_year_before(window.start), _year_before(window.end))


def _year_before(moment: datetime) -> datetime:
    return moment.replace(year=moment.year - 1, day=min(moment.day, 28) if moment.month == 2 else moment.day)


def _is_over(window: Window | None, now: datetime) -> bool:
    return window is not None and window.end is not None and window.end <= now


def _embed_and_find_entities(
    run: RecallRun, content: str, naming: Sequence[str]
) -> tuple[Vector | None, list[Entity]]:
    """Entities are looked up while the model runs (it releases the GIL); where no thread is free, after it."""
    lookup = run.components.executor.submit(find_entities, run.reading, naming)
    try:
        vector = _embed(run, content)
    finally:
        not_begun = lookup.cancel()
    return vector, find_entities(run.reading, naming) if not_begun else lookup.result()


def _embed(run: RecallRun, text: str) -> Vector | None:
    embedder = run.components.embedder
    if embedder is None:
        run.trace.failed("semantic", "no embedder is configured")
        return None
    bank = run.reading.bank()
    if bank is not None and bank.model not in (None, embedder.model):
        run.trace.failed("semantic", str(ModelMismatch(bank.id, str(bank.model), str(embedder.model))))
        return None
    try:
        return embedder.embed_query(text)
    except ModelError as error:
        run.trace.failed("semantic", public_message(error))
        return None


def find_entities(rows: Rows, naming: Sequence[str]) -> list[Entity]:
    """The bank's entities that the question or the hints name; longer names win over their parts."""
    question, *hints = naming
    names = [*_word_runs(question), *hints]
    keys = {normal_name(name) for name in names} - {""}
    keys_of_names = keys | {key for name in names for key in entity_keys(name)[:1]}
    exact = [keyed for keyed in rows.entities(keys=sorted(keys)) if _normal_names(keyed) & keys_of_names]
    return _without_parts([keyed.entity for keyed in exact])


def entities_named(rows: Rows, name: str) -> list[Entity]:
    """The entities of that name or alias in any case, most mentioned first."""
    return [
        keyed.entity
        for keyed in rows.entities(keys=[normal_name(name)])
        if name.casefold() in (own.casefold() for own in (keyed.entity.name, *keyed.entity.aliases))
    ]


def _normal_names(keyed: KeyedEntity) -> set[str]:
    return {normal_name(name) for name in (keyed.entity.name, *keyed.entity.aliases)}


def _without_parts(entities: list[Entity]) -> list[Entity]:
    """Leave out entities whose name is a part of another one's ("Alice" beside "Alice Chen")."""
    words = {entity.id: set(normal_name(entity.name).split()) for entity in entities}
    return [one for one in entities if not any(words[one.id] < words[other.id] for other in entities)]


def _word_runs(text: str) -> list[str]:
    """All runs of up to five words."""
    words = text.replace("?", " ").replace(",", " ").split()
    return [
        " ".join(words[start : start + size])
        for size in range(1, MAX_NAME_WORDS + 1)
        for start in range(len(words) - size + 1)
    ]


def spoken_window(text: str, asked_at: datetime) -> Window | None:
    """The window that the question's own words give, None when they give none."""
    return next((span.window for span in _time_spans(text, asked_at)), None)


def _time_spans(text: str, asked_at: datetime) -> list[_TimeSpan]:
    return [
        _TimeSpan(span.start, span.end, Window(span.window.start, span.window.end))
        for span in read_dates(text, asked_at, prefer="sentence")
        if span.window is not None and span.kind in ("date", "range", "datetime", "datetimerange")
    ]


def _without_time(content: str, asked_at: datetime) -> str:
    """A question without the words that say when: which value held then is judged by the facts' times."""
    bare = _TIME_CLAUSE.sub("", content)
    for span in reversed(read_dates(bare, asked_at, prefer="sentence")):
        if span.window is not None:
            bare = _DANGLING.sub("", bare[: span.start]) + bare[span.end :]
    return " ".join(_TIME_WORDS.sub(" ", bare).split())


def _bound_by_event(run: RecallRun, query: Query) -> Query:
    """Bound the window by the date of an event that memory holds ("before Alice joined Google")."""
    for anchor in read_anchors(query.text):
        happened = _date_of_event(run, anchor.text)
        if happened is not None:
            return replace(query, window=_bounded_window(anchor, happened), anchors=(anchor.text,))
    return query


def _bounded_window(anchor: Anchor, happened: Window) -> Window:
    if anchor.relation in ("before", "until"):
        return Window(None, happened.start)
    if anchor.relation == "since":
        return Window(happened.start, None)
    if anchor.relation == "after":
        return Window(happened.end or happened.start, None)
    return happened


def _date_of_event(run: RecallRun, event: str) -> Window | None:
    """When the best match of the event happened."""
    terms = KeywordProbe(dict.fromkeys(index_terms(event), 1.0))
    hits: dict[str, list[Hit]] = {"keyword": run.reading.search(terms, run.where, ANCHOR_DEPTH)}
    vector = _embed(run, event)
    if vector is not None:
        hits["semantic"] = run.reading.search(SemanticProbe(vector), run.where, ANCHOR_DEPTH)
    best = fuse_by_reciprocal_rank(hits, ANCHOR_FACTS)
    for fact in run.reading.facts([candidate.fact_id for candidate in best]):
        start = fact.occurred_start or fact.mentioned_at
        if start is not None:
            return Window(start, max(fact.occurred_end or start, start))
    return None
