"""One fact a line, as JSON: for scripts, data frames and other memories."""

from __future__ import annotations

import json
from collections.abc import Iterator

from perdure.domain.fact import Fact
from perdure.manage.exports.bank import BankContent, iso, state_of, sure_time

_BREAKS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Characters that JSON allows in text and at which many readers end a line."""


def write_lines(bank: BankContent) -> Iterator[str]:
    """Yield every fact that the bank ever had, in recorded order, with the same keys in each line."""
    for page in bank.facts():
        for fact in page:
            line = json.dumps(_plain(fact, bank), ensure_ascii=False)
            for character, escaped in _BREAKS.items():
                line = line.replace(character, escaped)
            yield line


def _plain(fact: Fact, bank: BankContent) -> dict[str, object]:
    occurred = sure_time(fact)
    return {
        "id": fact.id,
        "text": fact.text,
        "type": fact.type.value,
        "state": state_of(fact, bank.now),
        "speaker": fact.speaker,
        "subject": fact.subject,
        "relation": fact.relation,
        "object": fact.object,
        "entities": list(fact.entities),
        "said_at": iso(fact.mentioned_at),
        "occurred_start": iso(occurred.start) if occurred else None,
        "occurred_end": iso(occurred.end) if occurred else None,
        "valid_from": iso(fact.valid_from),
        "valid_to": iso(fact.valid_to),
        "recorded_at": iso(fact.recorded_at),
        "retired_at": iso(fact.retired_at),
        "superseded_by": fact.superseded_by,
        "tags": sorted(fact.tags),
        "topic": fact.topic,
        "confidence": fact.confidence,
        "proof_count": fact.proof_count,
        "document_id": fact.document_id,
        "source_text": fact.source_text,
        "context": fact.context,
        "metadata": dict(fact.metadata),
        "bank": fact.bank,
    }
