"""What the port promises about filters: every channel applies them before it ranks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from perdure.domain.fact import UNSURE_DATE, FactType, Tier
from perdure.domain.filter import Filter, TagAnd, TagExpression, TagLeaf, TagNot, TagOr, TagsMatch
from perdure.domain.time import AsOf, Window
from perdure.ports.probe import KeywordProbe, SemanticProbe, TemporalProbe
from perdure.ports.store import Store
from perdure.testing.making import NOW, browse, day, ids, make_fact, new, put, search, unit


def _leaf(match: TagsMatch, *tags: str) -> TagLeaf:
    return TagLeaf(frozenset(tags), match)


TAG_CASES: list[tuple[TagExpression, str]] = [
    (_leaf(TagsMatch.ANY, "x"), "none x xy"),
    (_leaf(TagsMatch.ANY, "x", "y"), "none x y xy"),
    (_leaf(TagsMatch.ALL, "x", "y"), "none xy"),
    (_leaf(TagsMatch.ANY_STRICT, "x"), "x xy"),
    (_leaf(TagsMatch.ALL_STRICT, "x", "y"), "xy"),
    (_leaf(TagsMatch.EXACT, "x"), "x"),
    (_leaf(TagsMatch.EXACT), "none"),
    (_leaf(TagsMatch.ANY_STRICT), "none x y xy"),
    (TagNot(_leaf(TagsMatch.ANY_STRICT, "x")), "none y"),
    (TagAnd((_leaf(TagsMatch.ANY_STRICT, "x"), _leaf(TagsMatch.ANY_STRICT, "y"))), "xy"),
    (TagOr((_leaf(TagsMatch.EXACT, "x"), _leaf(TagsMatch.EXACT, "y"))), "x y"),
    (
        TagAnd(
            (
                TagOr((_leaf(TagsMatch.ANY_STRICT, "x"), _leaf(TagsMatch.EXACT))),
                TagNot(_leaf(TagsMatch.ALL_STRICT, "x", "y")),
            )
        ),
        "none x",
    ),
]


def found(store: Store, **conditions: Any) -> str:
    """Ids that a filter admits, asked of a channel and of the listing, which must agree."""
    where = Filter(**({"now": NOW} | conditions))
    hits = ids(search(store, SemanticProbe(unit(1)), where, 100))
    listed = [fact.id for fact in browse(store, where=where).facts]
    assert sorted(hits) == sorted(listed)
    return " ".join(sorted(hits))


def _put(store: Store, *facts: Any) -> None:
    put(store, *(new(fact, words="word", vectors={"fact": unit(1)}) for fact in facts))


class FilterContract:
    """Filters."""

    @pytest.mark.parametrize(("expression", "expected"), TAG_CASES)
    def test_tags(self, store: Store, expression: TagExpression, expected: str) -> None:
        _put(
            store,
            make_fact("none"),
            make_fact("x", tags=frozenset({"x"})),
            make_fact("y", tags=frozenset({"y"})),
            make_fact("xy", tags=frozenset({"x", "y"})),
        )
        assert found(store, tags=(expression,)) == " ".join(sorted(expected.split()))

    def test_simple_fields(self, store: Store) -> None:
        _put(
            store,
            make_fact("a", type=FactType.OPINION, topic="t", metadata={"k": "v", "l": "w"}, document_id="d1"),
            make_fact("b", tier=Tier.CORE, classification=2, metadata={"k": "w"}, document_id="d2"),
            make_fact("c", classification=1, metadata={"l": "v"}),
        )
        assert found(store) == "a b c"
        assert found(store, types=frozenset({FactType.OPINION})) == "a"
        assert found(store, types=frozenset()) == ""
        assert found(store, topic="t") == "a"
        assert found(store, topic="T") == ""
        assert found(store, tier=Tier.CORE) == "b"
        assert found(store, max_classification=1) == "a c"
        assert found(store, metadata={"k": "v"}) == "a"
        assert found(store, metadata={"k": "v", "l": "w"}) == "a"
        assert found(store, metadata={"l": "v"}) == "c"
        assert found(store, metadata={"k": "no"}) == ""
        assert found(store, document_ids=frozenset({"d1", "d2"})) == "a b"
        assert found(store, document_ids=frozenset()) == ""

    def test_expiry(self, store: Store) -> None:
        _put(store, make_fact("gone", expires_at=day(5)), make_fact("kept", expires_at=day(999)))
        assert found(store) == "kept"
        assert found(store, include_expired=True) == "gone kept"
        assert found(store, now=day(5)) == "kept"
        assert found(store, now=day(4)) == "gone kept"

    def test_during(self, store: Store) -> None:
        _put(
            store,
            make_fact("point", occurred_start=day(10)),
            make_fact("span", occurred_start=day(5), occurred_end=day(15), mentioned_at=day(90)),
            make_fact("said", mentioned_at=day(12)),
            make_fact("undated"),
        )
        assert found(store, during=Window(day(9), day(11))) == "point span"
        assert found(store, during=Window(day(15), day(16))) == "span"
        assert found(store, during=Window(day(10), None)) == "point said span"
        assert found(store, during=Window(None, day(10))) == "span"
        assert found(store, during=Window()) == "point said span"

    def test_a_fact_with_an_unsure_date_is_asked_for_by_when_it_was_said(self, store: Store) -> None:
        unsure = (UNSURE_DATE,)
        _put(
            store,
            make_fact("said", occurred_start=day(10), mentioned_at=day(50), flags=unsure),
            make_fact("untold", occurred_start=day(10), occurred_end=day(12), flags=unsure),
        )
        assert found(store, during=Window(day(9), day(13))) == ""
        assert found(store, during=Window(day(49), day(51))) == "said"
        hits = search(store, TemporalProbe(Window(day(9), day(13))), Filter(now=NOW), 9)
        assert set(ids(hits)) == {"said", "untold"}

    def test_as_of_in_the_world(self, store: Store) -> None:
        _put(
            store,
            make_fact("past", valid_from=day(0), valid_to=day(10)),
            make_fact("since", valid_from=day(10)),
            make_fact("ever"),
        )
        assert found(store) == "ever since"
        assert found(store, as_of=AsOf(valid=day(5))) == "ever past"
        assert found(store, as_of=AsOf(valid=day(10))) == "ever since"
        assert found(store, include_closed=True) == "ever past since"

    def test_as_of_what_was_known(self, store: Store) -> None:
        _put(
            store,
            make_fact(
                "old",
                recorded_at=day(1),
                valid_from=day(1),
                valid_to=day(10),
                end_recorded_at=day(20),
                superseded_by="new",
            ),
            make_fact("new", recorded_at=day(20), valid_from=day(10)),
        )
        assert found(store) == "new"
        assert found(store, include_ended=True) == "new old"
        assert found(store, as_of=AsOf(known=day(19))) == "old"
        assert found(store, as_of=AsOf(valid=day(5))) == "old"
        assert found(store, as_of=AsOf(valid=day(15), known=day(15))) == "old"
        assert found(store, as_of=AsOf(valid=day(15))) == "new"
        assert found(store, as_of=AsOf.both(day(0))) == ""

    def test_a_retired_fact_is_disbelieved_from_then_on(self, store: Store) -> None:
        _put(store, make_fact("wrong", recorded_at=day(1), retired_at=day(20), superseded_by="right"))
        assert found(store) == ""
        assert found(store, include_ended=True) == ""
        assert found(store, include_closed=True) == "wrong"
        assert found(store, as_of=AsOf(valid=day(10))) == ""
        assert found(store, as_of=AsOf(known=day(10))) == "wrong"

    def test_a_clock_that_was_set_back_hides_and_revives_nothing(self, store: Store) -> None:
        ahead = NOW + timedelta(hours=1)
        _put(
            store,
            make_fact("ahead", recorded_at=ahead, valid_from=ahead),
            make_fact("wrong", recorded_at=ahead, retired_at=ahead),
        )
        assert found(store) == "ahead"
        assert found(store, as_of=AsOf(known=NOW)) == ""
        assert found(store, as_of=AsOf(valid=NOW)) == ""
        _put(store, make_fact("awaited", recorded_at=NOW, valid_from=ahead))
        assert found(store) == "ahead"

    def test_filters_come_before_ranks(self, store: Store) -> None:
        facts = [
            new(
                make_fact(f"f{number:03d}", tags=frozenset({"rare"} if number == 0 else {"common"})),
                words="word",
                vectors={"fact": unit(1, 0 if number else 9)},
            )
            for number in range(50)
        ]
        put(store, *facts)
        rare = Filter(now=NOW, tags=(_leaf(TagsMatch.ANY_STRICT, "rare"),))
        assert ids(search(store, SemanticProbe(unit(1)), rare, 1)) == ["f000"]
        assert ids(search(store, KeywordProbe({"word": 1.0}), rare, 1)) == ["f000"]
