"""A bank as JSON lines and back again, on the in-memory store."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.errors import Conflict, InvalidInput
from perdure.manage.curation import invalidate_fact, restore_fact
from perdure.manage.transfer import export_bank, import_bank
from perdure.retain.commit import Closure, FactChanges, commit
from tests.manage.memory import Memory
from tests.support.agreement import assert_same_memory
from tests.support.memory_store import MemoryStore


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


def test_the_closings_of_a_fact_come_along(memory: Memory) -> None:
    memory.retain("Ann lives in Lisbon.", document_id="moved")
    old, new = memory.facts()[0], memory.facts()[-1]
    closure = Closure(fact_id=old.id, valid_to=memory.moment, superseded_by=new.id)
    commit(memory.store, FactChanges(bank="b", now=memory.moment, closures=[closure]))
    invalidate_fact(memory.components, "b", new.id)
    copy = MemoryStore(lambda: memory.moment)
    import_bank(copy, "b", export_bank(memory.store, "b", memory.moment))
    restored = replace(memory.components, store=copy)
    assert not copy_fact(copy, old.id).is_ended
    restore_fact(restored, "b", new.id)
    assert copy_fact(copy, old.id).superseded_by == new.id


def copy_fact(store: MemoryStore, fact_id: str) -> Fact:
    with store.reading("b") as reading:
        return reading.facts([fact_id])[0]


def test_a_later_version_and_vectors_of_another_size_are_refused(memory: Memory) -> None:
    bodies = exported(memory)
    with pytest.raises(InvalidInput, match="version"):
        import_bank(MemoryStore(), "b", as_lines([bodies[0] | {"version": 2}]))
    for model in ({"name": "m", "dimensions": 3}, None):
        store = MemoryStore()
        with pytest.raises(InvalidInput, match="line"):
            import_bank(store, "b", as_lines([bodies[0] | {"model": model}, *bodies[1:]]))
        assert store.banks() == []
