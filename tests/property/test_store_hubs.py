"""A store that is asked between writes knows the best-connected facts of an entity as one that was not."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from perdure.domain.fact import Link, LinkKind
from perdure.ports.probe import GraphProbe
from perdure.ports.store import Target
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.agreement import assert_same_search
from perdure.testing.making import BANK, CURRENT, NOW, ids, make_fact, put
from perdure.testing.memory_store import MemoryStore


@pytest.mark.parametrize("seed", range(6))
def test_hubs_stay_right_while_a_bank_grows(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    living: list[str] = []
    model = MemoryStore()
    with closing(SqliteStore.open(str(tmp_path / "bank.db"))) as kept:
        for step in range(40):
            named = [f"f{step}-{number}" for number in range(chance.randrange(1, 4))]
            facts = [
                make_fact(
                    ident,
                    entity_ids=tuple(chance.sample(["e0", "e1", "e2", "e3"], 2)),
                    expires_at=NOW if chance.random() < 0.3 else None,
                )
                for ident in named
            ]
            links = [
                Link(ident, other, chance.choice(list(LinkKind)), chance.random())
                for ident in named
                for other in chance.sample(living, min(len(living), 3))
            ]
            doomed = chance.choice(living) if living and chance.random() < 0.4 else None
            for store in (kept, model):
                put(store, *facts, links=links)
                if doomed:
                    store.forget(BANK, Target(fact_id=doomed))
            living = [ident for ident in [*living, *named] if ident != doomed]
            if chance.random() < 0.7:
                seeds = {chance.choice(living): 1.0}
                for cap in (2, 5):
                    probe = GraphProbe(seeds, {"e0": 1.0}, hops=2, hub_cap=cap)
                    assert_same_search(model, kept, BANK, probe, CURRENT, 50)


def test_a_fact_that_loses_links_loses_its_place(tmp_path: Path) -> None:
    facts = [make_fact(ident, entity_ids=("hub",)) for ident in "ab"]
    expired = [make_fact(ident, expires_at=NOW) for ident in "xy"]
    links = [Link("a", "x", LinkKind.TEMPORAL, 1.0), Link("a", "y", LinkKind.TEMPORAL, 1.0)]
    probe = GraphProbe({}, {"hub": 1.0}, hub_cap=1)
    with closing(SqliteStore.open(str(tmp_path / "bank.db"))) as store:
        put(store, *facts, *expired, make_fact("z"), links=[*links, Link("b", "z", LinkKind.TEMPORAL, 1.0)])
        assert ids(store.search(BANK, probe, CURRENT, 5)) == ["a"]
        for ident in "xy":
            store.forget(BANK, Target(fact_id=ident))
        assert ids(store.search(BANK, probe, CURRENT, 5)) == ["b"]
