"""What the port promises about erasure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from perdure.domain.erasure import FORGOTTEN
from perdure.domain.fact import Chunk, Document, Entity, FactType, Link, LinkKind
from perdure.domain.record import Record
from perdure.errors import InvalidInput
from perdure.ports.probe import FuzzyProbe, GraphProbe, KeywordProbe, SemanticProbe
from perdure.ports.store import KeyedEntity, Proof, Store, Target, WriteBatch
from perdure.testing.making import BANK, CURRENT, MODEL, NOW, ids, make_fact, new, put, unit


def _chunk(ident: str, document_id: str, text: str) -> Chunk:
    return Chunk(id=ident, bank=BANK, document_id=document_id, ordinal=0, text=text, content_hash="h")


class ForgetContract:
    """Erasure."""

    def test_a_forgotten_fact_is_found_nowhere(self, store: Store) -> None:
        put(
            store,
            new(make_fact("a", entity_ids=("e",)), words="apple", vectors={"fact": unit(1)}, dedupe_key="k"),
            new(make_fact("b", entity_ids=("e",)), words="pear", vectors={"fact": unit(1)}),
            links=[Link("a", "b", LinkKind.CAUSAL, 1.0)],
        )
        for probe in (SemanticProbe(unit(1)), FuzzyProbe(("apple",)), GraphProbe({"b": 1.0})):
            assert "a" in ids(store.search(BANK, probe, CURRENT, 9))
        assert store.forget(BANK, Target(fact_id="a")) == 1
        assert store.facts(BANK, ["a"]) == []
        assert store.features(BANK, ["a"]) == {}
        assert store.passages(BANK, ["a"]) == {}
        assert store.links(BANK, ["a", "b"]) == []
        assert store.known(BANK, ["k"]) == {}
        assert store.stats(BANK).facts == 1
        assert ids(store.search(BANK, SemanticProbe(unit(1)), CURRENT, 9)) == ["b"]
        assert store.search(BANK, KeywordProbe({"apple": 1.0}), CURRENT, 9) == []
        assert store.search(BANK, FuzzyProbe(("apple",)), CURRENT, 9) == []
        assert ids(store.search(BANK, GraphProbe({"b": 1.0, "a": 1.0}), CURRENT, 9)) == ["b"]
        assert store.forget(BANK, Target(fact_id="a")) == 0

    def test_a_forgotten_id_can_be_used_again(self, store: Store) -> None:
        put(store, new(make_fact("a"), words="apple"))
        store.forget(BANK, Target(fact_id="a"))
        put(store, new(make_fact("a", "anew"), words="pear"))
        assert store.facts(BANK, ["a"])[0].text == "anew"
        assert ids(store.search(BANK, KeywordProbe({"apple": 1.0, "pear": 1.0}), CURRENT, 9)) == ["a"]

    def test_its_wording_leaves_the_chunk_and_its_siblings(self, store: Store) -> None:
        put(
            store,
            make_fact("a", "Ann has a cat", document_id="d", chunk_id="c", source_text="I have\na cat."),
            new(
                make_fact(
                    "b", "It rains", document_id="d", chunk_id="c", source_text="I have a cat. It rains."
                ),
                passage="Ann has a cat | It rains",
            ),
            documents=[Document(id="d", bank=BANK, title="On: I have a cat.")],
            chunks=[_chunk("c", "d", "Ann: i HAVE  a cat. It rains.")],
        )
        assert store.forget(BANK, Target(fact_id="a")) == 1
        assert store.chunks(BANK, ids=["c"])[0].text == f"Ann: {FORGOTTEN} It rains."
        assert store.facts(BANK, ["b"])[0].source_text == f"{FORGOTTEN} It rains."
        assert store.passages(BANK, ["b"])["b"][0] == f"{FORGOTTEN} | It rains"
        assert store.documents(BANK)[0].title == f"On: {FORGOTTEN}"

    def test_a_chunk_is_emptied_when_the_wording_cannot_be_found_in_it(self, store: Store) -> None:
        put(
            store,
            make_fact("a", "Ann owns a pet", document_id="d", chunk_id="c"),
            chunks=[_chunk("c", "d", "there is this cat of mine")],
        )
        store.forget(BANK, Target(fact_id="a"))
        assert store.chunks(BANK, ids=["c"])[0].text == FORGOTTEN

    def test_what_was_synthesised_from_it_goes_too(self, store: Store) -> None:
        put(
            store,
            make_fact("a"),
            make_fact("b"),
            make_fact("o", type=FactType.OBSERVATION, source_fact_ids=("a", "b")),
            make_fact("p", type=FactType.OBSERVATION, source_fact_ids=("o",)),
            make_fact("q", type=FactType.OBSERVATION, source_fact_ids=("b",)),
        )
        assert store.forget(BANK, Target(fact_id="a")) == 3
        assert [fact.id for fact in store.facts(BANK, list("aopbq"))] == ["b", "q"]

    def test_entities_go_with_their_last_fact(self, store: Store) -> None:
        entities = [
            KeyedEntity(Entity(id=ident, bank=BANK, name=ident, mentions=2), (ident,))
            for ident in ("e1", "e2", "e3")
        ]
        put(
            store,
            make_fact("a", entity_ids=("e1", "e2")),
            make_fact("b", entity_ids=("e2",)),
            entities=entities,
        )
        store.forget(BANK, Target(fact_id="a"))
        left = {keyed.entity.id: keyed.entity.mentions for keyed in store.entities(BANK)}
        assert left == {"e2": 1, "e3": 2}
        assert store.entities(BANK, keys=["e1"]) == []

    def test_a_document_goes_with_chunks_and_facts(self, store: Store) -> None:
        put(
            store,
            make_fact("a", document_id="d1", chunk_id="c1"),
            make_fact("b", document_id="d1", chunk_id="c1", source_text="from d1", context="d1"),
            make_fact("c", document_id="d2", chunk_id="c2"),
            documents=[Document(id="d1", bank=BANK), Document(id="d2", bank=BANK)],
            chunks=[_chunk("c1", "d1", "one"), _chunk("c2", "d2", "two")],
            proofs=[
                Proof(fact_id="b", document_id="d2", chunk_id="c2", seen_at=NOW),
                Proof(fact_id="c", document_id="d1", chunk_id="c1", seen_at=NOW),
            ],
        )
        assert store.proofs(BANK, ["c", "a", "b"]) == [
            Proof("c", "d1", "c1", NOW),
            Proof("b", "d2", "c2", NOW),
        ]
        assert store.forget(BANK, Target(document_id="d1")) == 1
        assert store.proofs(BANK, ["a", "b", "c"]) == []
        assert [document.id for document in store.documents(BANK)] == ["d2"]
        assert store.chunks(BANK, ids=["c1", "c2"]) == [_chunk("c2", "d2", "two")]
        kept = store.facts(BANK, ["a", "b", "c"])
        assert [(fact.id, fact.document_id, fact.chunk_id, fact.proof_count) for fact in kept] == [
            ("b", "d2", "c2", 1),
            ("c", "d2", "c2", 1),
        ]
        assert (kept[0].source_text, kept[0].context) == ("", "")
        assert store.forget(BANK, Target(document_id="d2")) == 2
        assert store.stats(BANK).facts == 0

    def test_an_entity_goes_without_its_facts(self, store: Store) -> None:
        entity = KeyedEntity(Entity(id="e1", bank=BANK, name="E"), ("e",))
        put(
            store,
            make_fact("a", entities=("E", "F"), entity_ids=("e1", "e2")),
            make_fact("b", entity_ids=("e1",)),
            entities=[entity],
        )
        assert ids(store.search(BANK, GraphProbe({}, {"e1": 1.0}), CURRENT, 9)) == ["a", "b"]
        assert store.forget(BANK, Target(entity_id="e1")) == 0
        assert store.entities(BANK) == []
        assert store.facts(BANK, ["a"])[0].entities == ("F",)
        assert store.search(BANK, GraphProbe({}, {"e1": 1.0}), CURRENT, 9) == []

    def test_a_bank_goes_whole(self, store: Store) -> None:
        put(store, new(make_fact("a"), vectors={"fact": unit(1)}), documents=[Document(id="d", bank=BANK)])
        other = replace(make_fact("x"), bank="other")
        store.write(WriteBatch(bank="other", facts=[new(other)]))
        store.save_records([Record(kind="k", id="1", bank=BANK), Record(kind="k", id="1", bank="other")])
        assert store.forget(BANK, Target(bank=True)) == 1
        assert [bank.id for bank in store.banks()] == ["other"]
        assert store.records("k", bank=BANK) == []
        assert len(store.records("k", bank="other")) == 1
        assert store.facts("other", ["x"]) == [other]
        assert store.search(BANK, SemanticProbe(unit(1)), CURRENT, 9) == []
        put(store, new(make_fact("b"), vectors={"fact": unit(1)}))
        assert ids(store.search(BANK, SemanticProbe(unit(1)), CURRENT, 9)) == ["b"]
        assert store.banks([BANK])[0].model == MODEL

    def test_the_words_of_an_erased_fact_find_no_other(self, store: Store) -> None:
        near: dict[str, Any] = {
            "terms": {"house": 1.0, "secret": 0.5, "anna": 1.0},
            "passage": "Anna: the house. It is secret.",
        }
        put(
            store,
            new(make_fact("a", "It is secret.", document_id="d"), words="secret"),
            new(make_fact("b", "Anna has a house.", document_id="d"), **near),
            new(make_fact("c", "A secret garden.", document_id="d"), words="secret garden"),
            documents=[Document(id="d", bank=BANK)],
        )
        assert ids(store.search(BANK, KeywordProbe({"secret": 1.0}), CURRENT, 9)) == ["a", "c", "b"]
        store.forget(BANK, Target(fact_id="a"))
        assert ids(store.search(BANK, KeywordProbe({"secret": 1.0}), CURRENT, 9)) == ["c"]
        left = store.features(BANK, ["b"])["b"]
        assert (left.terms, left.passage) == ({"house": 1.0, "anna": 1.0}, "Anna: the house. [forgotten]")
        assert ids(store.search(BANK, KeywordProbe({"house": 1.0}), CURRENT, 9)) == ["b"]

    def test_a_bank_of_which_there_are_only_records_goes_too(self, store: Store) -> None:
        store.save_records([Record(kind="k", id="1", bank=BANK), Record(kind="k", id="1", bank="other")])
        assert store.forget(BANK, Target(bank=True)) == 0
        assert store.records("k", bank=BANK) == []
        assert len(store.records("k", bank="other")) == 1

    def test_a_record_goes(self, store: Store) -> None:
        store.save_records([Record(kind="k", id="1", bank=BANK), Record(kind="k", id="2", bank=BANK)])
        assert store.forget(BANK, Target(record=("k", "1"))) == 0
        assert [record.id for record in store.records("k", bank=BANK)] == ["2"]

    def test_exactly_one_thing_is_named(self, store: Store) -> None:
        for target in (Target(), Target(fact_id="a", bank=True), Target(document_id="d", record=("k", "1"))):
            with pytest.raises(InvalidInput, match="target"):
                store.forget(BANK, target)
