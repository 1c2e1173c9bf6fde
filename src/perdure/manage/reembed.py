"""Re-embedding: a bank changes over to another embedder while it stays in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.errors import InvalidInput, StoreError
from perdure.ports.embedder import Embedder, Vector
from perdure.ports.store import Selection
from perdure.retain.embed import embed_texts
from perdure.retain.neighbours import turn_length
from perdure.retain.parts import RetainComponents
from perdure.retain.smooth import smooth
from perdure.text.passage import own_passage

PAGE = 256
LISTING = 10_000
ROUNDS = 20

Staged = tuple[str, Mapping[str, Vector], bytes]


def reembed(parts: RetainComponents, bank: str) -> int:
    """Embed every fact anew beside the old vectors, then switch in one transaction; returns how many."""
    embedder = parts.embedder
    if embedder is None:
        raise InvalidInput("embedder", "a configured embedder, to re-embed with")
    waiting = _every_fact(parts, bank)
    count = 0
    for _ in range(ROUNDS):
        for page in _pages(waiting):
            parts.store.stage_vectors(bank, embedder.model, _embedded(parts, bank, embedder, page))
            count += len(page)
        missing = parts.store.switch_model(bank, embedder.model)
        if not missing:
            return count
        waiting = parts.store.facts(bank, missing)
    raise StoreError(f"bank {bank!r} is written to faster than it can be re-embedded; try again later")


def _every_fact(parts: RetainComponents, bank: str) -> list[Fact]:
    wanted = Filter(now=parts.clock(), any_time=True, include_expired=True)
    facts: list[Fact] = []
    while True:
        chosen = Selection(wanted=wanted, offset=len(facts), limit=LISTING, oldest_first=True)
        page = parts.store.browse(bank, chosen).facts
        if not page:
            return facts
        facts += page


def _pages(facts: Sequence[Fact]) -> Iterator[list[Fact]]:
    """Whole documents together, in their order, about PAGE facts at a time."""
    in_order = sorted(facts, key=_place)
    page: list[Fact] = []
    for _, group in groupby(in_order, key=lambda fact: fact.document_id or fact.id):
        page += group
        if len(page) >= PAGE:
            yield page
            page = []
    if page:
        yield page


def _place(fact: Fact) -> tuple[str, str, int, str]:
    recorded = fact.recorded_at.isoformat() if fact.recorded_at else ""
    return (fact.document_id or fact.id, recorded, fact.ordinal, fact.id)


def _embedded(parts: RetainComponents, bank: str, embedder: Embedder, page: Sequence[Fact]) -> list[Staged]:
    passages = parts.store.passages(bank, [fact.id for fact in page])
    known = [fact for fact in page if fact.id in passages]
    texts = [own_passage(passages[fact.id][0]) for fact in known]
    vectors, tokens = embed_texts(texts, embedder, parts.late)
    staged: list[Staged] = []
    if vectors is None:
        return staged
    row = 0
    for document_id, group in groupby(known, key=lambda fact: fact.document_id or fact.id):
        members = list(group)
        chunks = {chunk.id: chunk for chunk in parts.store.chunks(bank, document_id=document_id)}
        lengths = [turn_length(fact, chunks) for fact in members]
        context = smooth(vectors[row : row + len(members)], lengths)
        for place, fact in enumerate(members):
            views = {"fact": vectors[row + place], "context": context[place]}
            staged.append((fact.id, views, tokens[row + place]))
        row += len(members)
    return staged
