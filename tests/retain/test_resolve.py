"""Entity resolution: what is the same and what is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from perdure.domain.fact import Entity
from perdure.ports.store import KeyedEntity
from perdure.retain.entities import Resolution, Sighting, keyed, resolve
from perdure.retain.likeness import full_names_conflict

NOW = datetime(2024, 3, 1, tzinfo=UTC)


def known(
    name: str, kind: str = "person", *, days_ago: int = 1, aliases: tuple[str, ...] = ()
) -> KeyedEntity:
    entity = Entity(
        id=f"known:{name}",
        bank="b",
        name=name,
        type=kind,
        aliases=aliases,
        mentions=3,
        last_seen=NOW - timedelta(days_ago),
    )
    return keyed(entity)


def see(name: str, kind: str = "person", *context: str) -> Sighting:
    return Sighting(name=name, type=kind, seen_at=NOW, context=frozenset(context))


def settle(sightings: list[Sighting], *entities: KeyedEntity, **more: object) -> Resolution:
    return resolve("b", sightings, list(entities), lambda name, kind: f"new:{name}:{kind}", **more)  # type: ignore[arg-type]


def test_the_same_name_is_the_same_thing_and_is_counted() -> None:
    found = settle([see("Ann Lee"), see("ann lee")], known("Ann Lee"))
    assert {d.entity_id for d in found.decisions} == {"known:Ann Lee"}
    (entity,) = found.entities
    assert entity.entity.mentions == 5
    assert found.added_mentions == {"known:Ann Lee": 2}
    assert entity.entity.last_seen == NOW
    assert "same name" in found.decisions[0].reason


def test_bob_is_the_only_bob_smith() -> None:
    found = settle([see("Bob")], known("Bob Smith"))
    assert found.decisions[0].entity_id == "known:Bob Smith"
    assert found.decisions[0].score >= 0.75
    assert found.canonical("bob") == "Bob Smith"
    assert found.entities[0].entity.aliases == ("Bob",)


def test_bob_is_nobody_known_when_there_are_two() -> None:
    found = settle([see("Bob")], known("Bob Smith"), known("Bob Jones"))
    assert found.decisions[0].is_new


def test_nicknames_titles_and_abbreviations() -> None:
    assert settle([see("Mel")], known("Melanie")).decisions[0].entity_id == "known:Melanie"
    assert settle([see("Bob")], known("Robert Paulson")).decisions[0].entity_id == "known:Robert Paulson"
    assert settle([see("Dr. Ann Lee")], known("Ann Lee")).decisions[0].entity_id == "known:Ann Lee"
    ibm = known("International Business Machines", "organisation")
    assert settle([see("IBM", "organisation")], ibm).decisions[0].entity_id == ibm.entity.id


def test_a_fuller_name_becomes_the_name() -> None:
    found = settle([see("Ann Lee")], known("Ann"))
    assert found.entities[0].entity.name == "Ann Lee"
    assert found.entities[0].entity.aliases == ("Ann",)
    assert "lee" in found.entities[0].keys
    assert "ann" in found.entities[0].keys


@pytest.mark.parametrize(
    ("name", "kind", "other"),
    [
        ("GPT-4", "product", known("GPT-3", "product")),
        ("Rocky III", "work", known("Rocky II", "work")),
        ("Bob Jones", "person", known("Bob Smith")),
        ("Jane Smith", "person", known("John Smith")),
        ("@ann", "handle", known("Ann")),
        ("https://a.org/1", "url", known("https://a.org/2", "url")),
        ("New York Times", "organisation", known("New York", "place")),
        ("Bank of England", "organisation", known("Bank of America", "organisation")),
        ("Bob Jones", "person", known("Bob", aliases=("Bob Smith",))),
    ],
)
def test_conflicts_never_merge(name: str, kind: str, other: KeyedEntity) -> None:
    assert settle([see(name, kind)], other).decisions[0].is_new


def test_full_names_whose_family_names_differ_by_a_letter_stay_apart() -> None:
    assert settle([see("Microsfot", "organisation")], known("Microsoft", "organisation")).decisions[0].is_new
    for name, other in (("Alice Moreaux", "Alice Moreau"), ("Johannes Gutenburg", "Johannes Gutenberg")):
        found = resolve("b", [see(name)], [known(other)], lambda name, kind: f"new:{name}")
        assert found.decisions[0].is_new
    assert full_names_conflict("Jonathan Reed", "Jonathan Reeves")
    assert not full_names_conflict("Jon Reed", "Jonathan Reed")


def test_stated_aliases_join() -> None:
    found = settle(
        [see("Bay Area Rapid Transit", "organisation"), see("the Bart", "organisation")],
        aliases=[("Bay Area Rapid Transit", "Bart")],
    )
    assert len({d.entity_id for d in found.decisions}) == 1
    assert found.entities[0].entity.aliases == ("the Bart",)


def test_new_things_are_made_once() -> None:
    found = settle([see("Zoe"), see("Zoe"), see("Zoe", "place")])
    assert [d.is_new for d in found.decisions] == [True, False, False]
    assert len(found.entities) == 1
