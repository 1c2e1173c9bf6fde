"""Re-embedding: a bank changes over to another embedder while it stays in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from perdure.domain.filter import Filter
from perdure.errors import InvalidInput, StoreError
from perdure.ports.embedder import Embedder, Vector
from perdure.ports.store import Selection
from perdure.retain.features import embed_texts
from perdure.retain.parts import RetainParts

PAGE = 256
ROUNDS = 20


def reembed(parts: RetainParts, bank: str) -> int:
    """Embed every fact anew beside the old vectors, then switch in one transaction; returns how many."""
    embedder = parts.embedder
    if embedder is None:
        raise InvalidInput("embedder", "a configured embedder, to re-embed with")
    waiting: Sequence[str] = list(_every_id(parts, bank))
    count = 0
    for _ in range(ROUNDS):
        for start in range(0, len(waiting), PAGE):
            page = waiting[start : start + PAGE]
            parts.store.stage_vectors(bank, embedder.model, _embedded(parts, bank, embedder, page))
            count += len(page)
        waiting = parts.store.switch_model(bank, embedder.model)
        if not waiting:
            return count
    raise StoreError(f"bank {bank!r} is written to faster than it can be re-embedded; try again later")


def _every_id(parts: RetainParts, bank: str) -> Iterator[str]:
    wanted = Filter(now=parts.clock(), any_time=True, include_expired=True)
    offset = 0
    while True:
        chosen = Selection(wanted=wanted, offset=offset, limit=10_000, oldest_first=True)
        page = parts.store.browse(bank, chosen).facts
        if not page:
            return
        yield from (fact.id for fact in page)
        offset += len(page)


def _embedded(
    parts: RetainParts, bank: str, embedder: Embedder, ids: Sequence[str]
) -> list[tuple[str, Mapping[str, Vector], bytes]]:
    passages = parts.store.passages(bank, ids)
    known = [fact_id for fact_id in ids if fact_id in passages]
    vectors, tokens = embed_texts([passages[fact_id][0] for fact_id in known], embedder, parts.late)
    assert vectors is not None or not known
    return [
        (fact_id, {"fact": vectors[row]}, tokens[row])
        for row, fact_id in enumerate(known)
        if vectors is not None
    ]
