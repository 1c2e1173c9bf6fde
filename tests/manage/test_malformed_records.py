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
