"""What a store tells of facts without their being read agrees with the facts, whatever is in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from perdure.domain.fact import Fact, FactType
from perdure.domain.ranking import ranking_fields
from perdure.ports.probe import KeywordProbe
from perdure.ports.store import Proof, Store, Target, WriteBatch
from perdure.testing.making import BANK, EVERYTHING, NOW, day, make_fact, put

FACTS = (
    make_fact("plain"),
    make_fact("said", mentioned_at=day(3), speaker="Zoë", document_id="d1"),
    make_fact("span", occurred_start=day(1), occurred_end=day(4), mentioned_at=day(9), document_id="d2"),
    make_fact("odd", occurred_start=day(1), occurred_end=day(1) + timedelta(microseconds=3)),
    make_fact("since", occurred_start=day(2), speaker="Ann", document_id="d1"),
    make_fact("until", occurred_end=day(5), type=FactType.EXPERIENCE),
    make_fact("seen", type=FactType.OBSERVATION, proof_count=3, speaker="Zoë"),
)


class OutlineContract:
    """Outlines."""

    def test_outlines_agree_with_facts(self, store: Store) -> None:
        put(store, *FACTS)
        for _ in "before and after something is searched for":
            _assert_outlines(store, FACTS)
            store.search(BANK, KeywordProbe({"x": 1.0}), EVERYTHING, 1)

    def test_outlines_come_in_the_order_asked_and_unknown_ones_are_left_out(self, store: Store) -> None:
        assert store.outlines(BANK, ["plain"]) == {}
        put(store, *FACTS)
        store.search(BANK, KeywordProbe({"x": 1.0}), EVERYTHING, 1)
        assert list(store.outlines(BANK, ["span", "no", "plain"])) == ["span", "plain"]
        assert store.outlines(BANK, ["no"]) == store.outlines(BANK, []) == {}

    def test_outlines_follow_what_is_written(self, store: Store) -> None:
        put(store, *FACTS)
        store.search(BANK, KeywordProbe({"x": 1.0}), EVERYTHING, 1)
        _assert_outlines(store, FACTS)
        plain, *rest, seen = FACTS
        changed = replace(plain, speaker="Bo", document_id="d3", occurred_start=day(7))
        proof = Proof(fact_id="seen", document_id="d9", chunk_id=None, seen_at=NOW)
        store.write(WriteBatch(bank=BANK, updates=[changed], proofs=[proof]))
        put(store, make_fact("new", speaker="Cy"))
        now = [changed, *rest, replace(seen, proof_count=4), make_fact("new", speaker="Cy")]
        _assert_outlines(store, now)
        store.search(BANK, KeywordProbe({"x": 1.0}), EVERYTHING, 1)
        _assert_outlines(store, now)
        store.forget(BANK, Target(fact_id="said"))
        _assert_outlines(store, [fact for fact in now if fact.id != "said"])
        store.search(BANK, KeywordProbe({"x": 1.0}), EVERYTHING, 1)
        _assert_outlines(store, [fact for fact in now if fact.id != "said"])


def _assert_outlines(store: Store, facts: tuple[Fact, ...] | list[Fact]) -> None:
    asked = [*(fact.id for fact in facts), "said"]
    assert store.outlines(BANK, asked) == {fact.id: ranking_fields(fact) for fact in facts}
