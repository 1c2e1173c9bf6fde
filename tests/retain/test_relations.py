"""Relations that callers pass with a text: stored with the statement that tells them, recalled and shown with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure import Item, Perdure
from perdure.domain.fact import Fact
from perdure.errors import InvalidInput
from perdure.remote.wire import decode_arguments, encode_arguments
from perdure.surfaces.cli.main import main
from perdure.surfaces.mcp.tool import Hints, Tool
from perdure.surfaces.mcp.tools import Tools

QUICK: Any = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "tokens": "approximate"}
SAID = "Alice started at Acme this week and Bob came along."
WORKS = ("Alice", "works at", "Acme", "2026-03-02")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", **QUICK) as opened:
        yield opened


def stated(memory: Perdure) -> list[tuple[str | None, str | None, str | None, str]]:
    return [(one.subject, one.relation, one.object, one.text) for one in facts(memory) if one.relation]


def facts(memory: Perdure) -> list[Fact]:
    return sorted(memory.facts.iterate("b"), key=lambda fact: fact.ordinal)


def test_a_relation_is_stored_with_the_statement_that_tells_it(memory: Perdure) -> None:
    text = (
        "The weather in Hamburg was dreadful on all days of the long trip, as my brother had told me before we went. "
        "My old friend Alice finally started her new position at Acme, where she looks after the machines."
    )
    memory.retain("b", text, relations=[WORKS])
    (fact,) = [one for one in facts(memory) if one.relation]
    assert (fact.subject, fact.relation, fact.object) == ("Alice", "works_at", "Acme")
    assert "Acme" in fact.text
    assert fact.text == fact.source_text
    assert fact.valid_from is not None
    assert fact.valid_from.date().isoformat() == "2026-03-02"
    assert {"Alice", "Acme"} <= set(fact.entities)
    assert len(facts(memory)) > 1


def test_further_relations_of_a_statement_are_facts_in_their_own_words(memory: Perdure) -> None:
    memory.retain("b", SAID, relations=[WORKS, ("Bob", "works at", "Acme")])
    assert stated(memory) == [
        ("Alice", "works_at", "Acme", SAID),
        ("Bob", "works_at", "Acme", "Bob works at Acme"),
    ]


def test_a_relation_of_a_text_without_a_statement_is_kept(memory: Perdure) -> None:
    memory.retain("b", "Thanks!", speaker="Ann", relations=[("Ann", "likes", "tea")])
    assert stated(memory) == [("Ann", "likes", "tea", "Ann likes tea")]


def test_a_relation_for_several_turns_goes_to_one_of_them(memory: Perdure) -> None:
    turns = [
        {"role": "user", "content": "Nice weather here."},
        {"role": "user", "content": "Alice is at Acme now."},
    ]
    memory.retain("b", turns, relations=[WORKS])
    assert [text for *_, text in stated(memory)] == ["Alice is at Acme now."]


def test_other_relations_for_the_same_text_replace_them(memory: Perdure) -> None:
    memory.retain("b", SAID, document_id="d", relations=[WORKS])
    memory.retain("b", SAID, document_id="d", relations=[("Alice", "founded", "Acme")])
    assert stated(memory) == [("Alice", "founded", "Acme", SAID)]
    memory.retain("b", SAID, document_id="d")
    assert stated(memory) == [("Alice", "founded", "Acme", SAID)]


def test_a_relation_passed_with_a_repeated_statement_is_added_to_it(memory: Perdure) -> None:
    memory.retain("b", SAID, document_id="d")
    memory.retain("b", SAID, document_id="e", relations=[WORKS])
    assert stated(memory) == [("Alice", "works_at", "Acme", SAID)]
    assert len(facts(memory)) == 1


def test_a_later_value_of_a_relation_ends_the_earlier_one(memory: Perdure) -> None:
    memory.retain("b", "Alice is at Acme.", timestamp="2026-03-02", relations=[WORKS])
    memory.retain("b", "Alice is at Bolt.", timestamp="2026-06-01", relations=[("Alice", "works at", "Bolt")])
    assert [fact.object for fact in memory.facts.history("b", "Alice", "works_at")] == ["Acme", "Bolt"]
    ended = next(fact for fact in memory.facts.history("b", "Alice", "works_at"))
    assert ended.valid_to is not None
    assert ended.valid_to.date().isoformat() == "2026-06-01"


@pytest.mark.parametrize("recipe", ["memoria", "abmind"])
def test_passed_relations_are_found_and_shown_with_validity_and_citation(
    memory: Perdure, recipe: str
) -> None:
    memory.retain("b", SAID, document_id="mail-7", relations=[(*WORKS, "2026-09-01")])
    memory.retain("b", "The harbour festival in Kiel was loud.")
    result = memory.recall("b", "Where is Alice?", recipe=recipe, explain=True, as_of="2026-04-01")
    first = result.recollections[0]
    assert first.edge == "Alice -[works_at]-› Acme"
    line = next(line for line in result.to_prompt().splitlines() if SAID in line)
    assert line.startswith("[1] ")
    assert "Alice -[works_at]-› Acme; valid 2026-03-02 to 2026-09-01; source mail-7" in line
    if recipe == "abmind":
        assert first.candidate is not None
        assert ("relation", 0.6) in {(rank.channel, rank.score) for rank in first.candidate.ranks}


@pytest.mark.parametrize("recipe", ["memoria", "abmind"])
def test_statements_alone_join_those_they_mention_and_say_so(memory: Perdure, recipe: str) -> None:
    memory.retain("b", "Alice had lunch with Bob in Porto.", entities=["Alice", "Bob"])
    memory.retain("b", "The harbour festival was loud.")
    result = memory.recall("b", "What about Alice?", recipe=recipe, explain=True)
    first = result.recollections[0]
    assert first.edge == "Alice -[mentioned with]-› Porto, Bob"
    assert first.edge in result.to_prompt()
    if recipe == "abmind":
        assert first.candidate is not None
        assert ("relation", 0.01) in {(rank.channel, rank.score) for rank in first.candidate.ranks}


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Alice works at Acme in Porto now.", ("Alice", "works_at", "Acme")),
        ("Alice works at Bolt.", ("Alice", "works_at", "Bolt")),
        ("Somebody works at Acme.", (None, None, None)),
        ("Alice has left the country.", (None, None, None)),
    ],
)
def test_a_relation_whose_words_are_gone_from_the_text_is_dropped(
    memory: Perdure, text: str, relation: tuple[str | None, ...]
) -> None:
    done = memory.retain("b", "Alice works at Acme.", relations=[WORKS])
    fact = memory.facts.update("b", done.fact_ids[0], text=text)
    assert (fact.subject, fact.relation, fact.object) == relation


@pytest.mark.parametrize(
    ("relations", "field"),
    [
        ("Alice; works at; Acme", "relations"),
        (["Alice works at Acme"], "relations[0]"),
        ([WORKS, ("Alice", "", "Acme")], "relations[1].relation"),
        ([("Alice", "works at", 7)], "relations[0].object"),
        (
            [{"subject": "Alice", "relation": "works at", "object": "Acme", "since": "2020"}],
            "relations[0].since",
        ),
        ([(*WORKS[:3], "soon")], "relations[0].valid_from"),
        ([(*WORKS, "2026-01-01")], "relations[0].valid_to"),
    ],
)
def test_wrong_relations_are_refused_by_the_name_of_the_field(
    memory: Perdure, relations: Any, field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        memory.retain("b", SAID, relations=relations)
    assert refused.value.field == field


def test_secrets_in_relations_are_masked(memory: Perdure) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory.retain("b", SAID, relations=[("Alice", "token", key)])
    assert all(key not in str(fact) for fact in facts(memory))


def test_background_and_remote_retains_carry_relations(memory: Perdure) -> None:
    operation = memory.retain_later("b", SAID, relations=[WORKS])
    memory.operations.get("b", operation.id, wait=30)
    assert [one[:3] for one in stated(memory)] == [("Alice", "works_at", "Acme")]
    sent = encode_arguments({"content": Item(content=SAID, relations=[WORKS])})
    item = decode_arguments("retain", sent)["content"]
    assert isinstance(item, Item)
    assert item.relations[0].object == "Acme"


def test_the_command_line_takes_relations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in QUICK.items():
        monkeypatch.setenv(f"PERDURE_{name.upper()}", value)
    command = ["retain", SAID, "--relation", "Alice; works at; Acme; 2026-03-02", "-b", "b"]
    assert main([*command, "--database", str(tmp_path / "c.db")]) == 0
    with Perdure.open(tmp_path / "c.db", **QUICK) as memory:
        assert stated(memory) == [("Alice", "works_at", "Acme", SAID)]


def test_assistants_pass_relations_as_objects(memory: Perdure) -> None:
    tool = Tool(Tools(memory).retain, Hints(title="retain"))
    relation = {"subject": "Alice", "relation": "works at", "object": "Acme"}
    tool.method(**tool.read({"content": SAID, "relations": [relation], "bank": "b"}))
    assert stated(memory) == [("Alice", "works_at", "Acme", SAID)]
