"""Retain, top to bottom: plan -> extract -> resolve -> embed -> link -> commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from perdure.domain.fact import Fact
from perdure.domain.item import HASH_KEY, UNFINISHED_DOCUMENT, FellBack, RetainResult, Superseded
from perdure.domain.observation import SCOPES_RECORD
from perdure.domain.recall import Trace
from perdure.domain.record import Record
from perdure.errors import ModelError
from perdure.ports.extractor import LocalFallback
from perdure.ports.store import NewFact, Proof, Reading, Store, Transaction
from perdure.ports.telemetry import MemoryOperation, RecordText
from perdure.retain.build import (
    Draft,
    build_facts,
    drawn_identity,
    drop_duplicates,
    keep_unchanged,
    stated_again,
)
from perdure.retain.changes import find_closures
from perdure.retain.commit import Closure, CommitReceipt, FactChanges, Within, commit
from perdure.retain.components import RetainComponents
from perdure.retain.embed import BackgroundEmbedder
from perdure.retain.entities import resolve_entities
from perdure.retain.features import make_features
from perdure.retain.link import causal_links, semantic_links, temporal_links
from perdure.retain.masking import mask_request
from perdure.retain.offer import bank_context
from perdure.retain.plan import Plan, plan_documents
from perdure.retain.request import RetainRequest
from perdure.retain.speakers import new_speakers


def retain(
    components: RetainComponents,
    request: RetainRequest,
    *,
    within: Within | None = None,
    announce: Within | None = None,
) -> RetainResult:
    """Store the items' text and the facts drawn from it in one transaction; visible when this returns.

    `within` is called at the end of that transaction; an error in it leaves the bank as it was. Who passes it keeps the
    items until then: the text is not stored by itself when a model fails, which would double it in the next attempt.
    `announce` is called there too, before it, and is free of that duty.
    """
    if components.telemetry is None:
        return retain_items(components, request, within, announce)
    with components.telemetry.memory(MemoryOperation.RETAIN, request.bank) as observed:
        result = retain_items(components, request, within, announce)
        observed.records(
            len(result.fact_ids), (RecordText(item.document_id or "", item.content) for item in request.items)
        )
        return result


def retain_items(
    components: RetainComponents, request: RetainRequest, within: Within | None, announce: Within | None
) -> RetainResult:
    """Return the stages, one after another."""
    trace = Trace()
    now = components.clock()
    store, bank = components.store, request.bank
    request = mask_request(store, request)
    with trace.stage("plan"), store.reading(bank) as reading:
        plans = plan_documents(reading, request, now)
    with _keeping_text(store, bank, plans) if within is None else nullcontext():
        prepared = prepare_changes(components, bank, plans, now, trace)
    with trace.stage("write"):
        hooks = [hook for hook in (announce, within) if hook is not None]
        receipt = commit(
            store, prepared.changes, within=_telling(partial(_call_all, hooks), prepared.fell_back)
        )
    return replace(
        _result(plans, prepared, receipt, trace), passed_over=request.passed_over, masked=request.masked
    )


def _telling(within: Within, fell_back: tuple[FellBack, ...]) -> Within:
    return lambda tx, receipt: within(tx, replace(receipt, fell_back=fell_back))


def _call_all(hooks: Sequence[Within], tx: Transaction, receipt: CommitReceipt) -> None:
    for hook in hooks:
        hook(tx, receipt)


@contextmanager
def _keeping_text(store: Store, bank: str, plans: Sequence[Plan]) -> Iterator[None]:
    """Yield a model that fails in the block costs the facts, never the text; the error goes on to the caller."""
    try:
        yield
    except ModelError as error:
        reason = {"reason": str(error)}
        commit(
            store,
            FactChanges(
                bank=bank,
                documents=[plan.document for plan in plans],
                chunks=[chunk for plan in plans for chunk in plan.chunks],
                records=[
                    Record(kind=UNFINISHED_DOCUMENT, id=plan.document.id, bank=bank, body=reason)
                    for plan in plans
                ],
            ),
        )
        raise


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What was drawn from the turns, set against what is stored."""

    new: list[Draft]
    duplicates: list[Draft]
    """Drafts that state what a stored fact or an earlier draft states."""
    merged: dict[str, str]
    """Id of a duplicate's fact -> the fact that it proves."""
    moved: list[Fact]
    """Stored facts that were drawn again from text that moved."""
    gone: list[Fact]
    """Stored facts that no source states any longer."""
    fell_back: list[LocalFallback]


