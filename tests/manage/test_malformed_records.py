"""Records of Perdure's own kinds: nobody saves them by hand, and a malformed one harms nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure import InvalidInput, OperationStatus, Perdure
from perdure.domain.record import Record

QUICK: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}
KINDS = (
    "job", "directive", "mental_model", "knowledge_node", "opinion", "opinion_evidence", "webhook", "audit", "llm_call",
    "question", "observation", "observation_subject", "observation_scopes", "consolidation", "consolidation_subject",
    "consolidation_batch", "job_queued", "note", "speaker",
)  # fmt: skip
BODIES: tuple[dict[str, Any], ...] = (
    {},
    {"status": 7, "fact_ids": 3, "tags": None, "scopes": {}, "subject": [1], "seen": 1},
)


QUOTING = (
    "job", "job_step", "directive", "directive_history", "mental_model", "mental_model_history", "knowledge_node", "opinion",
    "opinion_evidence", "llm_call", "question", "observation", "observation_subject", "consolidation_subject",
    "consolidation_batch", "note", "webhook_delivery",
)  # fmt: skip
"""Kinds whose records may quote what is remembered."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "memory.db", **QUICK) as engine:
        engine.retain("b", "Ann lives in Oslo. Ann loves tea.", speaker="Ann")
        yield engine


@pytest.mark.parametrize("kind", [*KINDS, "api_key", "", "unheard_of"])
def test_records_of_own_kinds_are_neither_saved_nor_deleted_by_hand(memory: Perdure, kind: str) -> None:
    with pytest.raises(InvalidInput, match=r"record\.kind"):
        memory.records.save(Record(kind=kind, id="x", bank="b"))
    with pytest.raises(InvalidInput, match="kind"):
        memory.records.delete(kind, "x", bank="b")


@pytest.mark.parametrize("body", BODIES, ids=["empty", "wrong"])
def test_malformed_records_are_passed_over(memory: Perdure, body: dict[str, Any]) -> None:
    for kind in KINDS:
        for record_id in (kind, "00000000"):
            memory.records.save_own(Record(kind=kind, id=record_id, bank="b", body=body))
    assert memory.operations.list("b") == []
    run = memory.consolidate("b")
    assert memory.operations.get("b", run.id, wait=60).status is OperationStatus.COMPLETED
    assert [one.text for one in memory.recall("b", "Where does Ann live?")]
    assert memory.reflect("b", "Where does Ann live?").text
    for listed in (memory.directives, memory.models, memory.webhooks, memory.questions, memory.opinions):
        assert listed.list("b") is not None
    assert memory.knowledge.tree("b") is not None


@pytest.mark.parametrize("body", BODIES, ids=["empty", "wrong"])
def test_forget_erases_records_that_cannot_be_read(
    memory: Perdure, body: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    retained = memory.retain("b", "Bea has a secret boat.", speaker="Bea", document_id="d")
    quoting = {**body, "secret": "Bea has a secret boat."}
    for kind in (*KINDS, "mental_model_history", "directive_history", "webhook_delivery"):
        for record_id in (kind, "00000000"):
            memory.records.save_own(Record(kind=kind, id=record_id, bank="b", body=quoting))
    memory.records.save_own(Record(kind="job_step", id="job/00000000", bank="b", body=quoting))
    memory.records.save_own(Record(kind="webhook_due", id="webhook_delivery", bank="b"))
    assert memory.preview_forget("b", fact_id=retained.fact_ids[0]).facts == 1
    assert memory.forget("b", fact_id=retained.fact_ids[0]).facts == 1
    assert "cannot be read" in caplog.text
    lines = list(memory.banks.export("b"))
    with memory._store.reading("b") as reading:
        left = [record for kind in QUOTING for record in reading.records(kind) if "secret" in record.body]
    assert left == []
    assert not any("secret boat" in line for line in lines)
    assert memory.forget("b", document_id="d").existed
    assert memory.recall("b", "Where does Ann live?").recollections
