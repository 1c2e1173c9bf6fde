"""A preview of forgetting says what forgetting then does, and changes nothing itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure import Filter, ForgetPreview, InvalidInput, Perdure

OPTIONS: dict[str, Any] = {
    "embedder": "none",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}
EVERYTHING = Filter(include_closed=True, include_expired=True)
SAID = {
    "one": ["I prefer quince jam.", "I live in Porto.", "My sister Rita works at Banco Lima."],
    "two": ["I live in Lisbon now.", "I love quince jam.", "Rita likes chess."],
    "three": ["I live in Lisbon now.", "Rita plays chess with Tom."],
}
TARGETS = [("fact_id", number) for number in range(8)]
TARGETS += [("document_id", number) for number in range(3)]
TARGETS += [("entity_id", number) for number in range(3)]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("preview") / "m.db"
    with Perdure.open(path, **OPTIONS) as memory:
        for number, (name, texts) in enumerate(SAID.items()):
            at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=10 * number)
            said = [{"role": "user", "speaker": "Ann", "content": text} for text in texts]
            memory.retain("b", said, document_id=name, timestamp=at)
        memory.operations.get("b", memory.consolidate("b").id, wait=60)
    return path


@pytest.fixture
def memory(file: Path, tmp_path: Path) -> Iterator[Perdure]:
    shutil.copy(file, tmp_path / "m.db")
    with Perdure.open(tmp_path / "m.db", **OPTIONS) as opened:
        yield opened


def target_of(memory: Perdure, kind: str, number: int) -> dict[str, Any]:
    """The keyword of forget: the n-th fact, document or entity."""
    if kind == "document_id":
        return {kind: sorted(one.id for one in memory.documents.list("b"))[number]}
    rows = (
        memory.entities.list("b")
        if kind == "entity_id"
        else list(memory.facts.iterate("b", where=EVERYTHING))
    )
    return {kind: rows[number].id}


def counts(memory: Perdure) -> dict[str, int]:
    stats = memory.banks.stats("b")
    return {
        "facts": stats.facts,
        "documents": stats.documents,
        "chunks": stats.chunks,
        "entities": stats.entities,
        "observations": len(memory.observations.list("b")),
    }


def evidence(memory: Perdure) -> dict[str, object]:
    return {record.id: record.body for record in memory.records.list("opinion_evidence", bank="b")}


def rows_of(memory: Perdure) -> list[str]:
    return list(memory.banks.export("b"))[1:]


@pytest.mark.parametrize(("kind", "number"), TARGETS)
def test_what_is_forgotten_is_what_the_preview_said(memory: Perdure, kind: str, number: int) -> None:
    target = target_of(memory, kind, number)
    rows, before, logs = rows_of(memory), counts(memory), evidence(memory)
    chunks = {
        chunk.id: chunk
        for one in memory.documents.list("b")
        for chunk in memory.documents.chunks("b", document_id=one.id)
    }
    texts = {fact.id: fact.text for fact in memory.facts.iterate("b", where=EVERYTHING)}

    preview = memory.preview_forget("b", **target)
    assert rows_of(memory) == rows
    forgotten = memory.forget("b", **target)

    after = counts(memory)
    assert (preview.existed, preview.facts) == (forgotten.existed, forgotten.facts)
    for name in ("facts", "documents", "chunks", "entities", "observations"):
        assert getattr(preview, name) == before[name] - after[name], name
    assert preview.opinions == sum(evidence(memory).get(one) != log for one, log in logs.items())
    for fact in memory.facts.iterate("b", where=EVERYTHING):
        del texts[fact.id]
    assert sorted(preview.texts) == sorted(texts.values())
    scrubbed = [
        one for one in memory.documents.chunks("b", ids=list(chunks)) if one.text != chunks[one.id].text
    ]
    assert preview.scrubbed_chunks == len(scrubbed)


def test_the_targets_cover_every_count(memory: Perdure) -> None:
    """The tests above would pass on zeros alone."""
    previews = [memory.preview_forget("b", **target_of(memory, kind, number)) for kind, number in TARGETS]
    for name in ("facts", "documents", "chunks", "scrubbed_chunks", "entities", "observations"):
        assert any(getattr(one, name) > 0 for one in previews), name


def test_the_preview_of_a_whole_bank_counts_everything(memory: Perdure) -> None:
    stats = memory.banks.stats("b")
    preview = memory.preview_forget("b", everything=True)
    assert (preview.facts, preview.documents, preview.chunks) == (stats.facts, stats.documents, stats.chunks)
    assert preview.opinions == len(memory.records.list("opinion", bank="b"))
    assert memory.banks.stats("b") == stats
    assert memory.forget("b", everything=True).facts == preview.facts


def test_the_preview_of_what_is_not_there_says_so(memory: Perdure) -> None:
    assert memory.preview_forget("b", fact_id="nothing") == ForgetPreview(existed=False)
    assert memory.preview_forget("none", everything=True) == ForgetPreview(existed=False)
    assert memory.preview_forget("b", document_id="nothing") == ForgetPreview(existed=False)


def test_a_preview_needs_one_target(memory: Perdure) -> None:
    with pytest.raises(InvalidInput, match="exactly one"):
        memory.preview_forget("b")
