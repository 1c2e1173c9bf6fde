"""Features: what the channels will look at, made from a fact and its surroundings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.fact import Fact
from perdure.ports.embedder import Embedder, JointEmbedder, LateInteraction, Matrix
from perdure.ports.extractor import Turn
from perdure.ports.store import Features
from perdure.retain.draw import Draft
from perdure.text.signature import signature
from perdure.text.terms import index_terms, plain_words

NEIGHBOURS = 2
NEIGHBOUR_CHARACTERS = 300
CONTEXT_WEIGHT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexText:
    """The texts under which a fact can be found."""

    own: str
    """Embedded, and indexed with full weight: the fact, its source where the words differ, its date."""
    context: str
    """Indexed with less weight: the turns around it."""
    passage: str
    """Read by the reranker."""


def index_text(fact: Fact, surroundings: Sequence[str], title: str) -> IndexText:
    """What to index of a fact that stands among these neighbouring turns."""
    dated = fact.text if fact.mentioned_at is None else f"{fact.text} ({_day(fact)})"
    head = f"{title}: " if title and title.casefold() not in fact.text.casefold() else ""
    return IndexText(
        own=head + dated,
        context=" ".join(surroundings),
        passage=head + dated,
    )


def _day(fact: Fact) -> str:
    assert fact.mentioned_at is not None
    return f"{fact.mentioned_at.day} {fact.mentioned_at:%B %Y}"


def neighbours(turns: Sequence[Turn], index: int) -> list[str]:
    """The turns around one, each cut to a bearable length."""
    low, high = max(index - NEIGHBOURS, 0), index + NEIGHBOURS + 1
    return [_line(turns[i]) for i in range(low, min(high, len(turns))) if i != index]


def _line(turn: Turn) -> str:
    text = turn.text[:NEIGHBOUR_CHARACTERS]
    return f"{turn.speaker}: {text}" if turn.speaker else text


def weigh_terms(fact: Fact, texts: IndexText) -> dict[str, float]:
    """Term -> weight: own words fully (once for fact and source together), context words in part."""
    terms: Counter[str] = index_terms(texts.own)
    for term, count in index_terms(f"{fact.speaker} {fact.source_text}").items():
        terms[term] = max(terms[term], count)
    weights = {term: float(count) for term, count in terms.items()}
    for term, count in index_terms(texts.context).items():
        weights[term] = weights.get(term, 0.0) + CONTEXT_WEIGHT * count
    return weights


def add_features(
    drafts: Sequence[Draft],
    keys: Sequence[str],
    embedder: Embedder | None,
    late: LateInteraction | None,
) -> list[Features]:
    """The features of each draft, embedded in one batch."""
    texts = [
        index_text(
            draft.fact,
            neighbours([planned.turn for planned in draft.plan.turns], draft.extracted.turn),
            draft.plan.document.title,
        )
        for draft in drafts
    ]
    vectors, tokens = embed_texts([text.own for text in texts], embedder, late)
    return [
        Features(
            vectors={"fact": vectors[row]} if vectors is not None else {},
            terms=weigh_terms(draft.fact, text),
            words=plain_words(f"{text.own} {draft.fact.source_text}"),
            signature=signature(draft.fact.text),
            tokens=tokens[row],
            dedupe_key=key,
            passage="" if text.passage == draft.fact.text else text.passage,
        )
        for row, (draft, text, key) in enumerate(zip(drafts, texts, keys, strict=True))
    ]


def restate_features(
    fact: Fact, key: str, embedder: Embedder | None, late: LateInteraction | None
) -> Features:
    """The features of a fact whose text a person changed; it stands without neighbours."""
    text = index_text(fact, (), "")
    vectors, tokens = embed_texts([text.own], embedder, late)
    return Features(
        vectors={"fact": vectors[0]} if vectors is not None else {},
        terms=weigh_terms(fact, text),
        words=plain_words(text.own),
        signature=signature(fact.text),
        tokens=tokens[0],
        dedupe_key=key,
        passage="" if text.passage == fact.text else text.passage,
    )


def embed_texts(
    texts: Sequence[str], embedder: Embedder | None, late: LateInteraction | None
) -> tuple[Matrix | None, Sequence[bytes]]:
    """Vectors and token vectors, in one pass where one model gives both."""
    nothing = [b""] * len(texts)
    if not texts:
        return None, nothing
    if embedder is not None and late is embedder:
        joint: JointEmbedder = late  # type: ignore[assignment]  # one object plays both parts
        return joint.embed_and_encode(texts)
    vectors = embedder.embed_passages(texts) if embedder is not None else None
    return vectors, late.encode_passages(texts) if late is not None else nothing
