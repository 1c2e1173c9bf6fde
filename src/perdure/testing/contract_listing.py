"""What the port promises about listings and about the fields that ranking reads."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from perdure.domain.fact import Fact, FactType
from perdure.domain.ranking import ranking_fields
from perdure.domain.time import Window
from perdure.ports.probe import KeywordProbe
from perdure.ports.store import Order, Store
from perdure.testing.making import BANK, CURRENT, browse, day, make_fact, put, search

FACTS = (
    make_fact("plain"),
    make_fact("said", mentioned_at=day(3), speaker="Zoë", document_id="d1"),
    make_fact("span", occurred_start=day(1), occurred_end=day(4), mentioned_at=day(9), document_id="d2"),
    make_fact("odd", occurred_start=day(1), occurred_end=day(1) + timedelta(microseconds=3)),
    make_fact("since", occurred_start=day(2), speaker="Ann", document_id="d1"),
    make_fact("until", occurred_end=day(5), type=FactType.EXPERIENCE),
    make_fact("seen", type=FactType.OBSERVATION, proof_count=3, speaker="Zoë"),
)


def listed(store: Store, **selection: Any) -> list[str]:
    """Ids of a page of all facts."""
    return [fact.id for fact in browse(store, **selection).facts]


class ListingContract:
    """Listings and ranking fields."""

    def test_pages_are_in_recorded_order(self, store: Store) -> None:
        put(store, *(make_fact(name, recorded_at=day(9 - at)) for at, name in enumerate("zbya")))
        put(store, make_fact("c"))
        assert browse(store).total == 5
        assert listed(store, limit=3) == ["c", "a", "y"]
        assert listed(store, offset=3) == ["b", "z"]
        assert listed(store, order=Order.OLDEST_RECORDED, limit=2) == ["z", "b"]
        with store.transaction(BANK) as tx:
            tx.update_facts([make_fact("z", "anew")])
        assert listed(store, order=Order.OLDEST_RECORDED) == ["z", "b", "y", "a", "c"]

    def test_pages_select_by_text_entity_and_relation(self, store: Store) -> None:
        put(
            store,
            make_fact(
                "a", "ÉCLAIR for Bob", entity_ids=("e",), subject="Bob", relation="eats", speaker="Ann"
            ),
            make_fact("b", "100% of it", subject="bob", relation="EATS"),
            make_fact("c", "tea", subject="Ann", relation="drinks"),
        )
        assert listed(store, text="éclair") == ["a"]
        assert listed(store, text="0%") == ["b"]
        assert listed(store, entity_id="e") == ["a"]
        assert listed(store, entity_id="no") == []
        assert listed(store, subject="BOB", relation="eats") == ["b", "a"]
        assert listed(store, speaker="ann") == ["a"]

    def test_dated_pages_are_in_the_order_of_events(self, store: Store) -> None:
        put(
            store,
            make_fact("undated", recorded_at=day(9)),
            make_fact("began", occurred_start=day(3), occurred_end=day(40), mentioned_at=day(50)),
            make_fact("ended", occurred_end=day(1), mentioned_at=day(50)),
            make_fact("said", mentioned_at=day(2), recorded_at=day(1)),
            *(make_fact(f"t{9 - n}", mentioned_at=day(5), ordinal=n // 2) for n in range(4)),
        )
        in_order = ["ended", "said", "began", "t9", "t8", "t7", "t6"]
        for offset, limit in ((0, 9), (0, 1), (1, 2), (2, 3), (4, 2), (6, 5), (7, 5), (0, 0)):
            for order, expected in (
                (Order.EARLIEST_DATED, in_order),
                (Order.LATEST_DATED, in_order[::-1]),
            ):
                page = browse(store, order=order, offset=offset, limit=limit)
                assert [fact.id for fact in page.facts] == expected[offset : offset + limit]
                assert page.total == 7

    def test_a_date_that_changes_moves_a_fact(self, store: Store) -> None:
        put(store, *(make_fact(f"f{9 - n}", mentioned_at=day(1), ordinal=n) for n in range(10)))
        assert listed(store, order=Order.LATEST_DATED, limit=3) == ["f0", "f1", "f2"]
        for changed, expected in (
            (make_fact("f9", mentioned_at=day(1), ordinal=20), ["f9", "f0"]),
            (make_fact("f9", mentioned_at=day(0), ordinal=20), ["f0", "f1"]),
        ):
            with store.transaction(BANK) as tx:
                tx.update_facts([changed])
            assert listed(store, order=Order.LATEST_DATED, limit=2) == expected

    def test_pages_hold_what_is_dated_in_the_window(self, store: Store) -> None:
        put(
            store,
            make_fact("spans", occurred_start=day(1), occurred_end=day(9), mentioned_at=day(4)),
            make_fact("first", mentioned_at=day(3), entity_ids=("e",), tags=frozenset({"x"})),
            make_fact("last", "found", mentioned_at=day(5), entity_ids=("e",)),
            make_fact("after", mentioned_at=day(6)),
            make_fact("closed", mentioned_at=day(4), retired_at=day(4)),
            make_fact("undated"),
        )

        def found(window: Window, order: Order = Order.EARLIEST_DATED, **more: str) -> list[str]:
            page = browse(store, where=CURRENT, dated=window, order=order, **more)
            assert page.total == len(page.facts)
            return [fact.id for fact in page.facts]

        assert found(Window(day(3), day(6))) == ["first", "last"]
        assert found(Window(day(3), day(6)), Order.NEWEST_RECORDED) == ["last", "first"]
        assert found(Window(start=day(5))) == ["last", "after"]
        assert found(Window(end=day(3))) == ["spans"]
        assert found(Window(day(20), day(30))) == []
        assert found(Window(), entity_id="e") == ["first", "last"]
        assert found(Window(start=day(2)), text="FOUND") == ["last"]

    def test_ranking_fields_agree_with_facts_and_follow_what_is_written(self, store: Store) -> None:
        assert _fields(store, ["plain"]) == {}
        put(store, *FACTS)
        _assert_ranking_fields(store, FACTS)
        plain, *rest, seen = FACTS
        changed = replace(plain, speaker="Bo", document_id="d3", occurred_start=day(7))
        proven = replace(seen, proof_count=4)
        with store.transaction(BANK) as tx:
            tx.update_facts([changed, proven])
        put(store, make_fact("new", speaker="Cy"))
        after = [changed, *rest, proven, make_fact("new", speaker="Cy")]
        _assert_ranking_fields(store, after)
        with store.transaction(BANK) as tx:
            tx.delete_facts(["said"])
        _assert_ranking_fields(store, [fact for fact in after if fact.id != "said"])
        assert list(_fields(store, ["span", "no", "plain"])) == ["span", "plain"]


def _fields(store: Store, fact_ids: list[str]) -> dict[str, Any]:
    with store.reading(BANK) as reading:
        return dict(reading.ranking_fields(fact_ids))


def _assert_ranking_fields(store: Store, facts: tuple[Fact, ...] | list[Fact]) -> None:
    """Before and after something is searched for, which may bring an index into memory."""
    asked = [*(fact.id for fact in facts), "said"]
    expected = {fact.id: ranking_fields(fact) for fact in facts}
    assert _fields(store, asked) == expected
    search(store, KeywordProbe({"x": 1.0}))
    assert _fields(store, asked) == expected
