"""What erasing facts takes out of the texts around them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from perdure.domain.fact import FORGOTTEN, Chunk, Document, Fact, TurnSpan
from perdure.ports.store import Features
from perdure.text.own_words import own_terms
from perdure.text.terms import plain_words

_PIECE = 24
"""Characters in a row that two texts hardly share by chance."""


Wordings = Sequence[re.Pattern[str]]
"""What erased texts said, each to be found whatever its case and white space."""


def wordings_of(texts: Iterable[str]) -> Wordings:
    """The wordings of texts, longest first, so that a part never hides the whole."""
    distinct = sorted({text for text in texts if text.strip()}, key=lambda text: (-len(text), text))
    return [
        re.compile(r"\s+".join(re.escape(word) for word in text.split()), re.IGNORECASE) for text in distinct
    ]


def scrub(text: str, wordings: Wordings) -> str:
    """The text with each wording taken out."""
    for wording in wordings:
        text = wording.sub(FORGOTTEN, text)
    return text


def scrub_chunk(chunk: Chunk, wordings: Wordings) -> Chunk:
    """A chunk that an erased fact came from; wholly emptied when the wording cannot be found in it."""
    scrubbed = scrub(chunk.text, wordings)
    if scrubbed == chunk.text:
        return replace(chunk, text=FORGOTTEN, spans=())
    return replace(chunk, text=scrubbed, spans=_moved_spans(chunk, wordings, scrubbed))


def _moved_spans(chunk: Chunk, wordings: Wordings, scrubbed: str) -> tuple[TurnSpan, ...]:
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


def scrub_document(document: Document, wordings: Wordings) -> Document:
    """A document that an erased fact came from."""
    return replace(document, title=scrub(document.title, wordings), context=scrub(document.context, wordings))


def scrub_sibling(fact: Fact, wordings: Wordings) -> Fact:
    """A fact of the same document: its own text stays, what it quotes around it is scrubbed."""
    original = fact.original_text
    return replace(
        fact,
        source_text=scrub(fact.source_text, wordings),
        asked=scrub(fact.asked, wordings),
        context=scrub(fact.context, wordings),
        original_text=original if original is None else scrub(original, wordings),
    )


def scrub_own_passage(fact: Fact, passage: str, wordings: Wordings) -> str:
    """What is embedded of a fact, with the wordings taken out of what stands around its own text (title, names)."""
    for own in (fact.text, fact.text.removeprefix(f"{fact.speaker}: ")):
        before, text, after = passage.partition(own)
        if text:
            return scrub(before, wordings) + text + scrub(after, wordings)
    return scrub(passage, wordings)


@dataclass(frozen=True, slots=True)
class ErasedWords:
    """The words of erased facts, to be taken out of what their siblings are found by and read with."""

    wordings: Wordings
    pieces: frozenset[str]
    """Every part of the texts that is long enough to be recognised where a wording was cut short."""
    terms: frozenset[str]
    words: frozenset[str]


def erased_words(facts: Collection[Fact], features: Mapping[str, Features]) -> ErasedWords:
    """The words of facts; `features` hold theirs."""
    texts = [text for fact in facts for text in (fact.text, fact.source_text, fact.original_text or "")]
    return ErasedWords(
        wordings_of(texts),
        frozenset(text[start : start + _PIECE] for text in texts for start in range(len(text) - _PIECE + 1)),
        frozenset(term for fact in facts for term in own_terms(fact, features[fact.id].terms)),
        frozenset(word for fact in facts for word in features[fact.id].words),
    )


def scrub_features(fact: Fact, features: Features, erased: ErasedWords) -> Features:
    """The features of a scrubbed sibling without the words of erased facts that nothing else of it holds.

    The same object when they hold none.
    """
    own = scrub_own_passage(fact, features.passage, erased.wordings)
    in_context = _scrub_pieces(fact, scrub(features.passage_in_context, erased.wordings), erased.pieces)
    doubtful = {term: weight for term, weight in features.terms.items() if term in erased.terms}
    remaining_terms = own_terms(fact, doubtful, fact.context, own, in_context) if doubtful else {}
    terms = {
        term: weight
        for term, weight in features.terms.items()
        if term in remaining_terms or term not in doubtful
    }
    remaining_words = plain_words(f"{own or fact.text} {fact.source_text}") if erased.words else ()
    words = tuple(word for word in features.words if word in remaining_words or word not in erased.words)
    scrubbed = (own, in_context, len(terms), len(words))
    before = (features.passage, features.passage_in_context, len(features.terms), len(features.words))
    if scrubbed == before:
        return features
    return replace(features, passage=own, passage_in_context=in_context, terms=terms, words=words)


def _scrub_pieces(fact: Fact, text: str, pieces: frozenset[str]) -> str:
    """The text without pieces of wordings; the fact's own words stay."""
    kept: list[str] = []
    at = start = 0
    while start <= len(text) - _PIECE:
        piece = text[start : start + _PIECE]
        if piece not in pieces or piece in fact.text or piece in fact.source_text:
            start += 1
            continue
        kept += [text[at:start], FORGOTTEN]
        at = start + _PIECE
        while at < len(text) and text[at - _PIECE + 1 : at + 1] in pieces:
            at += 1
        start = at
    return "".join([*kept, text[at:]])
