"""Correcting entities by hand: two become one, or one becomes two."""

from __future__ import annotations

import pytest

from perdure.domain.fact import Entity, Fact
from perdure.errors import InvalidInput
from perdure.manage.entities import merge_two, split_one


def entity(name: str) -> Entity:
    return Entity(id=f"known:{name}", bank="b", name=name, type="person", mentions=3)


def fact(fact_id: str, text: str, *entities: Entity) -> Fact:
    return Fact(
        id=fact_id, bank="b", text=text, entity_ids=tuple(e.id for e in entities),
        entities=tuple(e.name for e in entities), subject=entities[0].name, relation="knows", object="x",
    )  # fmt: skip


def test_merging_and_splitting_again() -> None:
    keep, gone = entity("Ann Lee"), entity("Annie")
    merged = merge_two(keep, gone, [fact("f1", "Annie sings.", gone, keep)])
    assert merged.removed == (gone.id,)
    assert merged.entities[0].entity.aliases == ("Annie",)
    assert merged.entities[0].entity.mentions == 6
    (update,) = merged.updates
    assert update.entity_ids == (keep.id,)
    assert update.subject == "Ann Lee"

    both = merged.entities[0].entity
    parted = split_one(both, [update, fact("f2", "Ann Lee paints.", both)], name="Annie", new_id="n1")
    assert [item.entity.name for item in parted.entities] == ["Ann Lee", "Annie"]
    assert parted.entities[0].entity.aliases == ()
    assert [(f.id, f.entity_ids) for f in parted.updates] == [("f1", ("n1",))]


def test_a_split_can_name_its_facts() -> None:
    both = entity("Ann")
    parted = split_one(both, [fact("f1", "Ann a.", both), fact("f2", "Ann b.", both)], name="Ann Ray", new_id="n", fact_ids=["f2"])  # fmt: skip
    assert [f.id for f in parted.updates] == ["f2"]


def test_what_cannot_be_merged_or_split_is_refused() -> None:
    ann = entity("Ann")
    with pytest.raises(InvalidInput):
        merge_two(ann, ann, [])
    with pytest.raises(InvalidInput):
        split_one(ann, [], name="ann", new_id="n")
