"""Features: what the channels will look at, made from a fact and its surroundings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from perdure.domain.fact import Fact
from perdure.ports.embedder import Embedder, LateInteraction, Matrix, Vector
from perdure.ports.extractor import Turn
from perdure.ports.store import Features
from perdure.retain.build import Draft
from perdure.retain.embed import embed_texts
from perdure.retain.neighbours import NEIGHBOURS, listener, neighbouring_text, turn_in_place
from perdure.retain.smooth import smooth_after
from perdure.text.passage import join_passage
from perdure.text.signature import signature
from perdure.text.terms import index_terms, plain_words
from perdure.text.voice import name_of

CONTEXT_WEIGHT = 0.5
TITLE_WEIGHT = 1.0
"""How often the title's terms count on top of once."""
RELATION_WEIGHT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexText:
    """The texts under which a fact can be found."""

    own: str
    """Embedded, and indexed with full weight: who said it to whom, the fact and its date."""
    title: str
    context: str
    """Indexed with less weight: the rest of the turn and the turns around it."""
    turn: str
    """The turn in its place, verbatim: what the reranker reads beside the fact."""


def index_text(
    fact: Fact, *, title: str = "", context: str = "", turn: str = "", said_to: str = ""
) -> IndexText:
    """What to index of a fact that stands in these surroundings."""
    return IndexText(
        own=_headed(_dated(_told(fact, said_to), fact), title),
        title=title,
        context=context,
        turn=_headed(_dated(turn, fact), title) if turn else "",
    )


def _told(fact: Fact, said_to: str) -> str:
    """The fact after who said it to whom, by name (docs/decisions/who-to-whom.md)."""
    speaker = name_of(fact.speaker)
    if not speaker:
        return fact.text
    voices = f"{speaker} to {said_to}" if said_to else speaker
    return f"{voices}: {fact.text.removeprefix(f'{speaker}: ')}"


def _headed(text: str, title: str) -> str:
    return text if not title or title.casefold() in text.casefold() else f"{title}. {text}"


def _dated(text: str, fact: Fact) -> str:
    said = fact.mentioned_at
    return text if said is None else f"{text} ({said.day} {said:%B %Y})"


def weigh_terms(fact: Fact, texts: IndexText) -> dict[str, float]:
    """Term -> weight: own words fully (once for fact and source together), title more, context and relation less."""
    terms: Counter[str] = index_terms(texts.own)
    for term, count in index_terms(f"{fact.speaker} {fact.source_text}").items():
        terms[term] = max(terms[term], count)
    weights = {term: float(count) for term, count in terms.items()}
    relation = (fact.relation or "").replace("_", " ")
    for text, weight in (
        (texts.title, TITLE_WEIGHT),
        (texts.context, CONTEXT_WEIGHT),
        (relation, RELATION_WEIGHT),
    ):
        for term, count in index_terms(text).items():
            weights[term] = weights.get(term, 0.0) + weight * count
    return weights


@dataclass(frozen=True, slots=True, eq=False)
class Featured:
    """Features of the new facts, and those that change of facts already stored before them."""

    fresh: list[Features]
    changed: Mapping[str, Features]


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """A draft with its index texts and what needs no model."""

    draft: Draft
    text: IndexText
    features: Features


def describe(draft: Draft, key: str) -> Described:
    """The draft's features, all but the vectors."""
    text = _texts_of(draft)
    return Described(draft, text, _features(draft.fact, text, key, {}, b""))


def embedded_text(draft: Draft) -> str:
    """What is embedded of a draft."""
    turns, index = _turns_around(draft)
    return index_text(draft.fact, title=draft.plan.document.title, said_to=listener(turns, index)).own


def add_vectors(
    described: Sequence[Described],
    vectors: Matrix | None,
    tokens: Sequence[bytes],
    earlier: Mapping[str, Mapping[str, Features]],
) -> Featured:
    """The drafts' features with their vectors; `earlier` are the last facts of documents added to."""
    context, changed = _context_vectors([item.draft for item in described], vectors, earlier)
    fresh = [
        replace(
            item.features,
            vectors={} if vectors is None else {"fact": vectors[row], "context": context[row]},
            tokens=tokens[row],
        )
        for row, item in enumerate(described)
    ]
    return Featured(fresh, changed)


def _texts_of(draft: Draft) -> IndexText:
    found = draft.extracted
    turns, index = _turns_around(draft)
    return index_text(
        draft.fact,
        title=draft.plan.document.title,
        said_to=listener(turns, index),
        context=neighbouring_text(turns, index, found.source_text),
        turn=turn_in_place(turns, index, found.start, found.start + len(found.source_text)),
    )


def _turns_around(draft: Draft) -> tuple[list[Turn], int]:
    """The turn that a draft comes from with its neighbours, and its place among them."""
    index = draft.extracted.turn
    first = max(index - NEIGHBOURS, 0)
    return [planned.turn for planned in draft.plan.turns[first : index + NEIGHBOURS + 1]], index - first


def _features(
    fact: Fact, text: IndexText, key: str, vectors: Mapping[str, Vector], tokens: bytes
) -> Features:
    passage = join_passage(text.turn, text.own)
    return Features(
        vectors=vectors,
        terms=weigh_terms(fact, text),
        words=plain_words(f"{text.own} {fact.source_text}"),
        signature=signature(fact.text),
        tokens=tokens,
        dedupe_key=key,
        passage="" if passage == fact.text else passage,
    )


def _context_vectors(
    drafts: Sequence[Draft], vectors: Matrix | None, earlier: Mapping[str, Mapping[str, Features]]
) -> tuple[Matrix, dict[str, Features]]:
    """Vectors smoothed within each document; facts stored before the new ones get theirs anew."""
    if vectors is None:
        return np.empty((0, 0), dtype=np.float32), {}
    context = np.empty_like(vectors)
    changed: dict[str, Features] = {}
    rows_of: dict[str, list[int]] = {}
    for row, draft in enumerate(drafts):
        rows_of.setdefault(draft.plan.document.id, []).append(row)
    for document_id, rows in rows_of.items():
        lengths = drafts[rows[0]].plan.earlier
        found = earlier.get(document_id, {})
        stored = {i: found[i] for i in lengths if i in found and "fact" in found[i].vectors}
        before, fresh = smooth_after(
            [(features.vectors["fact"], lengths[i]) for i, features in stored.items()],
            vectors[rows],
            [_turn_length(drafts[row]) for row in rows],
        )
        context[rows] = fresh
        for (fact_id, features), vector in zip(stored.items(), before, strict=True):
            changed[fact_id] = replace(features, vectors={**features.vectors, "context": vector})
    return context, changed


def _turn_length(draft: Draft) -> int:
    return len(draft.plan.turns[draft.extracted.turn].turn.text)


def restate_features(
    fact: Fact, key: str, embedder: Embedder | None, late: LateInteraction | None
) -> Features:
    """The features of a fact whose text a person changed; it stands without neighbours."""
    text = index_text(fact)
    vectors, tokens = embed_texts([text.own], embedder, late)
    views = {} if vectors is None else {"fact": vectors[0], "context": vectors[0]}
    return _features(fact, text, key, views, tokens[0])
