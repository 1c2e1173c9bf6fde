"""What the port promises about rows: transactions write them whole or not at all, readings give them back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from perdure.domain.bank import Bank, Disposition, EmbeddingModel
from perdure.domain.fact import Document, Entity, FactType, Link, LinkKind, Tier
from perdure.domain.record import Record
from perdure.errors import Conflict, ModelMismatch
from perdure.ports.probe import GraphProbe, KeywordProbe, SemanticProbe
from perdure.ports.store import (
    FactsWhere,
    Features,
    KeyedEntity,
    NewFact,
    Passage,
    Proof,
    StagedVectors,
    Store,
    Traces,
)
from perdure.testing.agreement import assert_same_features, assert_same_links
from perdure.testing.making import (
    BANK,
    CURRENT,
    MODEL,
    NOW,
    browse,
    day,
    facts,
    ids,
    make_chunk,
    make_fact,
    new,
    put,
    search,
    unit,
)


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
        retired_at=day(7),
        end_recorded_at=day(6),
        superseded_by="y",
        invalidated_at=day(8),
        invalid_reason="hearsay",
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
        passage_in_context="Ann: Where to?\nZoë: I moved to Łódź",
    )
    return NewFact(fact, features)


class RowsContract:
    """Transactions, readings, records, staged vectors, traces."""

    def test_every_field_of_a_fact_comes_back(self, store: Store) -> None:
        full = _full_fact()
        put(store, full)
        with store.reading(BANK) as reading:
            assert reading.facts(["full"]) == [full.fact]
            assert_same_features(full.features, reading.features(["full"])["full"])
            passage = Passage("Zoë: I moved to Łódź", "Ann: Where to?\nZoë: I moved to Łódź", b"\x00\x01\xff")
            assert reading.passages(["full"]) == {"full": passage}

    def test_rows_come_in_the_order_asked_and_unknown_ones_are_left_out(self, store: Store) -> None:
        put(store, make_fact("a"), new(make_fact("b"), passage="own"), make_fact("c"))
        with store.reading(BANK) as reading:
            assert [fact.id for fact in reading.facts(["c", "no", "a"])] == ["c", "a"]
            assert reading.features(["no"]) == {}
            assert reading.passages(["a", "b", "no"]) == {
                "a": Passage("text of a", "text of a", b""),
                "b": Passage("own", "own", b""),
            }

    def test_a_bank_never_written_is_empty(self, store: Store) -> None:
        assert store.banks() == []
        assert browse(store).total == 0
        assert search(store, SemanticProbe(unit(1))) == []
        with store.reading(BANK) as reading:
            assert reading.bank() is None
            assert reading.facts(["a"]) == []
            assert not reading.documents()
            assert not reading.chunks(document_id="d")
            assert not reading.entities()
            assert not reading.links(["a"])
            assert not reading.find_facts(FactsWhere(document_ids=["d"]))
            assert not reading.facts_by_dedupe_key(["k"])
            assert not reading.proofs(["a"])
            assert reading.records("k") == []
            assert reading.stats().facts == 0
        store.record_recalls(BANK, [("a", NOW)])
        with store.transaction(BANK) as tx:
            tx.delete_facts(["a"])
            tx.update_facts([make_fact("a")])
            tx.put_features({"a": Features()})
            tx.delete_records("k", ["1"])
            tx.put_documents([])
            tx.put_chunks([])
            tx.insert_facts([])
            tx.put_entities([])
            tx.put_records([])
            tx.delete_bank()
        assert store.banks() == []

    def test_the_first_row_makes_the_bank(self, store: Store) -> None:
        with store.transaction("facts") as tx:
            assert tx.bank() is None
            tx.insert_facts([NewFact(replace(make_fact("a"), bank="facts"), Features())])
            assert tx.bank() is not None
        with store.transaction("model") as tx:
            tx.set_model(MODEL)
        with store.transaction("records") as tx:
            tx.put_records([Record(kind="k", id="1", bank="records")])
        assert [(bank.id, bank.model) for bank in store.banks()] == [
            ("facts", None),
            ("model", MODEL),
            ("records", None),
        ]
        assert all(bank.created_at and bank.updated_at for bank in store.banks())

    def test_banks_are_kept_apart(self, store: Store) -> None:
        put(store, new(make_fact("a"), words="one", vectors={"fact": unit(1)}, dedupe_key="k"))
        other = replace(make_fact("a", "another"), bank="other")
        features = Features(vectors={"fact": np.ones(3, np.float32)}, dedupe_key="k")
        with store.transaction("other") as tx:
            tx.set_model(EmbeddingModel("small", 3))
            tx.insert_facts([NewFact(other, features)])
            tx.delete_facts(["b"])
        with store.reading("other") as reading:
            assert reading.facts(["a"]) == [other]
        assert facts(store, "a")[0].text == "text of a"
        assert ids(search(store, SemanticProbe(unit(1)))) == ["a"]
        assert [bank.id for bank in store.banks()] == [BANK, "other"]
        assert [bank.id for bank in store.banks(["other", "no"])] == ["other"]

    def test_putting_a_bank_never_changes_its_model(self, store: Store) -> None:
        put(store, new(make_fact("a"), vectors={"fact": unit(1)}))
        traits = Disposition(skepticism=5, bias_strength=0.1)
        bank = Bank(id=BANK, name="n", mission="m", disposition=traits, settings={"x": [1, "ü"]})
        (before,) = store.banks([BANK])
        with store.transaction(BANK) as tx:
            tx.put_bank(bank)
        (after,) = store.banks([BANK])
        assert replace(after, updated_at=None) == replace(bank, model=MODEL, created_at=before.created_at)

    def test_a_transaction_is_written_whole_or_not_at_all(self, store: Store) -> None:
        put(store, new(make_fact("a"), words="old"), make_fact("x"))
        with pytest.raises(Conflict), store.transaction(BANK) as tx:
            tx.put_documents([Document(id="d", bank=BANK)])
            tx.put_bank(Bank(id=BANK, name="changed"))
            tx.update_facts([make_fact("a", "changed")])
            tx.put_features({"a": new(make_fact("a"), words="new").features})
            tx.delete_facts(["x"])
            tx.put_records([Record(kind="k", id="1", bank=BANK)])
            tx.erased_content()
            tx.insert_facts([new(make_fact("b"), words="new"), new(make_fact("a"))])
        with store.reading(BANK) as reading:
            assert [fact.text for fact in reading.facts(["a", "b", "x"])] == ["text of a", "text of x"]
            assert reading.documents() == []
            assert reading.records("k") == []
            assert reading.search(KeywordProbe({"new": 1.0}), CURRENT, 9) == []
            assert ids(reading.search(KeywordProbe({"old": 1.0}), CURRENT, 9)) == ["a"]
        assert store.banks()[0].name == ""
        assert store.traces() is Traces.CLEARED
        with pytest.raises(Conflict), store.transaction("never") as tx:
            tx.put_documents([Document(id="d", bank="never")])
            raise Conflict("changed my mind")
        assert [bank.id for bank in store.banks()] == [BANK]

    def test_a_transaction_sees_what_it_wrote(self, store: Store) -> None:
        put(store, new(make_fact("a"), dedupe_key="k"))
        with store.transaction(BANK) as tx:
            tx.update_facts([make_fact("a", retired_at=NOW, superseded_by="b", document_id="d")])
            tx.insert_facts([new(make_fact("b", entity_ids=("e",), source_fact_ids=("a",)), dedupe_key="k")])
            tx.put_records([Record(kind="k", id="1", bank=BANK)])
            tx.put_links([Link("a", "b", LinkKind.CAUSAL, 1.0)])
            assert tx.facts_by_dedupe_key(["k"]) == {"k": "b"}
            assert tx.facts(["a"])[0].retired_at == NOW
            assert [fact.id for fact in tx.find_facts(FactsWhere(entity_ids=["e"]))] == ["b"]
            assert [fact.id for fact in tx.find_facts(FactsWhere(superseded_by=["b"]))] == ["a"]
            assert [record.id for record in tx.records("k")] == ["1"]
            tx.delete_facts(["a"])
            assert tx.links(["b"]) == []
            assert tx.find_facts(FactsWhere(document_ids=["d"])) == []

    def test_searches_of_a_reading_see_one_state_and_rows_what_is_there(self, store: Store) -> None:
        put(store, new(make_fact("a"), words="tea"), new(make_fact("b"), words="tea"))
        with store.reading(BANK) as reading:
            before = reading.search(KeywordProbe({"tea": 1.0}), CURRENT, 9)
            put(store, new(make_fact("c"), words="tea"))
            with store.transaction(BANK) as tx:
                tx.delete_facts(["a"])
            assert reading.search(KeywordProbe({"tea": 1.0}), CURRENT, 9) == before
            assert [fact.id for fact in reading.facts(["a", "b", "c"])] == ["b", "c"]
        assert ids(search(store, KeywordProbe({"tea": 1.0}))) == ["b", "c"]

    def test_the_open_fact_recorded_first_holds_a_dedupe_key(self, store: Store) -> None:
        put(
            store,
            new(make_fact("z", retired_at=NOW), dedupe_key="k"),
            new(make_fact("over", valid_to=day(1), end_recorded_at=NOW), dedupe_key="k"),
            new(make_fact("y", valid_to=day(1)), dedupe_key="k"),
            new(make_fact("x"), dedupe_key="k"),
            new(make_fact("w"), dedupe_key=""),
        )
        with store.reading(BANK) as reading:
            assert reading.facts_by_dedupe_key(["k", "m", ""]) == {"k": "y"}
        with store.transaction(BANK) as tx:
            tx.update_facts([make_fact("z"), make_fact("y", retired_at=NOW)])
            assert tx.facts_by_dedupe_key(["k"]) == {"k": "z"}

    def test_updates_change_neither_features_nor_recalls(self, store: Store) -> None:
        put(store, new(make_fact("a", tags=frozenset({"x"})), words="one two", dedupe_key="k"))
        store.record_recalls(BANK, [("a", NOW)])
        changed = make_fact("a", "other text", tags=frozenset({"y"}), entity_ids=("e",), entities=("E",))
        with store.transaction(BANK) as tx:
            tx.update_facts([changed, make_fact("no")])
        with store.reading(BANK) as reading:
            assert reading.facts(["a", "no"]) == [
                replace(changed, recall_count=1, last_recalled_at=NOW, recall_times=(NOW,))
            ]
            assert reading.features(["a"])["a"].words == ("one", "two")
            assert reading.facts_by_dedupe_key(["k"]) == {"k": "a"}
        assert browse(store, entity_id="e").total == 1
        assert ids(search(store, GraphProbe({}, {"e": 1.0}))) == ["a"]

    def test_features_can_be_replaced(self, store: Store) -> None:
        put(store, new(make_fact("a"), words="one", vectors={"fact": unit(1)}))
        features = new(make_fact("a"), words="two", vectors={"fact": unit(0, 1)}, dedupe_key="k").features
        with store.transaction(BANK) as tx:
            tx.put_features({"a": features, "no": features})
        with store.reading(BANK) as reading:
            assert_same_features(features, reading.features(["a"])["a"])
            assert reading.features(["no"]) == {}
            assert reading.facts_by_dedupe_key(["k"]) == {"k": "a"}
        (hit,) = search(store, SemanticProbe(unit(0, 1)))
        assert hit.score == pytest.approx(1, abs=1e-3)
        with store.transaction(BANK) as tx:
            tx.put_features({"a": Features()})
        assert search(store, SemanticProbe(unit(0, 1))) == []

    def test_a_deleted_fact_is_found_nowhere(self, store: Store) -> None:
        put(
            store,
            new(make_fact("a", entity_ids=("e",)), words="apple", vectors={"fact": unit(1)}, dedupe_key="k"),
            new(make_fact("b", entity_ids=("e",)), words="pear", vectors={"fact": unit(1)}),
            links=[Link("a", "b", LinkKind.CAUSAL, 1.0)],
            proofs=[Proof("a", "d", "c", NOW)],
        )
        for probe in (SemanticProbe(unit(1)), KeywordProbe({"apple": 1.0}), GraphProbe({"b": 1.0})):
            assert "a" in ids(search(store, probe))
        with store.transaction(BANK) as tx:
            tx.delete_facts(["a", "no"])
        with store.reading(BANK) as reading:
            assert not reading.facts(["a"])
            assert not reading.links(["a", "b"])
            assert not reading.features(["a"])
            assert not reading.passages(["a"])
            assert not reading.ranking_fields(["a"])
            assert not reading.facts_by_dedupe_key(["k"])
            assert not reading.proofs(["a"])
            assert reading.stats().facts == 1
        assert ids(search(store, SemanticProbe(unit(1)))) == ["b"]
        assert search(store, KeywordProbe({"apple": 1.0})) == []
        assert ids(search(store, GraphProbe({"b": 1.0, "a": 1.0}))) == ["b"]
        put(store, new(make_fact("a", "anew"), words="plum"))
        assert facts(store, "a")[0].text == "anew"
        assert ids(search(store, KeywordProbe({"apple": 1.0, "plum": 1.0}))) == ["a"]

    def test_the_last_twenty_recalls_are_remembered(self, store: Store) -> None:
        put(store, make_fact("a"), make_fact("b"))
        moments = [NOW + timedelta(minutes=minute) for minute in range(25)]
        store.record_recalls(BANK, [(fact_id, moment) for moment in moments[:20] for fact_id in ("a", "no")])
        store.record_recalls(BANK, ((fact_id, moment) for moment in moments[20:] for fact_id in ("a", "no")))
        fact, other = facts(store, "a", "b")
        assert fact.recall_count == 25
        assert fact.recall_times == tuple(moments[-20:])
        assert fact.last_recalled_at == moments[-1]
        assert other.recall_count == 0

    def test_documents_and_chunks(self, store: Store) -> None:
        first = Document(
            id="d1", bank=BANK, title="t", tags=frozenset({"x"}), metadata={"k": "v"}, created_at=day(1)
        )
        second = Document(id="d2", bank=BANK, created_at=day(2))
        chunks = [make_chunk(f"c{number}", "d1", f"ü {number}", number) for number in range(3)]
        put(store, documents=[first, second], chunks=chunks[::-1])
        with store.transaction(BANK) as tx:
            assert [document.id for document in tx.documents()] == ["d2", "d1"]
            assert tx.documents(["d1", "no"])[0].metadata == {"k": "v"}
            assert tx.chunks(document_id="d1") == chunks
            assert [chunk.id for chunk in tx.chunks(ids=["c2", "no", "c0"])] == ["c2", "c0"]
            tx.put_documents([replace(first, title="new", created_at=None)])
            tx.put_chunks([replace(chunks[0], text="anew")])
            tx.delete_chunks(["c1", "no"])
            tx.delete_documents(["d2", "no"])
        with store.reading(BANK) as reading:
            (document,) = reading.documents()
            assert (document.title, document.created_at) == ("new", day(1))
            assert [chunk.text for chunk in reading.chunks(document_id="d1")] == ["anew", "ü 2"]

    def test_facts_are_found_by_what_they_refer_to_in_recorded_order(self, store: Store) -> None:
        put(
            store,
            make_fact("z", document_id="d"),
            make_fact("y", chunk_id="c", retired_at=NOW),
            make_fact("x", entity_ids=("e", "f")),
            make_fact("w", source_fact_ids=("s",)),
            make_fact("v", superseded_by="n", retired_at=NOW),
            make_fact("u"),
        )

        def found(**where: list[str]) -> str:
            with store.reading(BANK) as reading:
                return "".join(fact.id for fact in reading.find_facts(FactsWhere(**where)))

        assert found() == ""
        assert found(document_ids=["d", "no"]) == "z"
        assert found(chunk_ids=["c"]) == "y"
        assert found(entity_ids=["f", "e"]) == "x"
        assert found(source_fact_ids=["s"]) == "w"
        assert found(superseded_by=["n"]) == "v"
        assert found(superseded_by=["n"], document_ids=["d"], entity_ids=["e"]) == "zxv"

    def test_entities_by_id_and_by_key(self, store: Store) -> None:
        keyed = [
            KeyedEntity(Entity(id="e1", bank=BANK, name="Bob", aliases=("Rob",), mentions=1), ("bob", "rob")),
            KeyedEntity(Entity(id="e2", bank=BANK, name="Roberta", mentions=5, first_seen=day(1)), ("rob",)),
        ]
        put(store, make_fact("a", entities=("Bob",), entity_ids=("e1",)), entities=keyed)
        with store.transaction(BANK) as tx:
            assert [one.entity.id for one in tx.entities()] == ["e2", "e1"]
            assert tx.entities(ids=["e1", "no"]) == [keyed[0]]
            assert {one.entity.id for one in tx.entities(keys=["rob", "no"])} == {"e1", "e2"}
            tx.put_entities([replace(keyed[1], keys=("berta",))])
            tx.delete_entities(["e1", "no"])
        with store.reading(BANK) as reading:
            assert reading.entities(keys=["rob", "bob"]) == []
            assert reading.entities() == [replace(keyed[1], keys=("berta",))]
            assert reading.facts(["a"])[0].entity_ids == ("e1",)

    def test_links_are_replaced_by_kind_and_need_both_facts(self, store: Store) -> None:
        put(store, make_fact("a"), make_fact("b"), make_fact("c"))
        first = [
            Link("a", "b", LinkKind.SEMANTIC, 0.7),
            Link("b", "a", LinkKind.CAUSAL, 0.4),
            Link("c", "b", LinkKind.TEMPORAL, 0.1),
            Link("a", "no", LinkKind.TEMPORAL, 0.1),
        ]
        put(store, links=first)
        with store.reading(BANK) as reading:
            assert_same_links([first[0], first[1]], reading.links(["a"]))
            assert_same_links([first[1]], reading.links(["a", "c"], LinkKind.CAUSAL))
        put(store, links=[Link("a", "b", LinkKind.SEMANTIC, 0.2)])
        with store.reading(BANK) as reading:
            expected = [Link("a", "b", LinkKind.SEMANTIC, 0.2), first[1], first[2]]
            assert_same_links(expected, reading.links(["b", "c", "no"]))
            assert reading.stats().links_by_kind == {"semantic": 1, "causal": 1, "temporal": 1}

    def test_proofs_are_kept_in_order(self, store: Store) -> None:
        put(store, make_fact("a"), make_fact("b"))
        one, two, three = (Proof("a", f"d{number}", f"c{number}", day(number)) for number in range(3))
        put(store, proofs=[one, two, Proof("no", "d0", None, None), Proof("b", None, "c1", None)])
        put(store, proofs=[three])
        with store.transaction(BANK) as tx:
            assert tx.proofs(["b", "a", "no"]) == {
                "b": [Proof("b", None, "c1", None)],
                "a": [one, two, three],
            }
            assert tx.proofs_from(document_ids=["d1"]) == {"a": [two]}
            assert tx.proofs_from(chunk_ids=["c1"], document_ids=["d0"]) == {
                "a": [one, two],
                "b": [Proof("b", None, "c1", None)],
            }
            tx.replace_proofs({"a": [three, one], "b": [], "no": [one]})
            assert tx.proofs(["a", "b", "no"]) == {"a": [three, one]}
            assert tx.facts(["a"])[0].proof_count == 1

    def test_records_of_a_bank(self, store: Store) -> None:
        first = Record(kind="op", id="1", bank=BANK, body={"state": "new", "n": [1]}, created_at=day(2))
        second = Record(kind="op", id="0", bank=BANK, created_at=day(3))
        with store.transaction(BANK) as tx:
            tx.put_records([second, first, Record(kind="key", id="1")])
        with store.transaction(BANK) as tx:
            tx.put_records([Record(kind="op", id="1", bank=BANK, body={"state": "done"})])
        with store.reading(BANK) as reading:
            assert [record.id for record in reading.records("op")] == ["1", "0"]
            (done,) = reading.records("op", ["1", "no"])
            assert (done.bank, done.body, done.created_at) == (BANK, {"state": "done"}, day(2))
            assert [record.bank for record in reading.records("key")] == [BANK]
        assert store.banks_with_records("op") == [BANK]
        with store.transaction(BANK) as tx:
            tx.delete_records("op", ["0", "1", "no"])
        assert store.banks_with_records("op") == []
        assert store.banks_with_records("key") == [BANK]
        assert store.traces() is Traces.CLEARED

    def test_records_of_no_bank(self, store: Store) -> None:
        store.put_shared_records(
            [Record(kind="key", id="2", body={"a": "ü"}, created_at=day(2)), Record(kind="key", id="1")]
        )
        store.put_shared_records([Record(kind="key", id="2", body={"a": "ö"})])
        assert [(one.id, one.bank, one.body) for one in store.shared_records("key")] == [
            ("2", "", {"a": "ö"}),
            ("1", "", {}),
        ]
        assert [record.id for record in store.shared_records("key", ["1", "no"])] == ["1"]
        store.delete_shared_records("key", ["1", "no"])
        assert [record.id for record in store.shared_records("key")] == ["2"]
        assert not store.shared_records("op")
        assert not store.banks()
        assert store.traces() is Traces.CLEARED

    def test_a_bank_goes_whole(self, store: Store) -> None:
        put(store, new(make_fact("a"), vectors={"fact": unit(1)}), documents=[Document(id="d", bank=BANK)])
        for bank in (BANK, "other"):
            with store.transaction(bank) as tx:
                tx.put_records([Record(kind="k", id="1", bank=bank)])
        with store.transaction(BANK) as tx:
            tx.delete_bank()
        assert [bank.id for bank in store.banks()] == ["other"]
        assert store.banks_with_records("k") == ["other"]
        assert search(store, SemanticProbe(unit(1))) == []
        put(store, new(make_fact("b"), vectors={"fact": unit(1)}))
        assert ids(search(store, SemanticProbe(unit(1)))) == ["b"]
        with store.reading(BANK) as reading:
            assert reading.documents() == []

    def test_vectors_of_another_size_are_refused(self, store: Store) -> None:
        put(store, new(make_fact("a"), vectors={"fact": unit(1)}))
        with pytest.raises(ModelMismatch, match="reembed"):
            search(store, SemanticProbe(np.ones(4, np.float32)))

    def test_staged_vectors_become_the_banks_own_when_it_switches(self, store: Store) -> None:
        put(store, *(new(make_fact(name), vectors={"fact": unit(1)}, tokens=b"old") for name in "abc"))
        other = EmbeddingModel("other", 4)
        axes = dict(zip("abc", np.eye(4, dtype=np.float32), strict=False))
        staged = [StagedVectors(name, {"fact": axes[name]}, b"new") for name in "abc"]
        with store.transaction(BANK) as tx:
            assert tx.unstaged_facts(other) == ["a", "b", "c"]
            tx.stage_vectors(other, [staged[0], staged[1], StagedVectors("no", {"fact": axes["a"]}, b"")])
            assert tx.unstaged_facts(other) == ["c"]
            assert tx.unstaged_facts(MODEL) == ["a", "b", "c"]
        assert len(search(store, SemanticProbe(unit(1)))) == 3
        with store.transaction(BANK) as tx:
            tx.stage_vectors(other, [staged[2]])
            tx.switch_model(other)
        assert store.banks()[0].model == other
        assert ids(search(store, SemanticProbe(axes["c"]))) == ["c", "a", "b"]
        with store.reading(BANK) as reading:
            assert reading.features(["a"])["a"].tokens == b"new"
        with pytest.raises(ModelMismatch):
            search(store, SemanticProbe(unit(1)))

    def test_staged_vectors_go_with_what_they_were_made_of(self, store: Store) -> None:
        put(store, *(new(make_fact(name), vectors={"fact": unit(1)}) for name in "abc"))
        other = EmbeddingModel("other", 8)
        with store.transaction(BANK) as tx:
            tx.stage_vectors(other, [StagedVectors(name, {"fact": unit(0, 1)}, b"") for name in "abc"])
            tx.put_features({"a": Features(vectors={"fact": unit(0, 0, 1)})})
            tx.delete_facts(["b"])
            assert tx.unstaged_facts(other) == ["a"]

    def test_erased_content_leaves_traces_until_they_are_cleared(self, store: Store) -> None:
        put(store, make_fact("a"))
        assert store.traces() is Traces.CLEARED
        with store.transaction(BANK) as tx:
            tx.delete_facts(["a"])
            tx.erased_content()
        assert store.traces() is Traces.PENDING
        assert store.clear_traces() is Traces.CLEARED
        assert store.traces() is Traces.CLEARED
        assert store.traces_progress() == 1.0

    def test_counts(self, store: Store) -> None:
        put(
            store,
            make_fact("a", tags=frozenset({"x", "y"}), retired_at=NOW),
            make_fact("b", type=FactType.OPINION, tags=frozenset({"x"})),
            make_fact("over", valid_to=day(1), end_recorded_at=NOW),
            documents=[Document(id="d", bank=BANK)],
            chunks=[make_chunk("c", "d", "text")],
            entities=[KeyedEntity(Entity(id="e", bank=BANK, name="E"), ())],
        )
        with store.reading(BANK) as reading:
            stats = reading.stats()
        assert (stats.facts, stats.current_facts, stats.documents) == (3, 1, 1)
        assert (stats.chunks, stats.entities) == (1, 1)
        assert stats.facts_by_type == {"world": 2, "opinion": 1}
        assert stats.tags == {"x": 2, "y": 1}
