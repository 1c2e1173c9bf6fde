"""Retain with random and hostile inputs: each is stored and found again, or refused by an error that names the field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure.domain.fact import Fact
from perdure.engine import Perdure
from perdure.errors import InvalidInput
from perdure.models.spacy_tagger import find_pipeline
from perdure.retain.request import read_item
from perdure.settings import Settings
from tests.support.hostile_inputs import Case, cases

BANK_CASES = 100
"""Cases that share a bank."""
PLAIN = Settings(embedder="hashing", tagger="rules", reranker="none")


def run(engine: Perdure, given: Iterator[Case]) -> str:
    """What happened, in a line; fails on the first input that is neither stored nor refused, or is not found again."""
    count: Counter[str] = Counter()
    for number, (content, fields) in enumerate(given):
        bank = f"bank-{number // BANK_CASES}"
        try:
            result = engine.retain(bank, content, **fields)
        except InvalidInput as error:
            count["refused" if error.field else "refused without a field"] += 1
            continue
        count["stored"] += 1
        check_text_is_kept(engine, bank, content, fields, result.document_ids)
        sought = [fact for fact in engine.facts.get_many(bank, result.fact_ids[:1]) if has_words(fact)]
        for fact in sought:
            assert is_found(engine, bank, fact), (content, fields, fact)
            count["found again"] += 1
    assert not count["refused without a field"]
    return f"{sum(count.values()) - count['found again']} inputs: " + ", ".join(
        f"{what} {often}" for what, often in sorted(count.items())
    )


def has_words(fact: Fact) -> bool:
    """Whether a question can be made of the fact's text, and the present lies in its time."""
    return (
        any(char.isalnum() for char in fact.text[:200]) and fact.valid_to is None and fact.expires_at is None
    )


def check_text_is_kept(
    engine: Perdure, bank: str, content: Any, fields: Any, documents: tuple[str, ...]
) -> None:
    """Every character of a text is in the turns of the document's chunks, in order, and nothing else."""
    assert documents
    kept = [engine.documents.chunks(bank, document_id=name) for name in documents]
    assert all(chunks for chunks in kept)
    if isinstance(content, str):
        (chunks,) = kept
        text = read_item(content, {k: v for k, v in fields.items() if v is not None}, "content").content
        assert "".join(chunk.text[span.start : span.end] for chunk in chunks for span in chunk.spans) == text


def is_found(engine: Perdure, bank: str, fact: Fact) -> bool:
    """Whether a recall with the beginning of a fact's text gives it, or another fact of the same beginning."""
    result = engine.recall(bank, fact.text[:200], budget="low", max_tokens=100_000, track=False)
    assert {degraded.part for degraded in result.degraded} <= {"reader"}
    return any(fact.id == hit.fact.id or fact.text[:200] == hit.fact.text[:200] for hit in result)


def test_hostile_inputs_are_stored_or_refused(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "memory.db", settings=PLAIN) as engine:
        happened = run(engine, cases(300, seed=1, longest=1_500))
    assert "300 inputs" in happened
    assert all(word in happened for word in ("stored", "refused", "found again"))


@pytest.mark.long
def test_ten_thousand_hostile_inputs(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "memory.db", settings=PLAIN) as engine:
        happened = run(engine, cases(10_000))
    print(happened)
    assert "10000 inputs" in happened


@pytest.mark.long
@pytest.mark.skipif(find_pipeline() is None, reason="needs perdure[nlp]")
def test_hostile_inputs_with_the_real_models(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "memory.db", settings=Settings(tagger="spacy", reranker="none")) as engine:
        happened = run(engine, cases(400, seed=2, longest=2_000))
    print(happened)
    assert "400 inputs" in happened