@dataclass(frozen=True, slots=True)
class PreparedChanges:
    """What items change in a bank, not written yet."""

    changes: FactChanges
    duplicates: dict[str, str]
    """Ids of new facts that are merged already -> the facts that they prove."""
    repeated: Sequence[Fact]
    """The new facts that are merged already."""
    fell_back: tuple[FellBack, ...]


def prepare_changes(
    components: RetainComponents, bank: str, plans: Sequence[Plan], now: datetime, trace: Trace
) -> PreparedChanges:
    """Return what the items change in the bank."""
    with (
        components.store.reading(bank) as reading,
        BackgroundEmbedder(components.embedder) as embedder,
    ):
        with trace.stage("extract"):
            drawn = _draw(components, reading, bank, plans, now, embedder)
            speakers = new_speakers(reading, bank, plans)
        with trace.stage("resolve"):
            resolved = resolve_entities(reading, bank, drawn.new, now)
        with trace.stage("embed"):
            earlier = reading.features([fact_id for plan in plans for fact_id in plan.earlier])
            embedded = embedder.finish([draft.text.own for draft in resolved.drafts])
            features, changed = make_features(resolved.drafts, embedded, earlier)
    facts = [NewFact(draft.fact, own) for draft, own in zip(resolved.drafts, features, strict=True)]
    with trace.stage("link"), components.store.reading(bank) as reading:
        proposals = {draft.fact.id: draft.extracted.replaces for draft in resolved.drafts}
        closures = find_closures(reading, facts, now, proposals=proposals, judge=components.judge)
        links = [
            *causal_links(resolved.drafts),
            *temporal_links(resolved.drafts),
            *semantic_links(reading, facts, now),
        ]
    changes = FactChanges(
        bank=bank,
        now=now,
        model=components.embedder.model if components.embedder is not None else None,
        documents=[plan.document for plan in plans],
        chunks=[chunk for plan in plans for chunk in plan.chunks],
        removed_chunks=[chunk_id for plan in plans for chunk_id in plan.removed_chunks],
        facts=facts,
        features=changed,
        updates=drawn.moved,
        entities=resolved.entities,
        added_mentions=resolved.added_mentions,
        links=links,
        closures=[*closures, *(Closure(fact_id=fact.id, retired_at=now) for fact in drawn.gone)],
        proofs=[
            Proof(drawn.merged[draft.fact.id], draft.fact.document_id, draft.fact.chunk_id, now)
            for draft in drawn.duplicates
        ],
        records=[*speakers, *_scope_records(bank, plans), *_new_hash_key(bank, plans)],
        removed_records=[(UNFINISHED_DOCUMENT, plan.document.id) for plan in plans if plan.unfinished],
    )
    return PreparedChanges(
        changes,
        duplicates=drawn.merged,
        repeated=[draft.fact for draft in drawn.duplicates],
        fell_back=tuple(_named(plans, one) for one in drawn.fell_back),
    )


def _named(plans: Sequence[Plan], fallback: LocalFallback) -> FellBack:
    plan = plans[fallback.document]
    return FellBack(
        document_id=plan.document.id,
        chunk_ids=tuple(dict.fromkeys(plan.turns[index].chunk_id for index in fallback.turns)),
        turns=len(fallback.turns),
        code=fallback.code,
        reason=fallback.reason,
    )


def _new_hash_key(bank: str, plans: Sequence[Plan]) -> list[Record]:
    """Return the key of the ids that are made from content, where the bank had none."""
    keys = {plan.new_hash_key for plan in plans if plan.new_hash_key is not None}
    return [Record(kind=HASH_KEY, id=HASH_KEY, bank=bank, body={"key": key}) for key in keys]


def _scope_records(bank: str, plans: Sequence[Plan]) -> list[Record]:
    """Return how the documents' facts are scoped, where the items say so; the last one that does counts."""
    rules = {
        plan.document.id: item.observation_scopes
        for plan in plans
        for item in plan.items
        if item.observation_scopes is not None
    }
    return [
        Record(kind=SCOPES_RECORD, id=document_id, bank=bank, body={"scopes": rule})
        for document_id, rule in rules.items()
    ]


