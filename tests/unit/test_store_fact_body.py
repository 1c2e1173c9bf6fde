"""Bodies of facts: what was once written must be read the same for ever."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

import pytest
from perdure.stores.sqlite.fact_body import FACT_COLUMNS, decode_facts, encode_fact

from perdure.domain.fact import Fact, FactType, Tier
from perdure.errors import StoreCorrupt

DAY = datetime(2024, 5, 1, tzinfo=UTC)
PLAIN = Fact(id="a", bank="b", text="t")
FULL = Fact(
    id="a", bank="b", text="t", type=FactType.EXPERIENCE, document_id="d", chunk_id="c", ordinal=3, source_text="s",
    speaker="Ann", context="x", occurred_start=DAY, occurred_end=DAY, mentioned_at=DAY, valid_from=DAY,
    valid_to=DAY, recorded_at=DAY, retired_at=DAY, superseded_by="o", subject="S", relation="R", object="O",
    entities=("E",), entity_ids=("e",), tags=frozenset({"t2", "t1"}), metadata={"k": "v"}, topic="p",
    tier=next(tier for tier in Tier if tier != Tier.GENERAL), classification=1, trust=1, credibility=1,
    relevance=0.5, emotion=-1.5, emotion_tags=("sad",), confidence=0.25, expires_at=DAY, language="de",
    original_text="u", flags=("f",), proof_count=2, source_fact_ids=("z",),
)  # fmt: skip
SOME = (
    '[67182624,"2024-05-01T00:00:00+00:00",["t1"],"d",{"turn":"1"}]',
    Fact(
        id="a",
        bank="b",
        text="t",
        recorded_at=DAY,
        tags=frozenset({"t1"}),
        document_id="d",
        metadata={"turn": "1"},
    ),
)
"""As schema 3 writes it."""
OLD = (
    '[null,null,null,null,null,"2024-05-01T00:00:00+00:00",null,null,[],[],[],[],[],["t1"],"world","general",'
    '"d",null,0,"","","",null,null,null,null,{"turn":"1"},null,0,2,3,0.0,0.0,null,"en",null,1]',
    SOME[1],
)
"""As schemas 1 and 2 wrote it."""


def read(*bodies: str, text: str = "t", recalls: int = 0, times: str | None = None) -> list[Fact]:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE fact (no INTEGER PRIMARY KEY, id, text, body, recalls, recall_times)")
    rows = [("a", text, body, recalls, times) for body in bodies]
    db.executemany("INSERT INTO fact (id, text, body, recalls, recall_times) VALUES (?, ?, ?, ?, ?)", rows)
    found = decode_facts("b", db.execute(f"SELECT {FACT_COLUMNS} FROM fact").fetchone())
    db.close()
    assert list(found) == list(range(1, len(bodies) + 1))
    return list(found.values())


def test_every_field_comes_back() -> None:
    assert read(encode_fact(FULL), encode_fact(PLAIN), encode_fact(FULL)) == [FULL, PLAIN, FULL]


def test_bodies_of_every_schema_are_read() -> None:
    assert read(OLD[0], SOME[0]) == [OLD[1], SOME[1]]


def test_bodies_are_written_as_before() -> None:
    assert encode_fact(SOME[1]) == SOME[0]


def test_facts_do_not_share_what_can_be_changed() -> None:
    first, second = read(encode_fact(PLAIN), encode_fact(PLAIN))
    assert first.metadata == {}
    assert first.metadata is not second.metadata


def test_recalls_are_read() -> None:
    (fact,) = read(encode_fact(PLAIN), recalls=2, times='["2024-05-01T00:00:00+00:00"]')
    assert (fact.recall_count, fact.last_recalled_at, fact.recall_times) == (2, DAY, (DAY,))


def test_nothing_is_read_of_no_facts() -> None:
    assert read() == []


def test_texts_that_cannot_be_told_apart_are_not_given_to_other_facts() -> None:
    with pytest.raises(StoreCorrupt, match="cannot be told apart"):
        read(encode_fact(PLAIN), encode_fact(PLAIN), text="one\0two")
