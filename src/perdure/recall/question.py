"""Reading a question: its terms, entities, vector, who asks, and the window of time that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from perdure.dates import Anchor, read_anchors, read_dates
from perdure.domain.fact import Entity
from perdure.domain.item import SPEAKER, USER_ROLES
from perdure.domain.recall import Hit, Query
from perdure.domain.time import Window
from perdure.errors import ModelError, ModelMismatch, public_message
from perdure.ports.embedder import Vector
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import KeyedEntity, Rows
from perdure.recall.components import RecallRun
from perdure.recall.fuse import fuse_by_reciprocal_rank
from perdure.text.asking import read_only_time, speaks_of_asker, speaks_of_user, without_asking
from perdure.text.names import entity_keys, normal_name
from perdure.text.terms import index_terms, plain_words

MAX_NAME_WORDS = 5
ANCHOR_DEPTH = 20
"""Hits per channel when the event is looked for that bounds a window."""
ANCHOR_FACTS = 3
LONG_QUESTION = 2_000
"""Characters above which a question is a pasted text: its terms are looked for, the rarest first, but models read its ends."""
READ_AT_ENDS = 100
"""Characters of either end that are read of such a text, where a question about it stands."""


@dataclass(frozen=True, slots=True, eq=False)
class ParsedQuestion:
    """A question ready for the channels."""

    query: Query
    vector: Vector | None


class _TimeSpan(NamedTuple):
    """Words of a question that give a window."""

    start: int
    end: int
    window: Window


def parse_question(run: RecallRun) -> ParsedQuestion:
    """Read the question; without an embedder the vector is None and the semantic channel is named as lost."""
    request = run.request
    asked_at = request.asked_at or run.components.clock()
    question = without_middle(request.query)
    times = _time_spans(question, asked_at)
    window = request.hints.window or (times[0].window if times else None)
    only_time = read_only_time(question, [(time.start, time.end) for time in times])
    if only_time is not None and window is not None:
        query = Query(
            text=request.query, content="", asked_at=asked_at, window=window, only_time=True,
            asks_for_told=only_time.told,
        )  # fmt: skip
        return ParsedQuestion(query, None)
    content = without_asking(question)
    vector, entities = _embed_and_find_entities(run, content, [question, *request.hints.entities])
    asker = asker_of(run.reading, question, request.asker)
    whole = content if question is request.query else request.query
    query = Query(
        text=request.query,
        content=content,
        asked_at=asked_at,
        asker=asker,
        # Statements are indexed with their speaker, so the asker's name finds what "I" said.
        terms=dict.fromkeys(index_terms(f"{whole} {asker or ''}"), 1.0),
        words=plain_words(content),
        entities={entity.id: 1.0 for entity in entities},
        entity_names=tuple(entity.name for entity in entities),
        window=window,
        about_user=speaks_of_user(request.query) or _is_user(run.reading, entities),
    )
    return ParsedQuestion(query if window is not None else _bound_by_event(run, query), vector)


def without_middle(question: str) -> str:
    """Return a question, of a pasted text its two ends, cut between words where there are any."""
    if len(question) <= LONG_QUESTION:
        return question
    start, end = question[:READ_AT_ENDS], question[-READ_AT_ENDS:]
    return f"{start.rsplit(maxsplit=1)[0] if start.strip() else ''}\n{end.split(maxsplit=1)[-1] if end.strip() else ''}"


def asker_of(rows: Rows, question: str, asker: str | None) -> str | None:
    """Return the name under which the asker of a first-person question speaks in memory; None where there is no single one.

    That is the given asker; without one, or for "user", the only name that spoke with the role of a user, else the only
    person who spoke at all.
    """
    if not speaks_of_asker(question):
        return None
    if asker is not None and asker.strip() and asker.strip().lower() not in USER_ROLES:
        return asker.strip()
    speakers = {record.id: record.body.get("role", "") for record in rows.records(SPEAKER)}
    named = {name: role for name, role in speakers.items() if name.lower() not in USER_ROLES}
    users = [name for name, role in named.items() if role]
    if len(users) == 1:
        return users[0]
    return next(iter(named)) if len(speakers) == len(named) == 1 else None


def _is_user(rows: Rows, entities: Sequence[Entity]) -> bool:
    """Return whether one of the entities is somebody who spoke as the user."""
    names = {normal_name(name) for entity in entities for name in (entity.name, *entity.aliases)}
    speakers = rows.records(SPEAKER) if names else ()
    return any(record.body.get("role") and normal_name(record.id) in names for record in speakers)


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


def _time_spans(text: str, asked_at: datetime) -> list[_TimeSpan]:
    return [
        _TimeSpan(span.start, span.end, Window(span.window.start, span.window.end))
        for span in read_dates(text, asked_at, prefer="sentence")
        if span.window is not None and span.kind in ("date", "range", "datetime", "datetimerange")
    ]


def _bound_by_event(run: RecallRun, query: Query) -> Query:
    """Bound the window by the date of an event that memory holds ("before Alice joined Google")."""
    for anchor in read_anchors(without_middle(query.text)):
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
