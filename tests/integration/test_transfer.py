"""A bank as JSON lines and back: equal in every respect, proofs included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[tuple[Perdure, Perdure]]:
    options: dict[str, Any] = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "tokens": "approximate"}
    with Perdure.open(tmp_path / "one.db", **options) as one, Perdure.open(tmp_path / "two.db", **options) as two:
        said = "Ann moved from Oslo to Lisbon because of the light."
        one.retain("b", said, document_id="first", timestamp="2024-05-01", tags=["home"], metadata={"k": "v"})
        one.retain("b", said, document_id="second", timestamp="2024-06-01", tags=["home"])
        one.retain("b", "Ben works at Lumen Labs.", document_id="third", timestamp="2024-06-02", speaker="Ben")
        one.retain("b", "Ben works at Nordlys.", document_id="fourth", timestamp="2024-07-02", speaker="Ben")
        two.import_bank("b", list(one.export_bank("b")))
        yield one, two


def lines(engine: Perdure) -> list[dict[str, Any]]:
    return sorted((json.loads(line) for line in engine.export_bank("b")), key=lambda body: json.dumps(body, sort_keys=True))


def test_what_comes_back_is_what_went_out(engines: tuple[Perdure, Perdure]) -> None:
    one, two = engines
    kinds = {body["kind"] for body in lines(one)}
    assert {"bank", "document", "chunk", "entity", "fact", "proof"} <= kinds
    assert lines(two) == lines(one)
    assert one.stats("b").facts == two.stats("b").facts
    for question in ("Where does Ann live?", "Where does Ben work?"):
        assert [r.fact for r in two.recall("b", question, track=False)] == [
            r.fact for r in one.recall("b", question, track=False)
        ]


def test_a_fact_said_twice_still_has_its_second_home(engines: tuple[Perdure, Perdure]) -> None:
    for engine in engines:
        engine.forget("b", document_id="first")
        left = [fact for fact in engine.facts("b").facts if "Lisbon" in fact.text]
        assert [(fact.document_id, fact.proof_count) for fact in left] == [("second", 1)]
