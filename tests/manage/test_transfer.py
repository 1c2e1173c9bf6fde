"""A bank as JSON lines and back: equal in every respect, proofs included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import InvalidInput, ModelError
from perdure.manage import transfer


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[tuple[Perdure, Perdure]]:
    options: dict[str, Any] = {
        "embedder": "hashing",
        "reranker": "none",
        "tagger": "rules",
        "tokens": "approximate",
    }
    with (
        Perdure.open(tmp_path / "one.db", **options) as one,
        Perdure.open(tmp_path / "two.db", **options) as two,
    ):
        said = "Ann moved from Oslo to Lisbon because of the light."
        one.retain("b", said, document_id="first", timestamp="2024-05-01", tags=["home"], metadata={"k": "v"})
        one.retain("b", said, document_id="second", timestamp="2024-06-01", tags=["home"])
        one.retain(
            "b", "Ben works at Lumen Labs.", document_id="third", timestamp="2024-06-02", speaker="Ben"
        )
        one.retain("b", "Ben works at Nordlys.", document_id="fourth", timestamp="2024-07-02", speaker="Ben")
        two.banks.restore("b", list(one.banks.export("b")))
        yield one, two


def altered(one: Perdure, old: str, new: str) -> list[str]:
    exported = list(one.banks.export("b"))
    assert old in "".join(exported)
    return [line.replace(old, new) for line in exported]


def lines(engine: Perdure) -> list[dict[str, Any]]:
    return sorted(
        (json.loads(line) for line in engine.banks.export("b")),
        key=lambda body: json.dumps(body, sort_keys=True),
    )


def test_mental_models_pages_and_directives_go_with_a_bank(engines: tuple[Perdure, Perdure]) -> None:
    one, _ = engines
    page, operation = one.knowledge.create_page(
        "b", "Ann", "Where does Ann live?", trigger={"fact_types": ["world"]}
    )
    one.operations.get("b", operation.id, wait=20)
    one.directives.create("b", "Tone", "Be kind.", tags=["mail"])
    exported = list(one.banks.export("b"))
    one.banks.restore("copy", exported)
    copied = one.knowledge.get("copy", page.id)
    assert copied.model is not None
    assert page.model is not None
    assert copied.model.content == one.models.get("b", page.model.id).content
    assert one.models.history("copy", copied.model.id) == one.models.history("b", page.model.id)
    assert one.models.stale("copy") == frozenset()
    assert [rule.content for rule in one.directives.list("copy")] == ["Be kind."]
    for old, new in (('"record":"directive"', '"record":"job"'), ('"priority":0', '"priority":"high"')):
        with pytest.raises(InvalidInput, match="line"):
            one.banks.restore("broken", [line.replace(old, new) for line in exported])


def test_what_comes_back_is_what_went_out(engines: tuple[Perdure, Perdure]) -> None:
    one, two = engines
    kinds = {body["kind"] for body in lines(one)}
    assert {"bank", "document", "chunk", "entity", "fact", "proof"} <= kinds
    assert lines(two) == lines(one)
    assert one.banks.stats("b").facts == two.banks.stats("b").facts
    for question in ("Where does Ann live?", "Where does Ben work?"):
        assert [r.fact for r in two.recall("b", question, track=False)] == [
            r.fact for r in one.recall("b", question, track=False)
        ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"dimensions":', '"dimensions":1'),
        ('"context":""', '"context":null'),
        ('"ordinal":0', '"ordinal":1e999'),
        ('"relevance":0.0', '"relevance":NaN'),
        ('"terms":{"', '"terms":{"x":"y","'),
        ("Lisbon", "\\ud800"),
    ],
)
def test_what_cannot_be_imported_changes_nothing(
    engines: tuple[Perdure, Perdure], old: str, new: str
) -> None:
    one, two = engines
    two.banks.configure("named", name="Mine", mission="as it was")
    for bank in ("named", "unheard"):
        with pytest.raises(InvalidInput):
            two.banks.restore(bank, altered(one, old, new))
        assert two.banks.stats(bank).documents == 0
    assert (two.banks.get("named").name, two.banks.get("named").mission) == ("Mine", "as it was")
    assert [bank.id for bank in two.banks.list()] == ["b", "named"]


def test_a_fact_that_stands_twice_is_refused_with_its_line(engines: tuple[Perdure, Perdure]) -> None:
    one, two = engines
    exported = list(one.banks.export("b"))
    again = next(line for line in exported if '"kind":"fact"' in line)
    with pytest.raises(InvalidInput, match=f"line {len(exported) + 2}"):
        two.banks.restore("c", [*exported, "", again])


def test_what_stays_is_exported_once_while_other_facts_are_erased(
    engines: tuple[Perdure, Perdure], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = engines
    monkeypatch.setattr(transfer, "PAGE", 4)
    for number in range(20):
        one.retain("busy", f"Person{number} lives in Town{number}.", document_id=f"d{number}")
    exported: list[str] = []
    for line in one.banks.export("busy"):
        body = json.loads(line)
        if body["kind"] == "fact":
            exported.append(body["id"])
            if len(exported) == 6:
                for number in range(3):
                    one.forget("busy", document_id=f"d{number}")
    assert len(exported) == len(set(exported))
    assert {fact.id for fact in one.facts.list("busy").facts} <= set(exported)


def test_a_document_without_its_facts_gets_them_where_it_was_brought_to(
    engines: tuple[Perdure, Perdure], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = engines
    embedder = one._components.retain.embedder

    def broken(_: object) -> None:
        raise ModelError("no model")

    monkeypatch.setattr(embedder, "embed_passages", broken)
    said = {"content": "Cleo lives in Bern.", "document_id": "d", "timestamp": "2024-05-01"}
    with pytest.raises(ModelError):
        one.retain("unfinished", [said])
    two.banks.restore("unfinished", one.banks.export("unfinished"))
    assert two.banks.stats("unfinished").facts == 0
    assert len(two.retain("unfinished", [said]).fact_ids) == 1
