"""What the port promises about writing and reading back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from perdure.domain.bank import Bank, Disposition, EmbeddingModel
from perdure.domain.fact import Chunk, Document, Entity, FactType, Link, LinkKind, Tier
from perdure.domain.record import Record
from perdure.errors import Conflict, InvalidInput, ModelMismatch
from perdure.ports.probe import SemanticProbe
from perdure.ports.store import (
    Closure,
    Features,
    KeyedEntity,
    NewFact,
    Proof,
    Selection,
    Store,
    WriteBatch,
)
from perdure.testing.agreement import assert_same_features, assert_same_links
from perdure.testing.making import BANK, CURRENT, EVERYTHING, MODEL, NOW, day, ids, make_fact, new, put, unit


def _full_fact() -> NewFact:
    fact = make_fact(
        "full",
        "Zoë moved to Łódź 🌧",
        type=FactType.OPINION,
        document_id="d",
        chunk_id="c",
        ordinal=3,
        source_text="I moved to Łódź",
        speaker="Zoë",
        context="chat",
        occurred_start=day(1),
        occurred_end=day(2),
        mentioned_at=day(3),
        valid_from=day(1),
        valid_to=day(300),
        recorded_at=day(4) + timedelta(microseconds=1),
        subject="Zoë",
        relation="lives_in",
        object="Łódź",
        entities=("Zoë", "Łódź"),
        entity_ids=("e1", "e2"),
        tags=frozenset({"a", "b"}),
        metadata={"k": "v", "n": "1"},
        topic="places",
        tier=Tier.CORE,
        classification=2,
        trust=3,
        credibility=1,
        relevance=0.25,
        emotion=-2.5,
        emotion_tags=("sad",),
        confidence=0.75,
        expires_at=day(400),
        language="pl",
        original_text="Zoë przeprowadziła się",
        flags=("instruction",),
        proof_count=2,
        source_fact_ids=("x",),
        recall_count=3,
        last_recalled_at=day(6),
        recall_times=(day(5), day(6)),
    )
    features = Features(
        vectors={"fact": unit(1, 2), "context": unit(0, 1)},
        terms={"zoë": 1.0, "move": 2.5},
        words=("zoë", "moved"),
        signature=bytes(range(32)),
        tokens=b"\x00\x01\xff",
        dedupe_key="zoë|moved",
        passage="Zoë: I moved to Łódź",
    )
    return NewFact(fact, features)


class WriteContract:
    """Writing, reading back, merging, closing, re-embedding."""

    def test_every_field_of_a_fact_comes_back(self, store: Store) -> None:
        full = _full_fact()
        put(store, full)
        assert store.facts(BANK, ["full"]) == [full.fact]
        assert_same_features(full.features, store.features(BANK, ["full"])["full"])
        assert store.passages(BANK, ["full"]) == {"full": ("Zoë: I moved to Łódź", b"\x00\x01\xff")}

    def test_facts_come_in_the_order_asked_and_unknown_ones_are_left_out(self, store: Store) -> None:
        put(store, make_fact("a"), make_fact("b"), make_fact("c"))
        assert [fact.id for fact in store.facts(BANK, ["c", "no", "a"])] == ["c", "a"]
        assert store.features(BANK, ["no"]) == {}
        assert store.passages(BANK, ["b", "no"]) == {"b": ("text of b", b"")}

    def test_a_bank_never_written_is_empty(self, store: Store) -> None:
        assert store.banks() == []
        assert store.facts(BANK, ["a"]) == []
        assert store.browse(BANK, Selection(wanted=EVERYTHING)).total == 0
        assert store.search(BANK, SemanticProbe(unit(1)), CURRENT, 5) == []
        assert not store.documents(BANK)
        assert not store.chunks(BANK, document_id="d")
        assert not store.entities(BANK)
        assert store.links(BANK, ["a"]) == []
        assert store.known(BANK, ["k"]) == {}
        assert store.stats(BANK).facts == 0
        store.record_recalls(BANK, ["a"], NOW)
        assert store.banks() == []

    def test_banks_are_kept_apart(self, store: Store) -> None:
        put(store, new(make_fact("a"), words="one", vectors={"fact": unit(1)}, dedupe_key="k"))
        other = replace(make_fact("a", "another"), bank="other")
        features = Features(vectors={"fact": np.ones(3, np.float32)}, dedupe_key="k")
        store.write(
            WriteBatch(bank="other", model=EmbeddingModel("small", 3), facts=[NewFact(other, features)])
        )
        assert store.facts("other", ["a"]) == [other]
        assert store.facts(BANK, ["a"])[0].text == "text of a"
        assert ids(store.search(BANK, SemanticProbe(unit(1)), CURRENT, 5)) == ["a"]
        assert [bank.id for bank in store.banks()] == [BANK, "other"]
        assert [bank.id for bank in store.banks(["other", "no"])] == ["other"]

    def test_saving_a_bank_never_changes_its_model(self, store: Store) -> None:
        put(store, new(make_fact("a"), vectors={"fact": unit(1)}))
        traits = Disposition(skepticism=5, bias_strength=0.1)
        store.save_bank(Bank(id=BANK, name="n", mission="m", disposition=traits, settings={"x": [1, "ü"]}))
        (saved,) = store.banks([BANK])
        assert (saved.name, saved.mission, saved.disposition, saved.settings) == (
            "n",
            "m",
            traits,
            {"x": [1, "ü"]},
        )
        assert saved.model == MODEL
        assert saved.created_at is not None

    def test_a_batch_is_written_whole_or_not_at_all(self, store: Store) -> None:
        put(store, make_fact("a"))
        document = Document(id="d", bank=BANK, title="t")
        with pytest.raises(Conflict):
            put(store, make_fact("b"), make_fact("a"), documents=[document])
        assert store.facts(BANK, ["b"]) == []
        assert store.documents(BANK) == []
        with pytest.raises(InvalidInput, match="bank"):
            put(store, make_fact("c"), replace(make_fact("x"), bank="other"))
        assert store.facts(BANK, ["c"]) == []

    def test_the_same_statement_becomes_proof(self, store: Store) -> None:
        put(store, new(make_fact("a"), dedupe_key="k"), new(make_fact("b"), dedupe_key=""))
        receipt = store.write(
            WriteBatch(
                bank=BANK,
                facts=[
                    new(make_fact("c"), dedupe_key="k"),
                    new(make_fact("d"), dedupe_key="m"),
                    new(make_fact("e"), dedupe_key="m"),
                    new(make_fact("f"), dedupe_key=""),
                ],
                links=[Link("c", "b", LinkKind.CAUSAL, 0.5), Link("e", "d", LinkKind.CAUSAL, 0.5)],
            )
        )
        assert receipt.inserted == ("d", "f")
        assert receipt.merged == {"c": "a", "e": "d"}
        assert [fact.proof_count for fact in store.facts(BANK, ["a", "b", "d", "f"])] == [2, 1, 2, 1]
        assert store.known(BANK, ["k", "m", "z"]) == {"k": "a", "m": "d"}
        assert_same_links([Link("a", "b", LinkKind.CAUSAL, 0.5)], store.links(BANK, ["a", "b", "d"]))

    def test_a_closed_fact_no_longer_absorbs(self, store: Store) -> None:
        put(store, new(make_fact("a"), dedupe_key="k"))
        closure = Closure(fact_id="a", retired_at=day(9), valid_to=day(8), superseded_by="b")
        receipt = store.write(
            WriteBatch(bank=BANK, facts=[new(make_fact("b"), dedupe_key="k")], closures=[closure])
        )
        assert receipt.inserted == ("b",)
        (closed,) = store.facts(BANK, ["a"])
        assert (closed.retired_at, closed.valid_to, closed.superseded_by) == (day(9), day(8), "b")
        assert store.known(BANK, ["k"]) == {"k": "b"}

    def test_proofs_raise_the_count(self, store: Store) -> None:
        put(store, make_fact("a"))
        proof = Proof(fact_id="a", document_id="d", chunk_id="c", seen_at=NOW)
        gone = Proof(fact_id="no", document_id="d", chunk_id="c", seen_at=NOW)
        store.write(WriteBatch(bank=BANK, proofs=[proof, proof, gone]))
        assert store.facts(BANK, ["a"])[0].proof_count == 3

    def test_updates_rewrite_fields_but_not_features_or_recalls(self, store: Store) -> None:
        put(store, new(make_fact("a", tags=frozenset({"x"})), words="one two", dedupe_key="k"))
        store.record_recalls(BANK, ["a"], NOW)
        changed = make_fact("a", "other text", tags=frozenset({"y"}), entity_ids=("e",), entities=("E",))
        store.write(WriteBatch(bank=BANK, updates=[changed, make_fact("no")]))
        (fact,) = store.facts(BANK, ["a"])
        assert fact == replace(changed, recall_count=1, last_recalled_at=NOW, recall_times=(NOW,))
        assert store.features(BANK, ["a"])["a"].words == ("one", "two")
        assert store.known(BANK, ["k"]) == {"k": "a"}
        selection = Selection(wanted=EVERYTHING, entity_id="e")
        assert store.browse(BANK, selection).total == 1

    def test_features_can_be_replaced(self, store: Store) -> None:
        put(store, new(make_fact("a"), words="one", vectors={"fact": unit(1)}))
        features = new(make_fact("a"), words="two", vectors={"fact": unit(0, 1)}, dedupe_key="k").features
        store.write(WriteBatch(bank=BANK, model=MODEL, features={"a": features, "no": features}))
        assert_same_features(features, store.features(BANK, ["a"])["a"])
        assert store.search(BANK, SemanticProbe(unit(0, 1)), CURRENT, 1)[0].score == pytest.approx(
            1, abs=1e-3
        )
        assert store.known(BANK, ["k"]) == {"k": "a"}

    def test_the_last_twenty_recalls_are_remembered(self, store: Store) -> None:
        put(store, make_fact("a"), make_fact("b"))
        moments = [NOW + timedelta(minutes=minute) for minute in range(25)]
        for moment in moments:
            store.record_recalls(BANK, ["a", "no"], moment)
        (fact, other) = store.facts(BANK, ["a", "b"])
        assert fact.recall_count == 25
        assert fact.recall_times == tuple(moments[-20:])
        assert fact.last_recalled_at == moments[-1]
        assert other.recall_count == 0

    def test_documents_and_chunks(self, store: Store) -> None:
        first = Document(
            id="d1", bank=BANK, title="t", tags=frozenset({"x"}), metadata={"k": "v"}, created_at=day(1)
        )
        second = Document(id="d2", bank=BANK, created_at=day(2))
        chunks = [
            Chunk(
                id=f"c{place}",
                bank=BANK,
                document_id="d1",
                ordinal=place,
                text=f"ü {place}",
                content_hash="h",
            )
            for place in range(3)
        ]
        store.write(WriteBatch(bank=BANK, documents=[first, second], chunks=chunks[::-1]))
        assert [document.id for document in store.documents(BANK)] == ["d2", "d1"]
        assert store.documents(BANK, ["d1", "no"])[0].metadata == {"k": "v"}
        assert store.chunks(BANK, document_id="d1") == chunks
        assert [chunk.id for chunk in store.chunks(BANK, ids=["c2", "no", "c0"])] == ["c2", "c0"]
        store.write(
            WriteBatch(
                bank=BANK, documents=[replace(first, title="new", created_at=None)], removed_chunks=["c1"]
            )
        )
        (document,) = store.documents(BANK, ["d1"])
        assert (document.title, document.created_at) == ("new", day(1))
        assert [chunk.id for chunk in store.chunks(BANK, document_id="d1")] == ["c0", "c2"]

    def test_a_fact_moves_to_its_other_source_when_its_chunk_goes(self, store: Store) -> None:
        proof = Proof(fact_id="a", document_id="d2", chunk_id="c2", seen_at=NOW)
        put(store, make_fact("a", document_id="d1", chunk_id="c1"), proofs=[proof])
        store.write(WriteBatch(bank=BANK, removed_chunks=["c1"]))
        (fact,) = store.facts(BANK, ["a"])
        assert (fact.document_id, fact.chunk_id, fact.proof_count) == ("d2", "c2", 1)
        store.write(WriteBatch(bank=BANK, removed_chunks=["c2"]))
        assert store.facts(BANK, ["a"]) == [fact]

    def test_entities_by_id_and_by_key(self, store: Store) -> None:
        held = [
            KeyedEntity(Entity(id="e1", bank=BANK, name="Bob", aliases=("Rob",), mentions=1), ("bob", "rob")),
            KeyedEntity(Entity(id="e2", bank=BANK, name="Roberta", mentions=5, first_seen=day(1)), ("rob",)),
        ]
        store.write(WriteBatch(bank=BANK, entities=held))
        assert [keyed.entity.id for keyed in store.entities(BANK)] == ["e2", "e1"]
        assert store.entities(BANK, ids=["e1", "no"]) == [held[0]]
        assert [keyed.entity.id for keyed in store.entities(BANK, keys=["rob", "no"])] == ["e2", "e1"]
        put(store, make_fact("a", entities=("Bob", "x"), entity_ids=("e1", "e3")))
        store.write(
            WriteBatch(bank=BANK, entities=[replace(held[1], keys=("berta",))], removed_entities=["e1"])
        )
        assert store.entities(BANK, keys=["rob"]) == []
        assert [keyed.entity.id for keyed in store.entities(BANK)] == ["e2"]
        (fact,) = store.facts(BANK, ["a"])
        assert (fact.entities, fact.entity_ids) == (("x",), ("e3",))

    def test_a_change_of_an_older_state_opens_no_closed_fact(self, store: Store) -> None:
        read = make_fact("a", tags=frozenset({"x"}))
        put(store, read)
        store.write(WriteBatch(bank=BANK, closures=[Closure(fact_id="a", retired_at=NOW, valid_to=day(3))]))
        store.write(WriteBatch(bank=BANK, updates=[replace(read, tags=frozenset({"y"}))]))
        (fact,) = store.facts(BANK, ["a"])
        assert (fact.tags, fact.retired_at, fact.valid_to) == (frozenset({"y"}), NOW, day(3))
        store.write(WriteBatch(bank=BANK, updates=[read], reopened=["a"]))
        assert store.facts(BANK, ["a"]) == [read]

    def test_an_entity_that_two_writers_saw_is_joined(self, store: Store) -> None:
        known = Entity(id="e1", bank=BANK, name="Bob", mentions=2, first_seen=day(2), last_seen=day(2))
        store.write(WriteBatch(bank=BANK, entities=[KeyedEntity(known, ("bob",), added=2)]))
        assert store.entities(BANK) == [KeyedEntity(known, ("bob",))]
        one = replace(known, aliases=("Rob",), mentions=5, last_seen=day(4))
        other = replace(known, aliases=("Bobby",), mentions=3, first_seen=day(1))
        store.write(WriteBatch(bank=BANK, entities=[KeyedEntity(one, ("bob", "rob"), added=3)]))
        store.write(WriteBatch(bank=BANK, entities=[KeyedEntity(other, ("bob", "bobby"), added=1)]))
        (keyed,) = store.entities(BANK)
        both = replace(other, aliases=("Bobby", "Rob"), mentions=6, last_seen=day(4))
        assert keyed.entity == both
        assert set(keyed.keys) == {"bob", "rob", "bobby"}

    def test_links_are_replaced_by_kind_and_need_both_facts(self, store: Store) -> None:
        put(store, make_fact("a"), make_fact("b"), make_fact("c"))
        first = [
            Link("a", "b", LinkKind.SEMANTIC, 0.7),
            Link("b", "a", LinkKind.CAUSAL, 0.4),
            Link("c", "b", LinkKind.TEMPORAL, 0.1),
            Link("a", "no", LinkKind.TEMPORAL, 0.1),
        ]
        store.write(WriteBatch(bank=BANK, links=first))
        assert_same_links([first[0], first[1]], store.links(BANK, ["a"]))
        store.write(WriteBatch(bank=BANK, links=[Link("a", "b", LinkKind.SEMANTIC, 0.2)]))
        expected = [Link("a", "b", LinkKind.SEMANTIC, 0.2), first[1], first[2]]
        assert_same_links(expected, store.links(BANK, ["b", "c", "no"]))
        assert store.stats(BANK).links_by_kind == {"semantic": 1, "causal": 1, "temporal": 1}

    def test_records(self, store: Store) -> None:
        first = Record(kind="op", id="1", bank=BANK, body={"state": "new", "n": [1]}, created_at=day(2))
        second = Record(kind="op", id="0", bank=BANK, created_at=day(3))
        store.save_records([second, first, Record(kind="key", id="1", body={"a": "ü"})])
        store.write(
            WriteBatch(bank=BANK, records=[Record(kind="op", id="1", bank=BANK, body={"state": "done"})])
        )
        assert [record.id for record in store.records("op", bank=BANK)] == ["1", "0"]
        (done,) = store.records("op", bank=BANK, ids=["1", "no"])
        assert (done.body, done.created_at) == ({"state": "done"}, day(2))
        assert store.records("op") == []
        assert store.records("key")[0].body == {"a": "ü"}

    def test_vectors_of_another_model_are_refused(self, store: Store) -> None:
        put(store, new(make_fact("a"), vectors={"fact": unit(1)}))
        other = EmbeddingModel("other", 8)
        stranger = new(make_fact("b"), vectors={"fact": unit(1)})
        with pytest.raises(ModelMismatch, match="reembed"):
            store.write(WriteBatch(bank=BANK, model=other, facts=[stranger]))
        with pytest.raises(InvalidInput, match="vectors"):
            short = new(make_fact("b"), vectors={"fact": np.ones(4, np.float32)})
            store.write(WriteBatch(bank=BANK, model=MODEL, facts=[short]))
        with pytest.raises(InvalidInput, match="model"):
            store.write(WriteBatch(bank=BANK, facts=[stranger]))
        with pytest.raises(ModelMismatch):
            store.search(BANK, SemanticProbe(np.ones(4, np.float32)), CURRENT, 1)
        assert store.facts(BANK, ["b"]) == []
        store.write(WriteBatch(bank=BANK, model=other, facts=[NewFact(make_fact("c"), Features())]))
        assert store.banks()[0].model == MODEL

    def test_reembedding_switches_when_every_fact_has_its_vector(self, store: Store) -> None:
        put(store, *(new(make_fact(name), vectors={"fact": unit(1)}, tokens=b"old") for name in "abc"))
        other = EmbeddingModel("other", 4)
        vectors = {
            name: np.eye(4, dtype=np.float32)[place] for place, name in enumerate(("a", "b", "c", "no"))
        }
        store.stage_vectors(
            BANK, other, ((name, {"fact": vectors[name]}, b"new") for name in ("a", "b", "no"))
        )
        assert store.switch_model(BANK, other) == ["c"]
        assert store.banks()[0].model == MODEL
        assert len(store.search(BANK, SemanticProbe(unit(1)), CURRENT, 9)) == 3
        store.stage_vectors(BANK, other, [("c", {"fact": vectors["c"]}, b"new")])
        assert store.switch_model(BANK, other) == []
        assert store.banks()[0].model == other
        hits = store.search(BANK, SemanticProbe(vectors["c"]), CURRENT, 9)
        assert ids(hits) == ["c", "a", "b"]
        assert store.features(BANK, ["a"])["a"].tokens == b"new"
        with pytest.raises(ModelMismatch):
            store.search(BANK, SemanticProbe(unit(1)), CURRENT, 9)

    def test_a_fact_never_ends_before_it_began(self, store: Store) -> None:
        put(store, make_fact("a", valid_from=day(9), recorded_at=day(9)))
        store.write(
            WriteBatch(bank=BANK, closures=[Closure(fact_id="a", retired_at=day(8), valid_to=day(7))])
        )
        [fact] = store.facts(BANK, ["a"])
        assert (fact.valid_to, fact.retired_at) == (day(9), day(9))

    def test_vectors_kept_aside_go_with_what_they_were_made_of(self, store: Store) -> None:
        put(store, *(new(make_fact(name), vectors={"fact": unit(1)}) for name in "ab"))
        other = EmbeddingModel("other", 8)
        store.stage_vectors(BANK, other, [(name, {"fact": unit(0, 1)}, b"") for name in "ab"])
        changed = Features(vectors={"fact": unit(0, 0, 1)})
        store.write(WriteBatch(bank=BANK, model=MODEL, features={"a": changed}))
        assert store.switch_model(BANK, other) == ["a"]

    def test_counts(self, store: Store) -> None:
        put(
            store,
            make_fact("a", tags=frozenset({"x", "y"})),
            make_fact("b", type=FactType.OPINION, tags=frozenset({"x"})),
            closures=[Closure(fact_id="a", retired_at=NOW)],
            documents=[Document(id="d", bank=BANK)],
        )
        stats = store.stats(BANK)
        assert (stats.facts, stats.current_facts, stats.documents) == (2, 1, 1)
        assert stats.facts_by_type == {"world": 1, "opinion": 1}
        assert stats.tags == {"x": 2, "y": 1}
