"""The contract of the Store port as tests, for authors of stores (docs/stores.md).

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        with closing(MyStore(tmp_path / "memory")) as store:
            yield store
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from perdure.domain.bank import Bank, Disposition, EmbeddingModel
from perdure.domain.fact import (
    ORIGIN,
    QUESTION,
    UNSURE_DATE,
    Chunk,
    Document,
    Entity,
    Fact,
    FactType,
    Link,
    LinkKind,
    Origin,
    Tier,
    ranking_fields,
)
from perdure.domain.filter import Filter, TagAnd, TagExpression, TagLeaf, TagNot, TagOr, TagsMatch
from perdure.domain.recall import Hit
from perdure.domain.record import Record
from perdure.domain.time import AsOf, Window
from perdure.errors import Conflict, ModelMismatch
from perdure.ports.embedder import Vector
from perdure.ports.probe import (
    MOST_TERMS,
    FuzzyProbe,
    GraphProbe,
    KeywordProbe,
    PageRankProbe,
    Probe,
    RelationProbe,
    SemanticProbe,
    SignatureProbe,
    TemporalProbe,
)
from perdure.ports.store import (
    FactPage,
    FactsWhere,
    Features,
    KeyedEntity,
    NewFact,
    Order,
    Passage,
    Proof,
    Selection,
    StagedVectors,
    Store,
    Traces,
)

BANK = "bank"
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
MODEL = EmbeddingModel("model", 8)
CURRENT = Filter(now=NOW)
EVERYTHING = Filter(now=NOW, include_closed=True, include_expired=True)


def day(number: int) -> datetime:
    """Return midnight of a day counted from 2024."""
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number)


def make_fact(fact_id: str, text: str = "", **fields: Any) -> Fact:
    """Return a fact of the bank."""
    return Fact(id=fact_id, bank=BANK, text=text or f"text of {fact_id}", **fields)


def make_chunk(chunk_id: str, document_id: str, text: str, ordinal: int = 0) -> Chunk:
    """Return a chunk of the bank."""
    return Chunk(
        id=chunk_id, bank=BANK, document_id=document_id, ordinal=ordinal, text=text, content_hash="h"
    )


def unit(*values: float) -> Vector:
    """Return a unit vector of the model's dimensions."""
    vector = np.zeros(MODEL.dimensions, np.float32)
    vector[: len(values)] = values
    return vector / np.float32(np.linalg.norm(vector))


def new(fact: Fact, *, words: str = "", **features: Any) -> NewFact:
    """Return a fact with features; `words` become terms and vocabulary."""
    if words:
        split = words.split()
        features = {
            "terms": {word: float(split.count(word)) for word in split},
            "words": tuple(split),
        } | features
    return NewFact(fact, Features(**features))


def put(
    store: Store,
    *facts: NewFact | Fact,
    documents: Sequence[Document] = (),
    chunks: Sequence[Chunk] = (),
    entities: Sequence[KeyedEntity] = (),
    links: Sequence[Link] = (),
    proofs: Sequence[Proof] = (),
) -> None:
    """Write rows in one transaction; bare facts are without features."""
    with_features = [one if isinstance(one, NewFact) else NewFact(one, Features()) for one in facts]
    with store.transaction(BANK) as tx:
        if any(one.features.vectors for one in with_features):
            tx.set_model(MODEL)
        tx.put_documents(documents)
        tx.put_chunks(chunks)
        tx.put_entities(entities)
        tx.insert_facts(with_features)
        tx.put_links(links)
        tx.add_proofs(proofs)


def search(store: Store, probe: Probe, where: Filter = CURRENT, limit: int = 10) -> list[Hit]:
    """Return the hits of a probe in the bank."""
    with store.reading(BANK) as reading:
        return reading.search(probe, where, limit)


def browse(store: Store, **selection: Any) -> FactPage:
    """Return a page of the bank's facts; without a filter, of all."""
    with store.reading(BANK) as reading:
        return reading.browse(Selection(**({"where": EVERYTHING} | selection)))


def facts(store: Store, *fact_ids: str) -> list[Fact]:
    """Return facts of the bank."""
    with store.reading(BANK) as reading:
        return reading.facts(fact_ids)


def ids(hits: Iterable[Hit]) -> list[str]:
    """Return the facts of hits, in order."""
    return [hit.fact_id for hit in hits]


def scores(hits: Iterable[Hit]) -> Mapping[str, float]:
    """Return fact id -> score."""
    return {hit.fact_id: hit.score for hit in hits}


TOLERANCE = 2e-3
"""How far scores may lie apart where a store rounds vectors or weights."""


