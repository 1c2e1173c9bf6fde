"""Retain, top to bottom: plan -> extract -> dedupe -> resolve -> embed -> link -> write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from perdure.domain.fact import Fact, Link
from perdure.domain.filter import Filter
from perdure.domain.item import RetainResult, Superseded
from perdure.domain.trace import Trace
from perdure.ports.store import Closure, Features, NewFact, Proof, WriteBatch, WriteReceipt
from perdure.retain.ahead import BackgroundEmbedder
from perdure.retain.build import Draft, build_facts, drawn_identity, keep_unchanged
from perdure.retain.dedupe import dedupe_key, split_known
from perdure.retain.features import add_vectors, describe, embedded_text
from perdure.retain.link import causal_links, semantic_links, temporal_links
from perdure.retain.mentions import ResolvedEntities, resolve_entities
from perdure.retain.parts import RetainComponents
from perdure.retain.plan import Plan, plan_documents
from perdure.retain.relate import closures_of
from perdure.retain.request import RetainRequest
from perdure.retain.safekeeping import finish, keeping_text


def retain(parts: RetainComponents, request: RetainRequest) -> RetainResult:
    """Store the items' text and the facts drawn from it in one transaction; visible when this returns."""
    trace = Trace()
    now = parts.clock()
    with trace.stage("plan"):
        plans = plan_documents(parts.store, request, now)
    with keeping_text(parts.store, request.bank, plans):
        result = _retain_planned(parts, request.bank, plans, now, trace)
    finish(parts.store, request.bank, plans)
    return result


def _retain_planned(
    parts: RetainComponents, bank: str, plans: Sequence[Plan], now: datetime, trace: Trace
) -> RetainResult:
    with BackgroundEmbedder(parts.embedder, parts.late) as ahead:
        with trace.stage("extract"):
            drawn, key_of = _draw(parts, bank, plans, now, ahead)
            drawn, moved, gone = keep_unchanged(plans, drawn)
        with trace.stage("dedupe"):
            keys = [key_of[draft.fact.id] for draft in drawn]
            drafts, merged = split_known(drawn, parts.store.known(bank, keys), keys)
        with trace.stage("resolve"):
            settled = resolve_entities(parts.store, bank, drafts, now)
        with trace.stage("embed"):
            facts, changed = _with_features(parts, bank, plans, settled.drafts, key_of, ahead)
    with trace.stage("link"):
        closures = closures_of(parts.store, bank, settled.drafts, now)
        links = _links(parts, bank, settled.drafts, facts, now)
    with trace.stage("write"):
        batch = _batch(
            parts, bank, plans, facts, changed, settled, links, closures, moved, gone, merged, drawn, now
        )
        receipt = parts.store.write(batch)
    return _result(bank, plans, batch, receipt, merged, len(moved), trace)


def _draw(
    parts: RetainComponents, bank: str, plans: Sequence[Plan], now: datetime, ahead: BackgroundEmbedder
) -> tuple[list[Draft], dict[str, str]]:
    """All drafts and, by fact id, their dedupe keys.

    Those that are likely to be stored go to the embedder while the next turns are read.
    """
    stored = {drawn_identity(fact) for plan in plans for fact in plan.old_facts}
    drawn: list[Draft] = []
    key_of: dict[str, str] = {}
    for drafts in build_facts(parts.extractor, bank, plans, now):
        drawn += drafts
        key_of.update((draft.fact.id, dedupe_key(draft.fact)) for draft in drafts)
        fresh = [draft for draft in drafts if drawn_identity(draft.fact) not in stored]
        keys = [key_of[draft.fact.id] for draft in fresh]
        fresh, _ = split_known(fresh, parts.store.known(bank, keys), keys)
        ahead.start([embedded_text(draft) for draft in fresh])
    return drawn, key_of


def _with_features(
    parts: RetainComponents,
    bank: str,
    plans: Sequence[Plan],
    drafts: Sequence[Draft],
    key_of: Mapping[str, str],
    ahead: BackgroundEmbedder,
) -> tuple[list[NewFact], Mapping[str, Features]]:
    described = [describe(draft, key_of[draft.fact.id]) for draft in drafts]
    earlier = {
        plan.document.id: parts.store.features(bank, list(plan.earlier)) for plan in plans if plan.earlier
    }
    vectors, tokens = ahead.finish([item.text.own for item in described])
    featured = add_vectors(described, vectors, tokens, earlier)
    facts = [NewFact(draft.fact, made) for draft, made in zip(drafts, featured.fresh, strict=True)]
    return facts, featured.changed


def _links(
    parts: RetainComponents, bank: str, drafts: Sequence[Draft], facts: Sequence[NewFact], now: datetime
) -> list[Link]:
    return [
        *causal_links(drafts),
        *temporal_links(drafts),
        *semantic_links(parts.store, bank, facts, Filter(now=now)),
    ]


def _batch(
    parts: RetainComponents,
    bank: str,
    plans: Sequence[Plan],
    facts: Sequence[NewFact],
    changed: Mapping[str, Features],
    settled: ResolvedEntities,
    links: Sequence[Link],
    closures: Sequence[Closure],
    moved: Sequence[Fact],
    gone: Sequence[Fact],
    merged: dict[str, str],
    drawn: Sequence[Draft],
    now: datetime,
) -> WriteBatch:
    said_again = [draft.fact for draft in drawn if draft.fact.id in merged]
    return WriteBatch(
        bank=bank,
        model=parts.embedder.model if parts.embedder is not None else None,
        documents=[plan.document for plan in plans],
        chunks=[chunk for plan in plans for chunk in plan.chunks],
        removed_chunks=[chunk for plan in plans for chunk in plan.removed_chunks],
        facts=facts,
        features=changed,
        updates=moved,
        entities=settled.entities,
        links=links,
        closures=[*closures, *(Closure(fact_id=fact.id, retired_at=now) for fact in gone)],
        proofs=[
            Proof(fact_id=merged[fact.id], document_id=fact.document_id, chunk_id=fact.chunk_id, seen_at=now)
            for fact in said_again
        ],
    )


def _result(
    bank: str,
    plans: Sequence[Plan],
    batch: WriteBatch,
    receipt: WriteReceipt,
    merged: dict[str, str],
    moved: int,
    trace: Trace,
) -> RetainResult:
    return RetainResult(
        bank=bank,
        document_ids=tuple(plan.document.id for plan in plans),
        fact_ids=receipt.inserted,
        unchanged=sum(plan.unchanged for plan in plans) + moved,
        merged={**merged, **receipt.merged},
        superseded=tuple(
            Superseded(fact_id=closure.fact_id, superseded_by=closure.superseded_by)
            for closure in batch.closures
            if closure.superseded_by is not None
        ),
        retired=tuple(closure.fact_id for closure in batch.closures if closure.superseded_by is None),
        chunks=len(batch.chunks),
        entities=len(batch.entities),
        links=len(batch.links),
        timings=trace.timings,
    )
