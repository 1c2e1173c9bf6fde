"""What goes from mental models when facts are forgotten."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from perdure.domain.fact import Fact
from perdure.domain.mental_model import MentalModel, ModelSection
from perdure.domain.plain import to_plain
from perdure.forget.scrub import Wordings, scrub, wordings_of
from perdure.ports.store import Transaction
from perdure.reflect.mental_models.compose import without_facts
from perdure.reflect.mental_models.record import (
    HISTORY,
    MENTAL_MODEL,
    put_entries,
    put_model,
    read_model,
    read_sections,
)


def scrub_mental_models(tx: Transaction, erased: Mapping[str, Fact]) -> None:
    """Remove the sentences that rest on erased facts from models and their history, in the transaction that erases.

    A touched model is stale until it is refreshed; its trace and structured output go. Erased wordings that its owner
    wrote into its name or question are removed as well.
    """
    gone = frozenset(erased)
    texts = (
        text for fact in erased.values() for text in (fact.text, fact.source_text, fact.original_text or "")
    )
    wordings = wordings_of(texts)
    for record in tx.records(MENTAL_MODEL):
        model = read_model(record)
        scrubbed = _scrub_model(model, gone, wordings)
        if scrubbed != model:
            put_model(tx, scrubbed)
    for record in tx.records(HISTORY):
        body: Mapping[str, Any] = record.body
        entries = [_scrub_entry(entry, gone) for entry in body["entries"]]
        if entries != body["entries"]:
            put_entries(tx, record.bank, record.id, entries)


def _scrub_model(model: MentalModel, gone: frozenset[str], wordings: Wordings) -> MentalModel:
    sections = without_facts(model.sections, gone)
    sections = _without_headings(model.sections, sections) if model.written_by else sections
    cited = sections != model.sections
    structured = bool(gone.intersection(model.structured_fact_ids))
    return replace(
        model,
        name=scrub(model.name, wordings),
        source_query=scrub(model.source_query, wordings),
        last_query=None if model.last_query is None else scrub(model.last_query, wordings),
        sections=sections,
        retracted=model.retracted or cited,
        seen=replace(model.seen, newest=tuple(one for one in model.seen.newest if one not in gone)),
        structured_output=None if structured else model.structured_output,
        structured_fact_ids=() if structured else model.structured_fact_ids,
        trace=None if cited or _names(model.trace, gone) else model.trace,
    )


def _without_headings(
    before: Sequence[ModelSection], after: Sequence[ModelSection]
) -> tuple[ModelSection, ...]:
    """Return sections that lost a sentence without their headings: a language model may have put words of it there."""
    whole = set(before)
    return tuple(section if section in whole else replace(section, heading="") for section in after)


def _scrub_entry(entry: Mapping[str, Any], gone: frozenset[str]) -> Mapping[str, Any]:
    sections = read_sections(entry["sections"])
    kept = without_facts(sections, gone)
    kept = _without_headings(sections, kept) if entry.get("written_by") else kept
    if kept == sections and not _names(entry["trace"], gone):
        return entry
    return {**entry, "sections": to_plain(kept), "trace": None}


def _names(trace: Mapping[str, object] | None, gone: Collection[str]) -> bool:
    """Return whether a trace names one of the facts."""
    written = "" if trace is None else json.dumps(trace)
    return any(fact_id in written for fact_id in gone)
