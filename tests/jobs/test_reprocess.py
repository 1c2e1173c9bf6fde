"""Reading a bank anew that an earlier extractor filled, whose facts were worded by rules."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.surfaces.cli.main import main

GOLDEN = Path(__file__).parents[1] / "golden" / "earlier_extractor.sql"
"""A file of the last extractor with rules: `They offered me the job at Lumen ... I said yes` is a marriage there."""
QUICK: Any = {"embedder": "none", "reranker": "none", "tagger": "rules", "tokens": "approximate"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(GOLDEN.read_text("utf-8"))
    return path


@pytest.fixture
def memory(file: Path) -> Iterator[Perdure]:
    with Perdure.open(file, **QUICK) as opened:
        yield opened


def texts(memory: Perdure) -> set[str]:
    return {fact.text for fact in memory.facts.iterate("b")}


def reprocess(memory: Perdure) -> None:
    done = memory.operations.get("b", memory.documents.reprocess("b").id, wait=60)
    assert done.status == "completed", done.error


def test_facts_of_the_rules_become_statements_without_their_relations(memory: Perdure) -> None:
    assert memory.documents.outdated("b") == ["chat", "plain"]
    assert any(fact.relation == "marital_status" for fact in memory.facts.iterate("b"))
    (plain,) = (fact for fact in memory.facts.iterate("b") if fact.document_id == "plain")
    reprocess(memory)
    facts = list(memory.facts.iterate("b"))
    assert all(fact.text == fact.source_text and fact.relation is None for fact in facts)
    assert plain.id in {fact.id for fact in facts}
    (question,) = (fact for fact in facts if fact.is_question)
    assert question.text == "Which bus goes to the harbour?"
    assert memory.documents.outdated("b") == []


def test_the_preview_says_what_comes_and_goes_and_changes_nothing(memory: Perdure) -> None:
    before = texts(memory)
    preview = memory.documents.preview_reprocess("b")
    assert texts(memory) == before
    assert preview.documents == ("chat", "plain")
    assert preview.without_relation == 1
    reprocess(memory)
    after = texts(memory)
    assert set(preview.retired_texts) == before - after
    assert set(preview.new_texts) == after - before
    assert (preview.retired, preview.new) == (len(before - after), len(after - before))
    assert memory.documents.preview_reprocess("b").documents == ()


def test_what_a_user_corrected_stays_and_what_was_declared_wrong_does_not_return(memory: Perdure) -> None:
    by_text = {fact.text: fact for fact in memory.facts.iterate("b")}
    wrong = next(fact for text, fact in by_text.items() if "walnuts" in text)
    plain = by_text["Ann works at Lumen."]
    memory.facts.invalidate("b", wrong.id)
    memory.facts.update("b", plain.id, text="Ann works at Lumen Labs.")
    new = set(memory.documents.preview_reprocess("b").new_texts)
    reprocess(memory)
    assert not any("walnuts" in text for text in texts(memory) | new)
    assert "Ann works at Lumen Labs." in texts(memory)
    assert "Ann works at Lumen." not in texts(memory)


def test_relations_that_callers_pass_survive(memory: Perdure) -> None:
    passed = [("Bob", "works at", "Bolt"), ("Bob", "lives in", "Kiel")]
    memory.retain("b", "Bob is at Bolt, in Kiel.", document_id="new", relations=passed)
    assert memory.documents.outdated("b") == ["chat", "plain"]
    before = {fact.id for fact in memory.facts.iterate("b") if fact.document_id == "new"}
    operation = memory.documents.reprocess("b", "new")
    memory.operations.get("b", operation.id, wait=60)
    facts = [fact for fact in memory.facts.iterate("b") if fact.document_id == "new"]
    assert {fact.id for fact in facts} == before
    assert {fact.relation for fact in facts} == {"works_at", "lives_in"}


def test_an_interrupted_run_goes_on_in_the_next_process(file: Path) -> None:
    memory = Perdure.open(file, **QUICK)
    operation = memory.documents.reprocess("b")
    memory.close()
    with Perdure.open(file, **QUICK) as again:
        assert again.operations.get("b", operation.id, wait=60).status == "completed"
        assert again.documents.outdated("b") == []


def test_the_command_previews_and_doctor_says_that_a_bank_mixes_both(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in QUICK.items():
        monkeypatch.setenv(f"PERDURE_{name.upper()}", value)
    at = ["--database", str(file)]

    def said(*command: str) -> str:
        main([*command, *at])
        return capsys.readouterr().out

    checks = json.loads(said("doctor", "--json"))["checks"]
    assert any("2 documents (of 3) hold facts of an earlier extractor" in one["detail"] for one in checks)
    shown = said("reprocess", "--preview", "-b", "b")
    assert "- The user's sister Lena is allergic to walnuts." in shown
    assert "+ " in shown
    assert "read 2 documents anew" in said("reprocess", "-b", "b")
    assert "nothing to do" in said("reprocess", "-b", "b")
