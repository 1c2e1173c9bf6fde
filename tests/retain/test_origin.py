"""Where memories come from, and that tools and web pages are no evidence about the user."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure import Evidence, Filter, InvalidInput, Item, Perdure
from perdure.domain.fact import Origin

BANK = "ann"
LISBON, BERLIN = "I live in Lisbon near the harbour.", "The user Ann lives in Berlin."
ASKED = "Where do I live?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(
        tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules", require_keys=False
    ) as opened:
        yield opened


def origins(memory: Perdure) -> dict[str, Origin | None]:
    return {fact.text: fact.origin for fact in memory.facts.iterate(BANK)}


def tool_says(memory: Perdure, text: str) -> None:
    memory.retain(BANK, [{"role": "tool", "tool_call_id": "1", "content": text}])


def test_the_origin_follows_from_the_role_unless_it_is_given(memory: Perdure) -> None:
    memory.retain(
        BANK,
        [
            {"role": "user", "content": "Ann keeps bees."}, {"role": "assistant", "content": "Bees need clover."},
            {"role": "tool", "tool_call_id": "1", "content": "Clover costs 4 euros."},
        ],
    )  # fmt: skip
    memory.retain(BANK, "Bees dance.", origin="web")
    memory.retain(BANK, Item(content="Bees sleep.", role="assistant", origin=Origin.AGENT))
    memory.retain(BANK, "Bees fly.")
    assert origins(memory) == {
        "Ann keeps bees.": Origin.USER,
        "Bees need clover.": Origin.ASSISTANT,
        "Clover costs 4 euros.": Origin.TOOL,
        "Bees dance.": Origin.WEB,
        "Bees sleep.": Origin.AGENT,
        "Bees fly.": None,
    }
    with pytest.raises(InvalidInput, match="origin"):
        memory.retain(BANK, "Bees hum.", origin="nowhere")  # type: ignore[arg-type]


def test_a_filter_admits_origins_and_a_prompt_tells_them(memory: Perdure) -> None:
    memory.retain(BANK, "Bees dance in the hive.", origin="web")
    memory.retain(BANK, "Bees sleep in the hive.", metadata={"origin": "web"})
    result = memory.recall(
        BANK, "What do bees do in the hive?", where=Filter(origins=frozenset({Origin.WEB}))
    )
    assert [one.text for one in result] == ["Bees dance in the hive."]
    assert "(from a web page" in result.to_prompt()


@pytest.mark.parametrize("user", ["user", "Ann"])
def test_what_a_tool_says_of_the_user_is_found_but_is_no_evidence(memory: Perdure, user: str) -> None:
    memory.retain(BANK, [{"role": "user", "name": user, "content": LISBON}])
    tool_says(memory, BERLIN)
    asked = ASKED if user == "user" else "Where does Ann live?"
    found = memory.recall(BANK, asked)
    assert [one.fact.is_foreign for one in found] == [False, True]
    assert found.recollections[1].evidence is not Evidence.STRONG
    assert BERLIN not in memory.recall(BANK, asked, precision="inject").to_prompt()
    assert "Berlin" not in memory.reflect(BANK, asked).text
    named = memory.recall(BANK, asked, where=Filter(origins=frozenset({Origin.TOOL})))
    assert [one.text for one in named] == [BERLIN]


def test_what_only_a_tool_says_of_the_user_is_weak_and_never_injected(memory: Perdure) -> None:
    tool_says(memory, BERLIN)
    found = memory.recall(BANK, ASKED)
    assert found.evidence is not Evidence.STRONG
    assert memory.recall(BANK, ASKED, precision="inject").abstained
    assert memory.recall(BANK, "Which city is on record for the account?").recollections[0].text == BERLIN


def test_the_user_says_a_thing_anew_that_a_tool_said_before(memory: Perdure) -> None:
    tool_says(memory, "Ann keeps bees.")
    memory.retain(BANK, [{"role": "user", "content": "Ann keeps bees."}])
    assert sorted(fact.is_foreign for fact in memory.facts.iterate(BANK)) == [False, True]


def test_a_document_that_is_read_anew_keeps_its_origin(memory: Perdure) -> None:
    memory.retain(BANK, "Bees dance.", origin="web", document_id="page")
    operation = memory.documents.reprocess(BANK, "page")
    memory.operations.get(BANK, operation.id, wait=30)
    assert origins(memory) == {"Bees dance.": Origin.WEB}
