"""A bank as JSON lines and back again, on the in-memory store."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perdure.domain.filter import Filter
from perdure.errors import Conflict, InvalidInput
from perdure.manage.curation import invalidate_fact, restore_fact
from perdure.manage.transfer import export_bank, import_bank
from perdure.testing.agreement import assert_same_memory
from perdure.testing.memory_store import MemoryStore
from tests.unit.manage.memory import Memory


@pytest.fixture
def memory() -> Memory:
    memory = Memory()
    said = "Ann moved from Oslo to Lisbon because of the light."
    memory.retain(said, document_id="first", speaker="Ann", tags=["home"], metadata={"k": "v"})
    memory.retain(said, document_id="second", speaker="Ann", tags=["home"])
    (wrong,) = memory.retain("Ben works at Lumen Labs.", document_id="third", entities=["Ben"])
    invalidate_fact(memory.components, "b", wrong, "hearsay")
    return memory


def exported(memory: Memory) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export_bank(memory.store, "b", memory.moment)]


def as_lines(bodies: list[dict[str, Any]]) -> list[str]:
    return [json.dumps(body) for body in bodies]


def test_what_comes_back_is_what_went_out(memory: Memory) -> None:
    copy = MemoryStore(lambda: memory.moment)
    assert import_bank(copy, "b", export_bank(memory.store, "b", memory.moment)) == 2
    assert_same_memory(memory.store, copy, "b", Filter().at(memory.moment))
    with pytest.raises(Conflict, match="already holds facts"):
        import_bank(copy, "b", export_bank(memory.store, "b", memory.moment))


def test_open_facts_that_state_the_same_come_back_as_they_were(memory: Memory) -> None:
    (fact_id,) = memory.retain("Ben works at Nordlys.", document_id="fourth")
    invalidate_fact(memory.components, "b", fact_id)
    memory.retain("Ben works at Nordlys.", document_id="fifth")
    restore_fact(memory.components, "b", fact_id)
    copy = MemoryStore(lambda: memory.moment)
    import_bank(copy, "b", export_bank(memory.store, "b", memory.moment))
    assert_same_memory(memory.store, copy, "b", Filter().at(memory.moment))


def test_version_1_is_read(memory: Memory) -> None:
    bodies = exported(memory)
    bodies[0]["version"] = 1
    for body in bodies:
        if body["kind"] == "fact":
            features = body["features"]
            in_context = features.pop("passage_in_context")
            own = features["passage"] or body["text"]
            features["passage"] = f"{in_context}\x1f{own}" if in_context else features["passage"]
            if body.pop("invalidated_at"):
                body["flags"] = ["other", f"invalidated: {body.pop('invalid_reason')}"]
            else:
                body.pop("invalid_reason")
    copy = MemoryStore(lambda: memory.moment)
    import_bank(copy, "b", as_lines(bodies))
    with copy.reading("b") as reading, memory.store.reading("b") as original:
        ids = [body["id"] for body in bodies if body["kind"] == "fact"]
        assert reading.passages(ids) == original.passages(ids)
        wrong = next(fact for fact in reading.facts(ids) if fact.invalidated_at)
        assert (wrong.invalid_reason, wrong.invalidated_at, wrong.flags) == (
            "hearsay",
            wrong.retired_at,
            ("other",),
        )


def test_a_later_version_and_vectors_of_another_size_are_refused(memory: Memory) -> None:
    bodies = exported(memory)
    with pytest.raises(InvalidInput, match="version"):
        import_bank(MemoryStore(), "b", as_lines([bodies[0] | {"version": 3}]))
    for model in ({"name": "m", "dimensions": 3}, None):
        store = MemoryStore()
        with pytest.raises(InvalidInput, match="line"):
            import_bank(store, "b", as_lines([bodies[0] | {"model": model}, *bodies[1:]]))
        assert store.banks() == []