def _draw(
    components: RetainComponents,
    reading: Reading,
    bank: str,
    plans: Sequence[Plan],
    now: datetime,
    embedder: BackgroundEmbedder,
) -> _Drawn:
    """Facts that are likely to be stored are embedded while the next turns are read."""
    stored = {drawn_identity(fact) for plan in plans for fact in plan.old_facts}
    drafts: list[Draft] = []
    holders: dict[str, str] = {}
    fell_back: list[LocalFallback] = []
    context = bank_context(reading, bank, now, components.embedder, fell_back.append)
    for step in build_facts(components.extractor, plans, context, now):
        drafts += step
        holders |= reading.facts_by_dedupe_key([draft.key for draft in step])
        fresh, _ = drop_duplicates(
            [draft for draft in step if drawn_identity(draft.fact) not in stored], holders
        )
        embedder.start([draft.text.own for draft in fresh])
    drafts = [draft for draft in drafts if not _is_refused(draft)]
    drafts, moved, gone = keep_unchanged(plans, drafts)
    new, merged = drop_duplicates(drafts, holders)
    moved_too, gone = _stated_again(drafts, merged, gone)
    moved += [*moved_too, *_related_now(reading, drafts, merged)]
    duplicates = [draft for draft in drafts if draft.fact.id in merged]
    return _Drawn(new, duplicates, merged, moved, _unproven(reading, plans, gone), fell_back)


def _stated_again(
    drafts: Sequence[Draft], merged: dict[str, str], gone: Sequence[Fact]
) -> tuple[list[Fact], list[Fact]]:
    """(facts without their source that the new text states too, moved there; the others).

    The drafts that state them are taken out of `merged`: they are the facts themselves, said again at another time.
    """
    left = {fact.id: fact for fact in gone}
    moved: list[Fact] = []
    for draft in drafts:
        fact = left.pop(merged.get(draft.fact.id, ""), None)
        if fact is not None:
            again = draft.fact
            del merged[again.id]
            moved.append(
                replace(
                    stated_again(fact, draft), document_id=again.document_id, chunk_id=again.chunk_id, ordinal=again.ordinal,
                    metadata=again.metadata,
                )
            )  # fmt: skip
    return moved, list(left.values())


def _is_refused(draft: Draft) -> bool:
    """Return whether a user declared words wrong that the draft would state again."""
    chunk_id, said = draft.fact.chunk_id, draft.fact.source_text
    return any(chunk_id == chunk and words in said for chunk, words in draft.plan.refused)


def _related_now(reading: Reading, drafts: Sequence[Draft], merged: Mapping[str, str]) -> list[Fact]:
    """Return the stored facts that the caller's texts repeat together with a relation, with that relation."""
    related = {
        merged[draft.fact.id]: draft
        for draft in drafts
        if draft.fact.id in merged and draft.extracted.triple is not None and draft.extracted.triple.given
    }
    stored = reading.facts(list(related)) if related else []
    return [stated_again(fact, related[fact.id]) for fact in stored]


def _unproven(reading: Reading, plans: Sequence[Plan], facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that nothing proves once the plans' chunks are removed; the others move to another source."""
    removed = {chunk_id for plan in plans for chunk_id in plan.removed_chunks}
    proofs = reading.proofs([fact.id for fact in facts if fact.proof_count > 1])
    return [fact for fact in facts if all(proof.chunk_id in removed for proof in proofs.get(fact.id, ()))]


def _result(
    plans: Sequence[Plan], prepared: PreparedChanges, receipt: CommitReceipt, trace: Trace
) -> RetainResult:
    changes = prepared.changes
    closures = [_as_stored(closure, receipt.merged) for closure in changes.closures]
    closures = [closure for closure in closures if closure.fact_id in receipt.closed]
    return RetainResult(
        bank=changes.bank,
        document_ids=tuple(plan.document.id for plan in plans),
        fact_ids=receipt.inserted,
        unchanged=sum(plan.unchanged for plan in plans) + len(changes.updates),
        merged={**prepared.duplicates, **receipt.merged},
        superseded=tuple(
            Superseded(fact_id=closure.fact_id, superseded_by=closure.superseded_by)
            for closure in closures
            if closure.superseded_by is not None
        ),
        retired=tuple(closure.fact_id for closure in closures if closure.superseded_by is None),
        chunks=len(changes.chunks),
        entities=len(changes.entities),
        links=len(changes.links),
        fell_back=prepared.fell_back,
        timings=trace.timings,
    )


def _as_stored(closure: Closure, merged: Mapping[str, str]) -> Closure:
    """Return the closure with the facts that absorbed those that it names."""
    by = closure.superseded_by
    return replace(
        closure,
        fact_id=merged.get(closure.fact_id, closure.fact_id),
        superseded_by=by and merged.get(by, by),
    )