def assert_same_features(expected: Features, actual: Features) -> None:
    """Assert equality but for the rounding of vectors."""
    assert actual.vectors.keys() == expected.vectors.keys()
    for view, vector in expected.vectors.items():
        np.testing.assert_allclose(actual.vectors[view], vector, atol=TOLERANCE)
    assert replace(actual, vectors={}) == replace(expected, vectors={})


def assert_same_links(expected: Sequence[Link], actual: Sequence[Link]) -> None:
    """Assert equality but for the rounding of weights."""
    assert [(link.source, link.target, link.kind) for link in actual] == [
        (link.source, link.target, link.kind) for link in expected
    ]
    for right, got in zip(expected, actual, strict=True):
        assert abs(right.weight - got.weight) < 1e-5


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
        listener="Ann",
        asked="Where to?",
        dates=(("Sunday", "2026-05-03"),),
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
            passage = Passage("Zoë: I moved to Łódź", "Ann: Where to?\nZoë: I moved to Łódź")
            assert reading.passages(["full"]) == {"full": passage}

    def test_rows_come_in_the_order_asked_and_unknown_ones_are_left_out(self, store: Store) -> None:
        put(store, make_fact("a"), new(make_fact("b"), passage="own"), make_fact("c"))
        with store.reading(BANK) as reading:
            assert [fact.id for fact in reading.facts(["c", "no", "a"])] == ["c", "a"]
            assert reading.features(["no"]) == {}
            assert reading.passages(["a", "b", "no"]) == {
                "a": Passage("text of a", "text of a"),
                "b": Passage("own", "own"),
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
        put(store, *(new(make_fact(name), vectors={"fact": unit(1)}) for name in "abc"))
        other = EmbeddingModel("other", 4)
        axes = dict(zip("abc", np.eye(4, dtype=np.float32), strict=False))
        staged = [StagedVectors(name, {"fact": axes[name]}) for name in "abc"]
        with store.transaction(BANK) as tx:
            assert tx.unstaged_facts(other) == ["a", "b", "c"]
            tx.stage_vectors(other, [staged[0], staged[1], StagedVectors("no", {"fact": axes["a"]})])
            assert tx.unstaged_facts(other) == ["c"]
            assert tx.unstaged_facts(MODEL) == ["a", "b", "c"]
        assert len(search(store, SemanticProbe(unit(1)))) == 3
        with store.transaction(BANK) as tx:
            tx.stage_vectors(other, [staged[2]])
            tx.switch_model(other)
        assert store.banks()[0].model == other
        assert ids(search(store, SemanticProbe(axes["c"]))) == ["c", "a", "b"]
        with pytest.raises(ModelMismatch):
            search(store, SemanticProbe(unit(1)))

    def test_staged_vectors_go_with_what_they_were_made_of(self, store: Store) -> None:
        put(store, *(new(make_fact(name), vectors={"fact": unit(1)}) for name in "abc"))
        other = EmbeddingModel("other", 8)
        with store.transaction(BANK) as tx:
            tx.stage_vectors(other, [StagedVectors(name, {"fact": unit(0, 1)}) for name in "abc"])
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
    """Return ids of a page of all facts."""
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
    """Assert them before and after a search, which may bring an index into memory."""
    asked = [*(fact.id for fact in facts), "said"]
    expected = {fact.id: ranking_fields(fact) for fact in facts}
    assert _fields(store, asked) == expected
    search(store, KeywordProbe({"x": 1.0}))
    assert _fields(store, asked) == expected


class SearchContract:
    """Channels."""

    def test_semantic_ranks_by_cosine_and_equal_ones_as_recorded(self, store: Store) -> None:
        put(
            store,
            new(make_fact("b"), vectors={"fact": unit(1, 1)}),
            new(make_fact("a"), vectors={"fact": unit(1, 1)}),
            new(make_fact("c"), vectors={"fact": unit(1)}),
            new(make_fact("d"), vectors={"fact": unit(-1)}),
            make_fact("e"),
        )
        hits = search(store, SemanticProbe(unit(1)), CURRENT, 10)
        assert ids(hits) == ["c", "b", "a", "d"]
        assert [hit.score for hit in hits] == pytest.approx([1, math.sqrt(0.5), math.sqrt(0.5), -1], abs=2e-3)
        assert ids(search(store, SemanticProbe(unit(1)), CURRENT, 2)) == ["c", "b"]
        assert ids(search(store, SemanticProbe(unit(1), min_score=0.9), CURRENT, 10)) == ["c"]
        assert search(store, SemanticProbe(unit(1)), CURRENT, 0) == []

    def test_views_are_searched_apart(self, store: Store) -> None:
        put(
            store,
            new(make_fact("a"), vectors={"fact": unit(1), "context": unit(0, 1)}),
            new(make_fact("b"), vectors={"fact": unit(0, 1)}),
        )
        assert ids(search(store, SemanticProbe(unit(0, 1), view="context"), CURRENT, 5)) == ["a"]
        assert ids(search(store, SemanticProbe(unit(0, 1)), CURRENT, 5)) == ["b", "a"]
        assert search(store, SemanticProbe(unit(1), view="none"), CURRENT, 5) == []

    def test_a_new_fact_is_found_at_once(self, store: Store) -> None:
        for number in range(5):
            vector = unit(*([0.0] * number), 1)
            put(store, new(make_fact(f"f{number}"), words=f"w{number}", vectors={"fact": vector}))
            assert search(store, SemanticProbe(vector), CURRENT, 1)[0].fact_id == f"f{number}"
            assert ids(search(store, KeywordProbe({f"w{number}": 1.0}), CURRENT, 1)) == [f"f{number}"]

    def test_keyword_is_bm25_over_the_facts_that_are_not_closed(self, store: Store) -> None:
        put(
            store,
            new(make_fact("a"), terms={"x": 2.0, "y": 1.0}),
            new(make_fact("b"), terms={"x": 1.0}),
            new(make_fact("c"), terms={"z": 2.0}),
            new(make_fact("old", retired_at=day(1)), terms={"x": 5.0}),
            new(make_fact("over", valid_to=day(1), end_recorded_at=day(1)), terms={"x": 4.0}),
        )
        hits = search(store, KeywordProbe({"x": 1.0, "y": 0.5}), CURRENT, 10)
        idf_x = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        idf_y = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
        average = (3 + 1 + 2) / 3
        norm_a = 1.2 * (0.25 + 0.75 * 3 / average)
        norm_b = 1.2 * (0.25 + 0.75 * 1 / average)
        score_a = idf_x * 2 * 2.2 / (2 + norm_a) + 0.5 * idf_y * 1 * 2.2 / (1 + norm_a)
        assert scores(hits) == pytest.approx({"a": score_a, "b": idf_x * 2.2 / (1 + norm_b)})
        assert ids(search(store, KeywordProbe({"x": 1.0}, min_score=99), CURRENT, 10)) == []
        closed = search(store, KeywordProbe({"x": 1.0}), EVERYTHING, 10)
        assert closed[0].fact_id == "old"

    def test_of_many_terms_the_rarest_are_looked_for(self, store: Store) -> None:
        common = {f"c{number}": 1.0 for number in range(2 * MOST_TERMS)}
        put(
            store,
            new(make_fact("both"), terms={"rare": 1.0, **common}),
            new(make_fact("common"), terms=common),
            new(make_fact("other"), terms={"z": 1.0}),
        )
        rare = {f"r{number}": 1.0 for number in range(2 * MOST_TERMS)}
        assert ids(search(store, KeywordProbe(common), CURRENT, 10)) == ["common", "both"]
        assert ids(search(store, KeywordProbe({**common, **rare, "rare": 1.0}), CURRENT, 10))[0] == "both"
        few = dict.fromkeys(list(common)[: MOST_TERMS - 1], 1.0)
        assert scores(search(store, KeywordProbe({**common, "rare": 1.0}), CURRENT, 10))[
            "both"
        ] == pytest.approx(scores(search(store, KeywordProbe({**few, "rare": 1.0}), CURRENT, 10))["both"])

    def test_graph_adds_entities_semantic_and_causal_links(self, store: Store) -> None:
        put(
            store,
            make_fact("seed", entity_ids=("e1", "e2", "e9")),
            make_fact("two", entity_ids=("e1", "e2")),
            make_fact("one", entity_ids=("e1",)),
            make_fact("linked"),
            make_fact("far"),
            make_fact("timely"),
            links=[
                Link("seed", "linked", LinkKind.SEMANTIC, 0.75),
                Link("linked", "seed", LinkKind.CAUSAL, 0.5),
                Link("linked", "far", LinkKind.SEMANTIC, 0.5),
                Link("seed", "timely", LinkKind.TEMPORAL, 1.0),
            ],
        )
        one_hop = search(store, GraphProbe({"seed": 1.0}), CURRENT, 10)
        expected = {"seed": 1.0, "linked": 1.25, "two": math.tanh(1.0), "one": math.tanh(0.5)}
        assert scores(one_hop) == pytest.approx(expected, abs=1e-5)
        weaker = search(store, GraphProbe({"seed": 0.5}, include_seeds=False), CURRENT, 10)
        assert scores(weaker) == pytest.approx(
            {"linked": 0.625, "two": math.tanh(0.5), "one": math.tanh(0.25)}, abs=1e-5
        )
        two_hops = scores(search(store, GraphProbe({"seed": 1.0}, hops=2), CURRENT, 10))
        assert two_hops["far"] == pytest.approx(0.5 * min(1.0, 1.25) * 0.5, abs=1e-5)
        assert two_hops["linked"] == pytest.approx(1.25, abs=1e-5)
        narrow = search(store, GraphProbe({"seed": 1.0}, hops=2, breadth=1), CURRENT, 10)
        assert "far" in scores(narrow)

    def test_graph_starts_from_entities_and_caps_hubs(self, store: Store) -> None:
        facts = [make_fact(f"f{number}", entity_ids=("hub",)) for number in range(4)]
        put(store, *facts, links=[Link("f3", "f2", LinkKind.TEMPORAL, 1.0)])
        probe = GraphProbe({}, {"hub": 1.0, "unknown": 1.0})
        assert scores(search(store, probe, CURRENT, 10)) == pytest.approx(
            {f"f{number}": math.tanh(0.5) for number in range(4)}
        )
        capped = GraphProbe({}, {"hub": 1.0}, hub_cap=3)
        assert ids(search(store, capped, CURRENT, 10)) == ["f0", "f2", "f3"]

    def test_graph_does_not_pass_through_facts_that_the_filter_leaves_out(self, store: Store) -> None:
        put(
            store,
            make_fact("seed"),
            make_fact("secret", classification=3),
            make_fact("behind"),
            links=[
                Link("seed", "secret", LinkKind.CAUSAL, 1.0),
                Link("secret", "behind", LinkKind.CAUSAL, 1.0),
            ],
        )
        probe = GraphProbe({"seed": 1.0}, hops=3)
        assert set(ids(search(store, probe, CURRENT, 9))) == {"seed", "secret", "behind"}
        assert ids(search(store, probe, Filter(now=NOW, max_classification=2), 9)) == ["seed"]

    def test_temporal_finds_the_window_then_what_is_linked(self, store: Store) -> None:
        put(
            store,
            make_fact("inside", occurred_start=day(10), occurred_end=day(11)),
            make_fact("across", occurred_start=day(1), occurred_end=day(12)),
            make_fact("said", mentioned_at=day(15)),
            make_fact("undated"),
            make_fact("before", occurred_start=day(1), mentioned_at=day(12)),
            make_fact("cause", occurred_start=day(50)),
            links=[
                Link("cause", "inside", LinkKind.CAUSAL, 0.5),
                Link("undated", "said", LinkKind.SEMANTIC, 1.0),
            ],
        )
        hits = search(store, TemporalProbe(Window(day(10), day(20))), CURRENT, 10)
        assert set(ids(hits)) == {"inside", "across", "said", "cause"}
        assert hits[-1].fact_id == "cause"
        assert scores(hits)["said"] == pytest.approx(1.0)
        assert ids(search(store, TemporalProbe(Window(day(10), day(20))), CURRENT, 1)) == ["said"]
        until = search(store, TemporalProbe(Window(None, day(2)), spread=()), CURRENT, 10)
        assert set(ids(until)) == {"across", "before"}

    def test_slices_of_the_window_take_turns(self, store: Store) -> None:
        early = [
            new(make_fact(f"early{n}", occurred_start=day(n)), vectors={"fact": unit(1, n / 100)})
            for n in range(3)
        ]
        late = new(make_fact("late", occurred_start=day(9)), vectors={"fact": unit(1, 5)})
        put(store, *early, late)
        probe = TemporalProbe(Window(day(0), day(10)), vector=unit(1), slices=2)
        assert ids(search(store, probe, CURRENT, 10)) == ["early0", "late", "early1", "early2"]
        whole = TemporalProbe(Window(day(0), day(10)), vector=unit(1), slices=1)
        assert ids(search(store, whole, CURRENT, 10)) == ["early0", "early1", "early2", "late"]

    def test_fuzzy_forgives_typos_and_finds_parts(self, store: Store) -> None:
        put(
            store,
            new(make_fact("a"), words="gardening tools"),
            new(make_fact("b"), words="garden"),
            new(make_fact("c"), words="violin"),
        )
        hits = search(store, FuzzyProbe(("gardn",)), CURRENT, 10)
        assert ids(hits) == ["b"]
        assert hits[0].score == pytest.approx(4 / 9)
        inside = scores(search(store, FuzzyProbe(("garden", "garden")), CURRENT, 10))
        assert inside == pytest.approx({"b": 1.0, "a": 0.5 + 0.5 * 6 / 9})
        mean = scores(search(store, FuzzyProbe(("garden", "tools")), CURRENT, 10))
        assert mean["b"] == pytest.approx(0.5)
        assert search(store, FuzzyProbe(("garden", "xyz"), min_score=0.9), CURRENT, 10) == []

    def test_signature_counts_equal_bits(self, store: Store) -> None:
        put(
            store,
            new(make_fact("same"), signature=bytes(32)),
            new(make_fact("half"), signature=b"\xff" * 16 + bytes(16)),
            make_fact("none"),
        )
        hits = search(store, SignatureProbe(bytes(32)), CURRENT, 10)
        assert [(hit.fact_id, hit.score) for hit in hits] == [("same", 1.0), ("half", 0.5)]
        assert ids(search(store, SignatureProbe(bytes(32), min_score=0.65), CURRENT, 10)) == ["same"]

    def test_relation_matches_names_and_aliases_of_entities(self, store: Store) -> None:
        alice = Entity(id="e1", bank=BANK, name="Alice", aliases=("Ally",))
        put(
            store,
            make_fact("a", subject="alice", relation="knows", object="Bob"),
            make_fact("b", subject="Bob", relation="Likes", object="ALLY"),
            make_fact("c", subject="Bob", relation="likes", object="tea"),
            make_fact("d", subject="alice", relation="knows"),
            entities=[KeyedEntity(alice, ())],
        )
        assert ids(search(store, RelationProbe({"e1": 1.0}), CURRENT, 10)) == ["a", "b"]
        assert ids(search(store, RelationProbe({"e1": 1.0}, relation="likes"), CURRENT, 10)) == ["b"]
        both = search(store, RelationProbe({"e1": 1.0, "bob": 0.5}), CURRENT, 10)
        assert scores(both) == pytest.approx({"a": 1.5, "b": 1.5, "c": 0.5})

    def test_pagerank_spreads_mass_from_the_seed_entities(self, store: Store) -> None:
        put(
            store,
            make_fact("ab", entity_ids=("a", "b")),
            make_fact("bc", entity_ids=("b", "c")),
            make_fact("z", entity_ids=("z",)),
        )
        hits = search(store, PageRankProbe({"a": 1.0}, damping=0.5, sweeps=1), CURRENT, 10)
        assert scores(hits) == pytest.approx({"ab": 0.5 + 0.25 + 0.25, "bc": 0.25})
        assert search(store, PageRankProbe({"unknown": 1.0}), CURRENT, 10) == []

    def test_links_with_a_fact_that_is_written_later_are_followed(self, store: Store) -> None:
        put(store, make_fact("a"), make_fact("b"))
        assert ids(search(store, GraphProbe({"a": 1.0}), CURRENT, 9)) == ["a"]
        put(store, links=[Link("b", "a", LinkKind.CAUSAL, 0.5)])
        assert scores(search(store, GraphProbe({"a": 1.0}), CURRENT, 9)) == pytest.approx({"a": 1, "b": 0.5})


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
    """Return ids that a filter admits, asked of a channel and of the listing, which must agree."""
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

    def test_origins(self, store: Store) -> None:
        _put(
            store,
            make_fact("tool", flags=(f"{ORIGIN}tool",), metadata={"origin": "user"}),
            make_fact("web", flags=(f"{ORIGIN}web",)),
            make_fact("user", flags=(f"{ORIGIN}user",)),
            make_fact("unknown"),
        )
        assert found(store, origins=frozenset({Origin.TOOL, Origin.USER})) == "tool user"
        assert found(store, origins=frozenset()) == ""
        assert found(store, foreign=False) == "unknown user"

    def test_expiry(self, store: Store) -> None:
        _put(store, make_fact("gone", expires_at=day(5)), make_fact("kept", expires_at=day(999)))
        assert found(store) == "kept"
        assert found(store, include_expired=True) == "gone kept"
        assert found(store, now=day(5)) == "kept"
        assert found(store, now=day(4)) == "gone kept"

    def test_questions_to_the_agent_can_be_left_out(self, store: Store) -> None:
        _put(store, make_fact("asked", flags=(QUESTION,)), make_fact("told"))
        assert found(store) == "asked told"
        assert found(store, questions=False) == "told"

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


class StoreContract(RowsContract, ListingContract, SearchContract, FilterContract):
    """Every behaviour of the port; derived classes give the fixture `store`."""
