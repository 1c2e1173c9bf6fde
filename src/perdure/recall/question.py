"""Understanding: a question's terms, entities, vector and window of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from perdure.dates import Anchor, read_anchors, read_dates
from perdure.domain.fact import Entity
from perdure.domain.recall import Hit, Query
from perdure.domain.time import Window
from perdure.domain.trace import Trace
from perdure.errors import ModelError, ModelMismatch
from perdure.ports.embedder import Vector
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import KeyedEntity, Store
from perdure.recall.fuse import fuse
from perdure.recall.parts import RecallComponents
from perdure.recall.request import RecallRequest
from perdure.text.asking import without_asking
from perdure.text.names import entity_keys, normal_name
from perdure.text.terms import index_terms, plain_words

_LONGEST_NAME = 5
_ANCHOR_DEPTH = 20


@dataclass(frozen=True, slots=True, eq=False)
class ParsedQuestion:
    """A question ready for the channels."""

    query: Query
    vector: Vector | None


def understand(parts: RecallComponents, request: RecallRequest, trace: Trace) -> ParsedQuestion:
    """Read the question; without an embedder the vector is None and the semantic channel is named as lost."""
    asked_at = request.asked_at or parts.clock()
    content = without_asking(request.query)
    vector, found = _embed_while_reading(parts, request, content, trace)
    query = Query(
        text=request.query,
        content=content,
        asked_at=asked_at,
        terms=dict.fromkeys(index_terms(content), 1.0),
        words=plain_words(content),
        entities={keyed.entity.id: 1.0 for keyed in found},
        entity_names=tuple(keyed.entity.name for keyed in found),
        window=request.temporal_window or spoken_window(request.query, asked_at),
    )
    if query.window is None:
        query = _anchored(parts, request, query, trace)
    return ParsedQuestion(query, vector)


def _embed_while_reading(
    parts: RecallComponents, request: RecallRequest, content: str, trace: Trace
) -> tuple[Vector | None, list[KeyedEntity]]:
    """The question's vector and entities; these are read while the model runs, which leaves the interpreter to others."""
    if parts.embedder is None:
        return _embed(parts, request.bank, content, trace), find_entities(parts, request)
    reading = parts.executor.submit(find_entities, parts, request)
    try:
        vector = _embed(parts, request.bank, content, trace)
    finally:
        waits = reading.cancel()
    return vector, find_entities(parts, request) if waits else reading.result()


def _embed(parts: RecallComponents, bank: str, text: str, trace: Trace) -> Vector | None:
    if parts.embedder is None:
        trace.failed("semantic", "no embedder is configured")
        return None
    for held in parts.store.banks([bank]):
        if held.model not in (None, parts.embedder.model):
            trace.failed("semantic", str(ModelMismatch(bank, str(held.model), str(parts.embedder.model))))
            return None
    try:
        return parts.embedder.embed_query(text)
    except ModelError as error:
        trace.failed("semantic", str(error))
        return None


def find_entities(parts: RecallComponents, request: RecallRequest) -> list[KeyedEntity]:
    """The bank's entities that the question or the hints name; longer names win over their parts."""
    names = [*_spans(request.query), *request.entity_hints]
    keys = {normal_name(name): name for name in names}
    keys.pop("", None)
    found = parts.store.entities(request.bank, keys=sorted(keys))
    wanted = {key for name in names for key in entity_keys(name)[:1]} | set(keys)
    exact = [keyed for keyed in found if _names(keyed) & wanted]
    return _longest(exact)


def entities_named(store: Store, bank: str, name: str) -> list[Entity]:
    """The entities of that name or alias in any case, most mentioned first."""
    wanted = name.casefold()
    return [
        keyed.entity
        for keyed in store.entities(bank, keys=[normal_name(name)])
        if wanted in (known.casefold() for known in (keyed.entity.name, *keyed.entity.aliases))
    ]


def _names(keyed: KeyedEntity) -> set[str]:
    return {normal_name(name) for name in (keyed.entity.name, *keyed.entity.aliases)}


def _longest(found: list[KeyedEntity]) -> list[KeyedEntity]:
    """Leave out entities whose name is a part of another found one's ("Alice" beside "Alice Chen")."""
    words = {keyed.entity.id: set(normal_name(keyed.entity.name).split()) for keyed in found}
    return [
        keyed
        for keyed in found
        if not any(words[keyed.entity.id] < words[other.entity.id] for other in found)
    ]


def _spans(text: str) -> list[str]:
    """All runs of up to five words."""
    words = text.replace("?", " ").replace(",", " ").split()
    return [
        " ".join(words[start : start + size])
        for size in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - size + 1)
    ]


def spoken_window(text: str, asked_at: datetime) -> Window | None:
    """The window that the question's own words give, None when they give none."""
    for span in read_dates(text, asked_at):
        if span.window is not None and span.kind in ("date", "range", "datetime", "datetimerange"):
            return Window(span.window.start, span.window.end)
    return None


def _anchored(parts: RecallComponents, request: RecallRequest, query: Query, trace: Trace) -> Query:
    """Bound the window by the date of an event that memory holds ("before Alice joined Google")."""
    for anchor in read_anchors(request.query):
        moment = _date_of(parts, request, anchor.text, trace)
        if moment is not None:
            return replace(query, window=_bound(anchor, moment), anchors=(anchor.text,))
    return query


def _bound(anchor: Anchor, moment: Window) -> Window:
    if anchor.relation in ("before", "until"):
        return Window(None, moment.start)
    if anchor.relation in ("after", "since"):
        return Window(moment.start if anchor.relation == "since" else moment.end or moment.start, None)
    return moment


def _date_of(parts: RecallComponents, request: RecallRequest, event: str, trace: Trace) -> Window | None:
    """When the best match of the event happened."""
    wanted = request.wanted(parts.clock())
    hits: dict[str, Sequence[Hit]] = {
        "keyword": parts.store.search(
            request.bank, KeywordProbe(dict.fromkeys(index_terms(event), 1.0)), wanted, _ANCHOR_DEPTH
        )
    }
    vector = _embed(parts, request.bank, event, trace)
    if vector is not None:
        hits["semantic"] = parts.store.search(request.bank, SemanticProbe(vector), wanted, _ANCHOR_DEPTH)
    for fact in parts.store.facts(request.bank, fuse(hits, limit=3).ids):
        start = fact.occurred_start or fact.mentioned_at
        if start is not None:
            return Window(start, max(fact.occurred_end or start, start))
    return None
