"""Changes that a person makes to facts, documents and entities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from perdure.domain.fact import FactType
from perdure.errors import InvalidInput
from perdure.manage.curation import (
    invalidate_fact,
    restore_fact,
    retag_document,
    set_fact_entities,
    update_fact,
)
from perdure.manage.entities import Entities
from tests.manage.memory import Memory


@pytest.fixture
def memory() -> Memory:
    return Memory()


def test_fields_change_in_place(memory: Memory) -> None:
    (fact_id,) = memory.retain("Ann lives in Oslo.")
    changed = update_fact(memory.components, "b", fact_id, {"tags": ["home"], "type": "opinion"})
    assert (changed.id, changed.tags, changed.type) == (fact_id, {"home"}, FactType.OPINION)
    assert memory.fact(fact_id) == changed


def test_a_changed_text_closes_the_fact_and_states_it_anew(memory: Memory) -> None:
    (fact_id,) = memory.retain("Ann lives in Oslo.")
    changed = update_fact(memory.components, "b", fact_id, {"text": "Ann lives in Bergen."})
    assert [fact.text for fact in memory.facts()] == ["Ann lives in Bergen."]
    assert changed.id > fact_id
    assert memory.fact(fact_id).retired_at is not None
    (features,) = memory.features([changed.id])
    assert (features.vectors["fact"] == features.vectors["context"]).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"context": None}, {"tags": "home"}, {"tags": [1]}, {"metadata": {"k": 1}}, {"classification": 1.5},
        {"relevance": float("nan")}, {"entities": ["Ann"]}, {"invalidated_at": "2024-01-01"}, {"proof_count": 2},
    ],
)  # fmt: skip
def test_values_that_do_not_fit_are_refused(memory: Memory, changes: dict[str, Any]) -> None:
    (fact_id,) = memory.retain("Ann lives in Oslo.")
    before = memory.fact(fact_id)
    with pytest.raises(InvalidInput, match=next(iter(changes))):
        update_fact(memory.components, "b", fact_id, changes)
    assert memory.fact(fact_id) == before


def test_a_fact_declared_wrong_is_retired_and_can_be_restored(memory: Memory) -> None:
    (fact_id,) = memory.retain("Ann lives in Oslo.")
    before = memory.fact(fact_id)
    wrong = invalidate_fact(memory.components, "b", fact_id, "hearsay")
    assert (wrong.invalidated_at, wrong.retired_at, wrong.invalid_reason) == (
        memory.moment,
        memory.moment,
        "hearsay",
    )
    assert memory.facts() == []
    again = invalidate_fact(memory.components, "b", fact_id)
    assert (again.retired_at, again.invalid_reason) == (wrong.retired_at, None)
    assert restore_fact(memory.components, "b", fact_id) == before
    assert memory.facts() == [before]
    invalidate_fact(memory.components, "b", fact_id, "hearsay")
    assert update_fact(memory.components, "b", fact_id, {"retired_at": None}) == before
    with pytest.raises(InvalidInput, match="reason"):
        invalidate_fact(memory.components, "b", fact_id, "\ud800")


def test_what_another_superseded_cannot_be_restored(memory: Memory) -> None:
    (fact_id,) = memory.retain("Ann lives in Oslo.")
    (other,) = memory.retain("Ann has a boat.")
    with memory.store.transaction("b") as tx:
        tx.update_facts([replace(memory.fact(fact_id), retired_at=memory.moment, superseded_by=other)])
    with pytest.raises(InvalidInput, match="superseded"):
        restore_fact(memory.components, "b", fact_id)


def test_a_document_and_its_facts_are_retagged(memory: Memory) -> None:
    memory.retain("Ann lives in Oslo.", document_id="d", tags=["home"])
    memory.retain("Ann lives in Bergen.", document_id="d")
    document = retag_document(memory.components, "b", "d", ["work"])
    assert document.tags == {"work"}
    assert [fact.tags for fact in memory.facts(include_closed=True)] == [{"work"}, {"work"}]
    with pytest.raises(InvalidInput, match="tags"):
        retag_document(memory.components, "b", "d", [""])


def test_the_entities_of_a_fact_are_replaced(memory: Memory) -> None:
    (fact_id,) = memory.retain("It rained.", entities=["Oslo"])
    changed = set_fact_entities(memory.components, "b", fact_id, ["Bergen", "Ann Lee"])
    assert changed.entities == ("Bergen", "Ann Lee")
    with memory.store.reading("b") as reading:
        mentions = {keyed.entity.name: keyed.entity.mentions for keyed in reading.entities()}
    assert mentions == {"Bergen": 1, "Ann Lee": 1, "Oslo": 0}
    resolved = set_fact_entities(memory.components, "b", fact_id, ["Ann"])
    assert resolved.entities == ("Ann Lee",)
    exact = set_fact_entities(memory.components, "b", fact_id, ["Ann"], resolve=False)
    assert exact.entities == ("Ann",)


def test_entities_are_merged_and_split(memory: Memory) -> None:
    (fact_id,) = memory.retain("Annie sings.", entities=["Annie"])
    memory.retain("It is Ann Lee who paints.", entities=["Ann Lee"])
    with memory.store.reading("b") as reading:
        ids = {keyed.entity.name: keyed.entity.id for keyed in reading.entities()}
    merged = Entities(memory.components, lambda bank, entity_id: None).merge(
        "b", ids["Ann Lee"], ids["Annie"]
    )
    assert (merged.aliases, merged.mentions) == (("Annie",), 2)
    assert memory.fact(fact_id).entities == ("Ann Lee",)
    parted = Entities(memory.components, lambda bank, entity_id: None).split("b", merged.id, "Annie")
    assert memory.fact(fact_id).entity_ids == (parted.id,)
    with memory.store.reading("b") as reading:
        assert sorted(keyed.entity.name for keyed in reading.entities()) == ["Ann Lee", "Annie"]
