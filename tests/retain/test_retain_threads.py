"""What threads that retain at once write is what one alone writes."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from perdure import Perdure
from perdure.text import terms

CONVERSATION = Path("bench/week_conversation.json")
THREADS, TURNS = 4, 40


def turns() -> list[tuple[str, str]]:
    """(speaker, text) of the first turns of a conversation."""
    sessions = json.loads(CONVERSATION.read_text(encoding="utf-8"))
    return [(item["speaker"], item["text"]) for one in sessions for item in one["items"]][:TURNS]


def retain_all(memory: Perdure, bank: str) -> None:
    for number, (speaker, text) in enumerate(turns()):
        when = f"2026-03-{1 + number % 28:02}T10:00:00Z"
        memory.retain(bank, text, speaker=speaker, document_id=f"turn-{number:02}", timestamp=when)


def written(memory: Perdure, bank: str) -> list[object]:
    """Every fact with what it is found by, in the order of the turns."""
    facts = sorted(memory.facts.iterate(bank), key=lambda fact: (fact.document_id, fact.text))
    with memory._components.store.reading(bank) as reading:
        features = reading.features([fact.id for fact in facts])
    return [
        (
            fact.text, fact.relation, fact.object, fact.occurred_start, fact.valid_to, fact.emotion, fact.entities,
            features[fact.id].terms, features[fact.id].words,
        )
        for fact in facts
    ]  # fmt: skip


def test_threads_that_retain_at_once_write_what_one_alone_writes(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "memory.db", embedder="hashing", reranker="none", tagger="rules") as memory:
        usual = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            with ThreadPoolExecutor(THREADS) as threads:
                list(threads.map(lambda number: retain_all(memory, f"bank-{number}"), range(THREADS)))
        finally:
            sys.setswitchinterval(usual)
        for cached in (terms._terms_of, terms._stem):
            cached.cache_clear()
        retain_all(memory, "alone")
        alone = written(memory, "alone")
        assert len(alone) > TURNS // 2
        for number in range(THREADS):
            assert written(memory, f"bank-{number}") == alone
