"""What erasing a fact takes out of the texts around it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from perdure.domain.fact import Chunk, Document, Fact, TurnSpan

FORGOTTEN = "[forgotten]"
"""Stands where erased text stood."""
_PIECE = 24
"""Characters in a row that are hardly in two texts by chance."""


def needles(facts: Iterable[Fact]) -> tuple[str, ...]:
    """The wordings of erased facts, longest first, so that a part never hides the whole."""
    wordings = {
        wording
        for fact in facts
        for wording in (fact.text, fact.source_text, fact.original_text or "")
        if wording.strip()
    }
    return tuple(sorted(wordings, key=lambda wording: (-len(wording), wording)))


def scrub(text: str, wordings: Iterable[str]) -> str:
    """The text with each wording taken out, whatever its case and white space."""
    for wording in wordings:
        pattern = r"\s+".join(re.escape(word) for word in wording.split())
        text = re.sub(pattern, FORGOTTEN, text, flags=re.IGNORECASE)
    return text


def pieces(wordings: Iterable[str]) -> frozenset[str]:
    """Every part of the wordings that is long enough to be known again where a wording was cut short."""
    return frozenset(
        wording[start : start + _PIECE] for wording in wordings for start in range(len(wording) - _PIECE + 1)
    )


def scrub_passage(passage: str, wordings: Iterable[str], known: frozenset[str], fact: Fact) -> str:
    """What a fact of the same document is read with, without the wordings and their pieces; its own words stay."""
    text = scrub(passage, wordings)
    kept: list[str] = []
    at = start = 0
    while start <= len(text) - _PIECE:
        piece = text[start : start + _PIECE]
        if piece not in known or piece in fact.text or piece in fact.source_text:
            start += 1
            continue
        kept += [text[at:start], FORGOTTEN]
        at = start + _PIECE
        while at < len(text) and text[at - _PIECE + 1 : at + 1] in known:
            at += 1
        start = at
    return "".join([*kept, text[at:]])


def scrub_chunk(chunk: Chunk, wordings: Iterable[str]) -> Chunk:
    """A chunk that an erased fact came from; wholly emptied when the wording cannot be found in it."""
    wordings = tuple(wordings)
    scrubbed = scrub(chunk.text, wordings)
    if scrubbed == chunk.text:
        return replace(chunk, text=FORGOTTEN, spans=())
    return replace(chunk, text=scrubbed, spans=_moved_spans(chunk, wordings, scrubbed))


def _moved_spans(chunk: Chunk, wordings: Sequence[str], scrubbed: str) -> tuple[TurnSpan, ...]:
    """Where the turns stand after scrubbing; none when a wording reached over the border of a turn."""
    spans: list[TurnSpan] = []
    text, at = "", 0
    for span in chunk.spans:
        text += scrub(chunk.text[at : span.start], wordings)
        start = len(text)
        text += scrub(chunk.text[span.start : span.end], wordings)
        spans.append(replace(span, start=start, end=len(text)))
        at = span.end
    text += scrub(chunk.text[at:], wordings)
    return tuple(spans) if text == scrubbed else ()


def scrub_document(document: Document, wordings: Iterable[str]) -> Document:
    """A document that an erased fact came from."""
    wordings = tuple(wordings)
    return replace(document, title=scrub(document.title, wordings), context=scrub(document.context, wordings))


def scrub_sibling(fact: Fact, wordings: Iterable[str]) -> Fact:
    """A fact of the same document: its own text stays, what it quotes around it is scrubbed."""
    wordings = tuple(wordings)
    original = fact.original_text
    return replace(
        fact,
        source_text=scrub(fact.source_text, wordings),
        context=scrub(fact.context, wordings),
        original_text=original if original is None else scrub(original, wordings),
    )


def own_terms(fact: Fact, terms: Mapping[str, float], *around: str) -> dict[str, float]:
    """The index terms that the fact's own words hold, or a text around it that stays.

    Terms are stems: one is held when a word begins like it, but for its last letter.
    """
    said = (
        fact.text,
        fact.source_text,
        fact.original_text,
        fact.speaker,
        fact.subject,
        fact.relation,
        fact.object,
    )
    text = _folded(" ".join(part for part in (*said, *fact.entities, *around) if part))
    return {term: weight for term, weight in terms.items() if term[: max(3, len(term) - 1)] in text}


def scrub_terms(
    fact: Fact, terms: Mapping[str, float], erased: Collection[str], passage: str
) -> Mapping[str, float]:
    """The terms of a fact of the same document without those of erased facts that nothing else holds."""
    doubtful = {term: weight for term, weight in terms.items() if term in erased}
    kept = own_terms(fact, doubtful, fact.context, passage) if doubtful else doubtful
    return {term: weight for term, weight in terms.items() if term in kept or term not in doubtful}


def _folded(text: str) -> str:
    """Lower case without diacritics."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFKC", "".join(c for c in decomposed if not unicodedata.combining(c)))


def rehome(fact: Fact, document_id: str | None, chunk_id: str | None, lost: int) -> Fact:
    """The fact when its first source went and another still proves it; what it quoted goes along."""
    return replace(
        fact,
        document_id=document_id,
        chunk_id=chunk_id,
        source_text="",
        context="",
        original_text=None,
        proof_count=max(1, fact.proof_count - lost),
    )


def without_entity(fact: Fact, entity_id: str) -> Fact:
    """The fact without its membership of an entity; names beside the ids go with them."""
    if entity_id not in fact.entity_ids:
        return fact
    keep = [index for index, known in enumerate(fact.entity_ids) if known != entity_id]
    parallel = len(fact.entities) == len(fact.entity_ids)
    return replace(
        fact,
        entity_ids=tuple(fact.entity_ids[index] for index in keep),
        entities=tuple(fact.entities[index] for index in keep) if parallel else fact.entities,
    )
