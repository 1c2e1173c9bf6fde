"""Names in chats with code: fragments, identifiers, file names and verbs are nobody; a name is one entity, typed or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure import Item, Perdure
from perdure.extract.local.code_names import begins_instruction, named_type, without_verb
from perdure.extract.local.mentions import find_mentions
from perdure.ports.tagger import Mention


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    options = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "tokens": "approximate"}
    with Perdure.open(tmp_path / "m.db", **options) as opened:  # type: ignore[arg-type]
        yield opened


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("COUNT(o.id", ""), ("PATH=$PATH", ""), ("curl -X POST", ""), ("Name | City", ""), ("rm -rf", ""),
        ("SELECT", ""), ("CREATE INDEX", ""), ("src/lib/Foo", ""),
        ("InvoiceService", "concept"), ("load_invoice", "concept"), ("main.tf", "concept"), ("Docker Desktop", "concept"),
        ("Grafana", "concept"), ("Ann Lind", "person"), ("McDonald", "person"), ("Ann O'Brien", "person"),
        ("José DeSouza", "person"), ("J. R. Reed", "person"), ("Chidi", "person"),
    ],
)  # fmt: skip
def test_what_a_tagger_takes_for_a_person(name: str, kept: str) -> None:
    assert named_type(name, "person") == kept


def test_code_between_backticks_names_nobody() -> None:
    text = "Run `Marcus Reset` and ask Priya.\n```\nMarcus = Reset()\n```"
    tagged = [Mention(name, "person", 0, len(name)) for name in ("Marcus", "Priya")]
    assert {(m.text, m.type) for m in find_mentions(text, tagged)} == {
        ("Marcus Reset", "concept"),
        ("Priya", "person"),
    }


@pytest.mark.parametrize(
    "text",
    ["from enum import Enum", "class Enum(Base):", "const Enum = 3", "Enum.load();", "  def Enum(self):", "$ Enum --help", "the enum here"],
)  # fmt: skip
def test_lines_of_code_and_words_in_lower_case_name_nobody(text: str) -> None:
    assert [m for m in find_mentions(text, [Mention("Enum", "person", 0, 4)]) if m.type == "person"] == []


def test_prose_beside_code_keeps_its_names() -> None:
    text = "Priya wrote it:\nimport os\nand Marcus tested it."
    tagged = [Mention(name, "person", 0, len(name)) for name in ("Priya", "Marcus")]
    assert {m.text for m in find_mentions(text, tagged)} == {"Priya", "Marcus"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Open Grafana and look.", {"Grafana"}),
        ("Book the venue. Deploying took an hour.", set()),
        ("- Book the venue", set()),
        ("We met Open at a concert.", {"Open"}),
    ],
)
def test_a_verb_that_begins_a_sentence_is_no_name(text: str, names: set[str]) -> None:
    tagged = [
        Mention(name, "concept", 0, len(name)) for name in ("Open Grafana", "Book", "Deploying", "Open")
    ]
    assert {m.text for m in find_mentions(text, tagged)} == names


def test_verbs_are_told_from_names() -> None:
    assert without_verb("Ask the Billing Team") == "Billing Team"
    assert without_verb("Mark Reed") == "Mark Reed"
    assert begins_instruction("Restart it.", 0, 7)
    assert not begins_instruction("Ann came.", 0, 3)


def test_a_name_inside_a_longer_one_is_found_where_it_stands_alone() -> None:
    text = "Ann's notes: Ann moved to Oslo."
    mentions = find_mentions(text, [Mention("Ann", "person", 13, 16)], [("Ann's notes", "concept")])
    assert [(m.text, m.start) for m in mentions] == [("Ann's notes", 0), ("Ann", 13)]


@pytest.mark.parametrize("given", [("Ann", "PERSON"), {"text": "Ann", "type": "Person"}, ("Ann", "PER")])
def test_a_name_given_with_a_type_and_found_without_is_one_entity(memory: Perdure, given: object) -> None:
    memory.retain("b", "I met Ann at the station in Oslo.")
    memory.retain("b", "Ann plays the cello.", entities=[given])  # type: ignore[list-item]
    memory.retain("b", "We saw Ann again at the market.")
    anns = [entity for entity in memory.entities.list("b") if entity.name == "Ann"]
    assert [(one.type, one.mentions) for one in anns] == [("person", 3)]


def test_a_callers_type_goes_before_the_taggers(memory: Perdure) -> None:
    memory.retain(
        "b",
        [
            Item(content="We drove to Jordan on Monday.", document_id="1"),
            Item(content="Jordan plays the cello.", entities=(("Jordan", "person"),), document_id="2"),
        ],
    )
    assert [entity.type for entity in memory.entities.list("b") if entity.name == "Jordan"] == ["person"]
