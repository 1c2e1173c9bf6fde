"""What a commit of changes brings with it, on every store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Document, Entity, Link, LinkKind
from perdure.domain.record import Record
from perdure.errors import Conflict, InvalidInput, ModelMismatch
from perdure.ports.store import Features, KeyedEntity, NewFact, Proof, Store, Transaction
from perdure.retain.commit import Closure, CommitReceipt, FactChanges, commit
from perdure.testing import (
    BANK,
    MODEL,
    NOW,
    assert_same_links,
    day,
    facts,
    make_chunk,
    make_fact,
    new,
    put,
    unit,
)


def change(store: Store, **changes: Any) -> CommitReceipt:
    return commit(store, FactChanges(bank=BANK, **changes))


def holders(store: Store, *keys: str) -> dict[str, str]:
    with store.reading(BANK) as reading:
        return reading.facts_by_dedupe_key(keys)


def proofs(store: Store, fact_id: str) -> list[tuple[str | None, str | None]]:
    with store.reading(BANK) as reading:
        of_fact = reading.proofs([fact_id]).get(fact_id, [])
    return [(proof.document_id, proof.chunk_id) for proof in of_fact]


def test_the_same_statement_becomes_proof(any_store: Store) -> None:
    put(any_store, new(make_fact("a"), dedupe_key="k"), new(make_fact("b"), dedupe_key=""))
    receipt = change(
        any_store,
        facts=[
            new(make_fact("c", document_id="d", chunk_id="c1"), dedupe_key="k"),
            new(make_fact("d"), dedupe_key="m"),
            new(make_fact("e"), dedupe_key="m"),
            new(make_fact("f"), dedupe_key=""),
        ],
        links=[Link("c", "b", LinkKind.CAUSAL, 0.5), Link("e", "d", LinkKind.CAUSAL, 0.5)],
        proofs=[Proof("c", "elsewhere", None, NOW)],
    )
    assert receipt == CommitReceipt(inserted=("d", "f"), merged={"c": "a", "e": "d"})
    assert [fact.proof_count for fact in facts(any_store, "a", "b", "d", "f")] == [3, 1, 2, 1]
    assert proofs(any_store, "a") == [("d", "c1"), ("elsewhere", None)]
    assert holders(any_store, "k", "m", "z") == {"k": "a", "m": "d"}
    with any_store.reading(BANK) as reading:
        assert_same_links([Link("a", "b", LinkKind.CAUSAL, 0.5)], reading.links(["a", "b", "d"]))


def test_a_fact_that_is_closed_here_no_longer_absorbs(any_store: Store) -> None:
    put(any_store, new(make_fact("a"), dedupe_key="k"))
    closure = Closure(fact_id="a", valid_to=day(8), superseded_by="b")
    again = new(make_fact("b"), dedupe_key="k")
    receipt = change(any_store, now=day(9), facts=[again], closures=[closure])
    assert receipt == CommitReceipt(inserted=("b",), closed=("a",))
    (closed,) = facts(any_store, "a")
    assert (closed.end_recorded_at, closed.valid_to, closed.superseded_by) == (day(9), day(8), "b")
    assert closed.retired_at is None
    assert holders(any_store, "k") == {"k": "b"}


def test_when_one_holder_is_closed_the_next_absorbs(any_store: Store) -> None:
    put(any_store, new(make_fact("a"), dedupe_key="k"), new(make_fact("b"), dedupe_key="k"))
    closure = Closure(fact_id="a", retired_at=NOW)
    assert change(any_store, facts=[new(make_fact("c"), dedupe_key="k")], closures=[closure]).merged == {
        "c": "b"
    }


def test_a_new_fact_can_be_closed_and_close_through_what_absorbed_it(any_store: Store) -> None:
    put(any_store, new(make_fact("known"), dedupe_key="k"), make_fact("old"))
    change(
        any_store,
        facts=[new(make_fact("again"), dedupe_key="k"), make_new("late")],
        closures=[
            Closure(fact_id="old", retired_at=NOW, superseded_by="again"),
            Closure(fact_id="late", retired_at=NOW, superseded_by="again"),
            Closure(fact_id="no", retired_at=NOW),
        ],
    )
    old, late, stated = facts(any_store, "old", "late", "known")
    assert (old.superseded_by, late.superseded_by, late.retired_at) == ("known", "known", NOW)
    assert stated.retired_at is None


def make_new(fact_id: str) -> NewFact:
    return new(make_fact(fact_id))


def test_proofs_raise_the_count(any_store: Store) -> None:
    put(any_store, make_fact("a"))
    proof, gone = Proof("a", "d", "c", NOW), Proof("no", "d", "c", NOW)
    change(any_store, proofs=[proof, proof, gone], facts=[make_new("b")])
    change(any_store, proofs=[Proof("b", "d", None, None)])
    assert [fact.proof_count for fact in facts(any_store, "a", "b")] == [3, 2]


def test_a_fact_never_ends_before_it_began(any_store: Store) -> None:
    put(any_store, make_fact("a", valid_from=day(9), recorded_at=day(9)))
    put(any_store, make_fact("b", recorded_at=day(9)))
    change(any_store, now=day(8), closures=[Closure(fact_id="a", valid_to=day(7))])
    change(any_store, closures=[Closure(fact_id="b", retired_at=day(8))])
    ended, retired = facts(any_store, "a", "b")
    assert (ended.valid_to, ended.end_recorded_at, retired.retired_at) == (day(9), day(9), day(9))


def test_a_fact_that_states_its_own_end_is_not_ended_by_a_change(any_store: Store) -> None:
    put(any_store, make_fact("a", valid_to=day(9)), make_fact("b"))
    assert (
        change(any_store, now=NOW, closures=[Closure(fact_id="a", valid_to=day(3), superseded_by="b")]).closed
        == ()
    )
    assert change(any_store, closures=[Closure(fact_id="a", retired_at=NOW, superseded_by="b")]).closed == (
        "a",
    )
    (fact,) = facts(any_store, "a")
    assert (fact.valid_to, fact.retired_at, fact.superseded_by) == (day(9), NOW, "b")


def test_a_change_of_an_older_state_opens_no_closed_fact(any_store: Store) -> None:
    read = make_fact("a", tags=frozenset({"x"}))
    put(any_store, read)
    change(any_store, now=NOW, closures=[Closure(fact_id="a", valid_to=day(3))])
    change(any_store, closures=[Closure(fact_id="a", retired_at=NOW)])
    change(any_store, updates=[replace(read, tags=frozenset({"y"}))])
    (fact,) = facts(any_store, "a")
    assert (fact.tags, fact.retired_at, fact.valid_to) == (frozenset({"y"}), NOW, day(3))
    change(any_store, updates=[read], reopened=["a"])
    assert facts(any_store, "a") == [read]


def test_a_fact_moves_to_its_other_source_when_its_chunk_goes(any_store: Store) -> None:
    put(
        any_store,
        new(
            make_fact(
                "a", "Ann has a cat", document_id="d1", chunk_id="c1", source_text="quoted", proof_count=3
            ),
            terms={"cat": 1.0, "storm": 0.5},
            passage_in_context="There was a storm. Ann has a cat",
            vectors={"fact": unit(1), "context": unit(1, 1)},
        ),
        make_fact("b", document_id="d2", chunk_id="c2", proof_count=2),
        chunks=[make_chunk("c1", "d1", "one"), make_chunk("c2", "d2", "two")],
        proofs=[Proof("a", "d1", "c1", NOW), Proof("a", "d2", "c2", NOW), Proof("b", "d1", "c1", NOW)],
    )
    change(any_store, removed_chunks=["c1"])
    moved, proven = facts(any_store, "a", "b")
    assert (moved.document_id, moved.chunk_id, moved.source_text, moved.proof_count) == ("d2", "c2", "", 1)
    assert (proven.chunk_id, proven.proof_count) == ("c2", 1)
    with any_store.reading(BANK) as reading:
        alone = reading.features(["a"])["a"]
        assert [chunk.id for chunk in reading.chunks(document_id="d1")] == []
    assert (alone.terms, alone.passage_in_context) == ({"cat": 1.0}, "")
    np.testing.assert_allclose(alone.vectors["context"], unit(1), atol=1e-3)
    change(any_store, removed_chunks=["c2"])
    assert facts(any_store, "a") == [moved]


def test_a_fact_that_moves_with_its_text_stays_at_home(any_store: Store) -> None:
    home = make_fact("a", document_id="d1", chunk_id="c1", proof_count=2)
    put(any_store, home, proofs=[Proof("a", "d2", "c2", NOW)])
    change(any_store, removed_chunks=["c1"], updates=[replace(home, chunk_id="c3")])
    assert facts(any_store, "a") == [replace(home, chunk_id="c3")]
    assert proofs(any_store, "a") == [("d2", "c2")]


def test_an_entity_that_two_writers_saw_is_joined(any_store: Store) -> None:
    bob = Entity(id="e1", bank=BANK, name="Bob", mentions=2, first_seen=day(2), last_seen=day(2))
    change(any_store, entities=[KeyedEntity(bob, ("bob",))], added_mentions={"e1": 2})
    one = replace(bob, aliases=("Rob",), mentions=5, last_seen=day(4))
    other = replace(bob, aliases=("Bobby",), mentions=3, first_seen=day(1))
    change(any_store, entities=[KeyedEntity(one, ("bob", "rob"))], added_mentions={"e1": 3})
    change(any_store, entities=[KeyedEntity(other, ("bob", "bobby"))], added_mentions={"e1": 1})
    with any_store.reading(BANK) as reading:
        (keyed,) = reading.entities()
    assert keyed.entity == replace(other, aliases=("Bobby", "Rob"), mentions=6, last_seen=day(4))
    assert set(keyed.keys) == {"bob", "rob", "bobby"}
    change(any_store, entities=[KeyedEntity(bob, ("bob",))])
    with any_store.reading(BANK) as reading:
        assert reading.entities() == [KeyedEntity(bob, ("bob",))]


def test_changes_are_written_whole_or_not_at_all(any_store: Store) -> None:
    put(any_store, make_fact("a"))
    with pytest.raises(Conflict):
        change(any_store, facts=[make_new("b"), make_new("a")], documents=[Document(id="d", bank=BANK)])
    with pytest.raises(InvalidInput, match="bank"):
        change(any_store, facts=[make_new("c"), NewFact(replace(make_fact("x"), bank="other"), Features())])
    with any_store.reading(BANK) as reading:
        assert [fact.id for fact in reading.facts(["a", "b", "c"])] == ["a"]
        assert reading.documents() == []


def test_vectors_of_another_model_are_refused_before_anything_is_written(any_store: Store) -> None:
    change(any_store, model=MODEL, facts=[new(make_fact("a"), vectors={"fact": unit(1)})])
    other, stranger = EmbeddingModel("other", 8), new(make_fact("b"), vectors={"fact": unit(1)})
    with pytest.raises(ModelMismatch, match="reembed"):
        change(any_store, model=other, facts=[stranger])
    with pytest.raises(InvalidInput, match="vectors"):
        change(any_store, model=MODEL, facts=[new(make_fact("b"), vectors={"fact": np.ones(4, np.float32)})])
    with pytest.raises(InvalidInput, match="model"):
        change(any_store, facts=[stranger])
    assert facts(any_store, "b") == []
    change(any_store, model=other, facts=[make_new("c")])
    assert any_store.banks()[0].model == MODEL


def test_the_caller_takes_part_in_the_transaction(any_store: Store) -> None:
    record = Record(kind="lease", id="1", bank=BANK)

    def claim(tx: Transaction, receipt: CommitReceipt) -> None:
        if tx.records("lease"):
            raise Conflict("taken")
        assert [fact.id for fact in tx.facts(receipt.inserted)] == ["a"]
        tx.put_records([record])

    changes = FactChanges(bank=BANK, facts=[make_new("a")])
    commit(any_store, changes, within=claim)
    with pytest.raises(Conflict, match="taken"):
        commit(any_store, FactChanges(bank=BANK, facts=[make_new("b")]), within=claim)
    assert [fact.id for fact in facts(any_store, "a", "b")] == ["a"]
