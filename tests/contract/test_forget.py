"""What goes with what is erased, on every store."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from perdure.domain.fact import (
    FORGOTTEN,
    REMOVED,
    RESTATED_AS,
    Document,
    Entity,
    Fact,
    FactType,
    Link,
    LinkKind,
)
from perdure.domain.item import UNFINISHED_DOCUMENT, UpdateMode
from perdure.domain.record import Record
from perdure.errors import InvalidInput
from perdure.extract.verbatim import VerbatimExtractor
from perdure.forget.options import Target
from perdure.forget.pipeline import erase_target, forget
from perdure.forget.target import Forgotten
from perdure.manage.curation import invalidate_fact, update_fact
from perdure.models.hashing import HashingEmbedder
from perdure.ports.probe import FuzzyProbe, GraphProbe, KeywordProbe, SemanticProbe
from perdure.ports.store import Features, KeyedEntity, Proof, Store, Transaction
from perdure.retain.components import RetainComponents
from perdure.retain.pipeline import retain
from perdure.retain.request import RetainRequest, read_items
from perdure.testing import (
    BANK,
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
from perdure.text.names import keys_of_names
from perdure.text.smoothing import smooth
from tests.support.memory_store import MemoryStore


def features(store: Store, fact_id: str) -> Features:
    with store.reading(BANK) as reading:
        return reading.features([fact_id])[fact_id]


def entity(entity_id: str, name: str, *aliases: str, mentions: int = 2) -> KeyedEntity:
    named = Entity(id=entity_id, bank=BANK, name=name, aliases=aliases, mentions=mentions)
    return KeyedEntity(named, keys_of_names((name, *aliases)))


def entities(store: Store) -> dict[str, KeyedEntity]:
    with store.reading(BANK) as reading:
        return {keyed.entity.id: keyed for keyed in reading.entities()}


def test_a_forgotten_fact_is_found_nowhere(any_store: Store) -> None:
    put(
        any_store,
        new(make_fact("a", entity_ids=("e",)), words="apple", vectors={"fact": unit(1)}, dedupe_key="k"),
        new(make_fact("b", entity_ids=("e",)), words="pear", vectors={"fact": unit(1)}),
        links=[Link("a", "b", LinkKind.CAUSAL, 1.0)],
    )
    assert forget(any_store, BANK, Target(fact_id="a")) == Forgotten(
        facts=1, traces=any_store.traces(), pending=any_store.pending_traces()
    )
    for probe in (SemanticProbe(unit(1)), GraphProbe({"b": 1.0, "a": 1.0})):
        assert ids(search(any_store, probe)) == ["b"]
    for gone in (KeywordProbe({"apple": 1.0}), FuzzyProbe(("apple",))):
        assert search(any_store, gone) == []
    assert forget(any_store, BANK, Target(fact_id="a")) == Forgotten(
        facts=0, existed=False, traces=any_store.traces(), pending=any_store.pending_traces()
    )


def test_its_wording_leaves_the_chunk_the_document_and_its_siblings(any_store: Store) -> None:
    put(
        any_store,
        make_fact("a", "Ann has a cat", document_id="d", chunk_id="c", source_text="I have\na cat."),
        new(
            make_fact("b", "It rains", document_id="d", chunk_id="c", source_text="I have a cat. It rains."),
            passage="Bo: It rains",
            passage_in_context="Ann has a cat | It rains",
        ),
        documents=[Document(id="d", bank=BANK, title="On: I have a cat.")],
        chunks=[make_chunk("c", "d", "Ann: i HAVE  a cat. It rains.")],
    )
    assert forget(any_store, BANK, Target(fact_id="a")).facts == 1
    assert facts(any_store, "b")[0].source_text == f"{FORGOTTEN} It rains."
    with any_store.reading(BANK) as reading:
        assert reading.chunks(ids=["c"])[0].text == f"Ann: {FORGOTTEN} It rains."
        assert reading.passages(["b"])["b"].in_context == f"{FORGOTTEN} | It rains"
        assert reading.documents()[0].title == f"On: {FORGOTTEN}"


def test_a_chunk_is_emptied_when_the_wording_cannot_be_found_in_it(any_store: Store) -> None:
    put(
        any_store,
        make_fact("a", "Ann owns a pet", document_id="d", chunk_id="c"),
        chunks=[make_chunk("c", "d", "there is this cat of mine")],
        proofs=[Proof("a", "e", "x", NOW)],
    )
    put(any_store, chunks=[make_chunk("x", "e", "Yes, Ann owns a pet.")])
    forget(any_store, BANK, Target(fact_id="a"))
    with any_store.reading(BANK) as reading:
        assert [chunk.text for chunk in reading.chunks(ids=["c", "x"])] == [FORGOTTEN, f"Yes, {FORGOTTEN}."]


def test_the_words_of_an_erased_fact_find_no_other(any_store: Store) -> None:
    near: dict[str, Any] = {
        "terms": {"house": 1.0, "secret": 0.5, "anna": 1.0},
        "words": "house secret anna",
        "passage_in_context": "Anna: the house. It is secret.",
    }
    put(
        any_store,
        new(make_fact("a", "It is secret.", document_id="d"), words="secret"),
        new(make_fact("b", "Anna has a house.", document_id="d"), **near),
        new(make_fact("c", "A secret garden.", document_id="d"), words="secret garden"),
        documents=[Document(id="d", bank=BANK)],
    )
    asked = (KeywordProbe({"secret": 1.0}), FuzzyProbe(("secret",)))
    assert [set(ids(search(any_store, probe))) for probe in asked] == [{"a", "b", "c"}] * 2
    forget(any_store, BANK, Target(fact_id="a"))
    assert [ids(search(any_store, probe)) for probe in asked] == [["c"], ["c"]]
    left = features(any_store, "b")
    assert (left.terms, left.words) == ({"house": 1.0, "anna": 1.0}, ("house", "anna"))
    assert left.passage_in_context == f"Anna: the house. {FORGOTTEN}"
    assert ids(search(any_store, KeywordProbe({"house": 1.0}))) == ["b"]


def test_vectors_made_of_a_title_that_quoted_it_go(any_store: Store) -> None:
    titled: dict[str, Any] = {"vectors": {"fact": unit(1), "context": unit(1, 1)}}
    put(
        any_store,
        new(make_fact("a", "I have a cat", document_id="d"), vectors={"fact": unit(0, 1)}),
        new(make_fact("b", "It rains", document_id="d"), passage="I have a cat. It rains", **titled),
        new(make_fact("c", "I have a cat and it snows", document_id="d"), **titled),
        documents=[Document(id="d", bank=BANK, title="I have a cat")],
    )
    assert forget(any_store, BANK, Target(fact_id="a")).unembedded == ("b",)
    embedded = features(any_store, "b")
    assert (embedded.vectors, embedded.passage) == ({}, f"{FORGOTTEN}. It rains")
    assert len(search(any_store, SemanticProbe(unit(1)))) == 1


def test_what_was_synthesised_from_it_goes_too(any_store: Store) -> None:
    put(
        any_store,
        make_fact("a"),
        make_fact("b"),
        make_fact("o", type=FactType.OBSERVATION, source_fact_ids=("a", "b")),
        make_fact("p", type=FactType.OBSERVATION, source_fact_ids=("o",)),
        make_fact("q", type=FactType.OBSERVATION, source_fact_ids=("b",)),
    )
    assert forget(any_store, BANK, Target(fact_id="a")).facts == 3
    assert [fact.id for fact in facts(any_store, *"aopbq")] == ["b", "q"]


def test_what_it_ended_opens_again(any_store: Store) -> None:
    first = make_fact("first")
    put(
        any_store,
        replace(first, valid_to=day(5), end_recorded_at=day(6), superseded_by="second"),
        make_fact("second", valid_to=day(7), end_recorded_at=day(8), superseded_by="third"),
        make_fact("third"),
    )
    forget(any_store, BANK, Target(fact_id="second"))
    (ended,) = facts(any_store, "first")
    assert (ended.valid_to, ended.end_recorded_at, ended.superseded_by) == (day(7), day(8), "third")
    forget(any_store, BANK, Target(fact_id="third"))
    assert facts(any_store, "first") == [first]


def test_what_it_corrected_is_believed_again(any_store: Store) -> None:
    wrong = make_fact("wrong")
    put(any_store, replace(wrong, retired_at=NOW, superseded_by="right"), make_fact("right"))
    forget(any_store, BANK, Target(fact_id="right"))
    assert facts(any_store, "wrong") == [wrong]


def test_entities_go_with_their_last_fact(any_store: Store) -> None:
    put(
        any_store,
        make_fact("a", entities=("e1", "e2"), entity_ids=("e1", "e2")),
        make_fact("b", entities=("e2",), entity_ids=("e2",)),
        entities=[entity(name, name) for name in ("e1", "e2", "e3")],
    )
    forget(any_store, BANK, Target(fact_id="a"))
    assert {name: keyed.entity.mentions for name, keyed in entities(any_store).items()} == {"e2": 1, "e3": 2}
    with any_store.reading(BANK) as reading:
        assert reading.entities(keys=["e1"]) == []


def test_a_name_that_only_erased_facts_held_goes(any_store: Store) -> None:
    put(
        any_store,
        make_fact("a", "Ann Lee lives in Oslo.", entities=("Ann Lee",), entity_ids=("e",), subject="Ann Lee"),
        make_fact("b", "Ann sings.", entities=("Ann Lee",), entity_ids=("e",), subject="Ann Lee"),
        make_fact("c", "Annie paints.", entities=("Ann",), entity_ids=("e",), object="ann lee"),
        entities=[entity("e", "Ann Lee", "Ann", "Annie", "Ann's mother", mentions=3)],
    )
    forget(any_store, BANK, Target(fact_id="a"))
    left = entities(any_store)["e"]
    assert (left.entity.name, left.entity.aliases) == ("Ann", ("Annie", "Ann's mother"))
    assert "lee" not in " ".join(left.keys)
    forget(any_store, BANK, Target(fact_id="b"))
    (fact,) = facts(any_store, "c")
    assert "lee" not in f"{fact.entities} {fact.subject} {fact.object}".casefold()
    assert entities(any_store)["e"].entity.name == "Annie"


def test_names_that_the_caller_gave_stay_with_the_facts_they_were_given_for(any_store: Store) -> None:
    put(
        any_store,
        make_fact("a", "Picture one.", entities=("Maya Chen",), entity_ids=("e",)),
        make_fact("b", "Picture two.", entities=("Maya Chen",), entity_ids=("e",)),
        entities=[entity("e", "Maya Chen")],
    )
    forget(any_store, BANK, Target(fact_id="a"))
    assert entities(any_store)["e"].entity.name == "Maya Chen"


def test_a_document_goes_with_chunks_and_facts(any_store: Store) -> None:
    put(
        any_store,
        make_fact("a", document_id="d1", chunk_id="c1"),
        make_fact("b", document_id="d1", chunk_id="c1", source_text="from d1", context="d1", proof_count=2),
        make_fact("c", document_id="d2", chunk_id="c2", proof_count=2),
        documents=[Document(id="d1", bank=BANK), Document(id="d2", bank=BANK)],
        chunks=[make_chunk("c1", "d1", "one"), make_chunk("c2", "d2", "two")],
        proofs=[Proof("b", "d2", "c2", NOW), Proof("c", "d1", "c1", NOW)],
    )
    with any_store.transaction(BANK) as tx:
        tx.put_records([Record(kind=UNFINISHED_DOCUMENT, id="d1", bank=BANK)])
    assert forget(any_store, BANK, Target(document_id="d1")).facts == 1
    with any_store.reading(BANK) as reading:
        assert reading.proofs(["a", "b", "c"]) == {}
        assert [document.id for document in reading.documents()] == ["d2"]
        assert reading.chunks(ids=["c1", "c2"]) == [make_chunk("c2", "d2", "two")]
        assert reading.records(UNFINISHED_DOCUMENT) == []
    kept = facts(any_store, "a", "b", "c")
    assert [(fact.id, fact.document_id, fact.chunk_id, fact.proof_count) for fact in kept] == [
        ("b", "d2", "c2", 1),
        ("c", "d2", "c2", 1),
    ]
    assert (kept[0].source_text, kept[0].context) == ("", "")
    assert forget(any_store, BANK, Target(document_id="d2")).facts == 2
    assert browse(any_store).total == 0
    assert forget(any_store, BANK, Target(document_id="d2")) == Forgotten(
        existed=False, traces=any_store.traces(), pending=any_store.pending_traces()
    )


def test_a_fact_that_outlives_its_document_stands_alone(any_store: Store) -> None:
    mixed: dict[str, Any] = {"vectors": {"fact": unit(1), "context": unit(1, 1)}}
    put(
        any_store,
        new(
            make_fact("a", "Ann has a cat.", document_id="d"),
            terms={"cat": 1.0, "storm": 0.5},
            passage_in_context="A storm! Ann has a cat.",
            **mixed,
        ),
        new(make_fact("b", "Bo has a dog.", document_id="d"), passage="Storms. Bo has a dog.", **mixed),
        documents=[Document(id="d", bank=BANK, title="Storms"), Document(id="e", bank=BANK)],
        proofs=[Proof("a", "e", None, NOW), Proof("b", "e", None, NOW)],
    )
    assert forget(any_store, BANK, Target(document_id="d")).unembedded == ("b",)
    alone, titled = features(any_store, "a"), features(any_store, "b")
    assert (alone.terms, alone.passage_in_context) == ({"cat": 1.0}, "")
    np.testing.assert_allclose(alone.vectors["context"], unit(1), atol=1e-3)
    assert (titled.vectors, titled.passage) == ({}, "")


def test_an_entity_is_unlinked_without_its_facts(any_store: Store) -> None:
    put(
        any_store,
        make_fact("a", entities=("E", "F"), entity_ids=("e1", "e2")),
        make_fact("b", entity_ids=("e1",)),
        entities=[entity("e1", "E")],
    )
    assert ids(search(any_store, GraphProbe({}, {"e1": 1.0}))) == ["a", "b"]
    assert forget(any_store, BANK, Target(entity_id="e1", unlink=True)) == Forgotten(
        facts=0, traces=any_store.traces(), pending=any_store.pending_traces()
    )
    assert entities(any_store) == {}
    assert facts(any_store, "a")[0].entities == ("F",)
    assert search(any_store, GraphProbe({}, {"e1": 1.0})) == []
    assert not forget(any_store, BANK, Target(entity_id="e1", unlink=True)).existed


def test_with_an_entity_goes_what_mentions_it(any_store: Store) -> None:
    put(
        any_store,
        make_fact("member", "She plays the cello.", document_id="d", chunk_id="c", entity_ids=("e",)),
        make_fact("named", "I called Mona Ley's mother.", document_id="d", chunk_id="c"),
        make_fact("other", "Pamona is a brand.", document_id="d", chunk_id="c", context="a talk with Mona"),
        documents=[Document(id="d", bank=BANK, title="On Mona", tags=frozenset({"mona", "talk"}))],
        chunks=[
            make_chunk(
                "c", "d", "She plays the cello. I called Mona Ley's mother. Mona left! Pamona is a brand."
            )
        ],
        entities=[entity("e", "Mona Ley", "Mona")],
    )
    forgotten = forget(any_store, BANK, Target(entity_id="e"))
    assert (forgotten.facts, forgotten.mentions_left) == (2, 0)
    (other,) = facts(any_store, "member", "named", "other")
    assert (other.id, other.text, other.context) == ("other", "Pamona is a brand.", FORGOTTEN)
    with any_store.reading(BANK) as reading:
        (document,), (chunk,) = reading.documents(), reading.chunks(ids=["c"])
    assert (document.title, document.tags) == (f"On {REMOVED}", {"talk"})
    assert chunk.text == f"{FORGOTTEN} Pamona is a brand."
    assert entities(any_store) == {}


def test_a_statement_that_is_kept_loses_the_name_in_text_and_source(any_store: Store) -> None:
    put(
        any_store,
        new(
            make_fact("a", "Mona and I sold the house.", document_id="d", chunk_id="c", entity_ids=("e",)),
            words="mona sold house",
            vectors={"fact": unit(1)},
            dedupe_key="k",
        ),
        documents=[Document(id="d", bank=BANK)],
        chunks=[make_chunk("c", "d", "Mona and I sold the house. Mona cried.")],
        entities=[entity("e", "Mona")],
    )
    forgotten = forget(any_store, BANK, Target(entity_id="e", keep=("a",)))
    assert (forgotten.facts, forgotten.kept, forgotten.mentions_left) == (0, 1, 0)
    assert forgotten.unembedded == ("a",)
    (kept,) = facts(any_store, "a")
    assert (kept.text, kept.entity_ids) == (f"{REMOVED} and I sold the house.", ())
    with any_store.reading(BANK) as reading:
        assert reading.chunks(ids=["c"])[0].text == f"{REMOVED} and I sold the house. {FORGOTTEN}"
        assert not reading.facts_by_dedupe_key(["k"])
    left = features(any_store, "a")
    assert (left.vectors, set(left.terms), left.words) == ({}, {"sold", "house"}, ("sold", "house"))


def test_what_is_about_a_namesake_alone_stays_where_that_one_is_kept(any_store: Store) -> None:
    put(
        any_store,
        make_fact("ley", "Mona sings.", entity_ids=("ley",)),
        make_fact("fox", "Mona dances.", entity_ids=("fox",)),
        make_fact("none", "Mona sleeps."),
        entities=[entity("ley", "Mona Ley", "Mona"), entity("fox", "Mona Fox", "Mona")],
    )
    assert forget(any_store, BANK, Target(entity_id="ley", keep=("fox",))).facts == 2
    assert [fact.text for fact in facts(any_store, "ley", "fox", "none")] == ["Mona dances."]
    assert entities(any_store)["fox"].entity.aliases == ("Mona",)


def test_all_wordings_of_a_fact_go(any_store: Store) -> None:
    components = RetainComponents(store=any_store, extractor=VerbatimExtractor(), clock=lambda: NOW)
    request = RetainRequest(bank=BANK, items=read_items("The code is 4711.", {}))
    (first,) = retain(components, request).fact_ids
    second = update_fact(components, BANK, first, {"text": "The code is 4712."})
    third = update_fact(components, BANK, second.id, {"text": "The code is 4713."})
    invalidate_fact(components, BANK, third.id)
    for wording in (second.id, first):
        with suppress(RuntimeError), any_store.transaction(BANK) as tx:
            assert erase_target(any_store, tx, BANK, Target(fact_id=wording)).facts == 3
            raise RuntimeError("roll back")
    assert forget(any_store, BANK, Target(fact_id=third.id)).facts == 3
    assert browse(any_store).total == 0
    with any_store.reading(BANK) as reading:
        assert not reading.records(RESTATED_AS)


def test_what_only_shares_words_with_a_forgotten_fact_is_named_and_goes_on_request(any_store: Store) -> None:
    def store_again() -> None:
        put(
            any_store,
            make_fact("a", "Zed has gout.", document_id="d"),
            new(
                make_fact("b", "It rains.", document_id="d", context="visit for gout"),
                passage="Zed gout. It rains.",
            ),
            documents=[
                Document(
                    id="d", bank=BANK, title="Zed gout", context="visit for gout", tags=frozenset({"gout"})
                )
            ],
        )

    store_again()
    forget(any_store, BANK, Target(fact_id="a"))
    assert facts(any_store, "b")[0].context == "visit for gout"
    forget(any_store, BANK, Target(document_id="d"))
    store_again()
    assert forget(any_store, BANK, Target(fact_id="a", around=True)).unembedded == ("b",)
    with any_store.reading(BANK) as reading:
        (document,) = reading.documents()
        passage = reading.passages(["b"])["b"].own
    assert (document.title, document.context, document.tags) == ("", "", frozenset())
    assert "gout" not in facts(any_store, "b")[0].context + passage


def test_a_bank_goes_whole(any_store: Store) -> None:
    put(any_store, new(make_fact("a"), vectors={"fact": unit(1)}), documents=[Document(id="d", bank=BANK)])
    for bank in (BANK, "other"):
        with any_store.transaction(bank) as tx:
            tx.put_records([Record(kind="k", id="1", bank=bank)])
    assert forget(any_store, BANK, Target(everything=True)).facts == 1
    assert [bank.id for bank in any_store.banks()] == ["other"]
    assert any_store.banks_with_records("k") == ["other"]
    assert not forget(any_store, BANK, Target(everything=True)).existed


def test_what_others_keep_is_scrubbed_in_the_same_transaction(any_store: Store) -> None:
    put(any_store, make_fact("a", document_id="d"), make_fact("b"), documents=[Document(id="d", bank=BANK)])
    seen: list[frozenset[str]] = []

    def also(tx: Transaction, documents: frozenset[str]) -> bool:
        seen.append(documents)
        tx.put_records([Record(kind="scrubbed", id=str(len(seen)), bank=BANK)])
        return "elsewhere" in documents

    forget(any_store, BANK, Target(document_id="d"), also=also)
    forget(any_store, BANK, Target(fact_id="b"), also=also)
    forget(any_store, BANK, Target(fact_id="b"), also=also)
    assert seen == [frozenset({"d"}), frozenset()]
    assert forget(any_store, BANK, Target(document_id="elsewhere"), also=also).existed
    assert not forget(any_store, BANK, Target(document_id="nowhere"), also=also).existed

    def failing(tx: Transaction, documents: frozenset[str]) -> bool:
        raise InvalidInput("records", "what can be scrubbed")

    put(any_store, make_fact("c"))
    with pytest.raises(InvalidInput, match="records"):
        forget(any_store, BANK, Target(fact_id="c"), also=failing)
    assert [fact.id for fact in facts(any_store, "c")] == ["c"]


@pytest.mark.parametrize(
    "parts", [{}, {"fact_id": "a", "everything": True}, {"fact_id": "a", "entity_id": "e"}]
)
def test_exactly_one_thing_is_named(parts: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="forget"):
        Target(**parts)


class Talk:
    """A document that is retained with the pipeline, a turn per fact."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.moment = datetime(2024, 5, 1, tzinfo=UTC)
        self.embedder = HashingEmbedder()
        self.components = RetainComponents(
            store=store, extractor=VerbatimExtractor(), clock=self.tick, embedder=self.embedder
        )

    def tick(self) -> datetime:
        self.moment += timedelta(minutes=1)
        return self.moment

    def say(self, *turns: str, mode: str = "append", document_id: str = "talk") -> list[Fact]:
        items = read_items([{"content": turn, "document_id": document_id} for turn in turns], {})
        request = RetainRequest(bank=BANK, items=items, mode=UpdateMode(mode))
        return facts(self.store, *retain(self.components, request).fact_ids)

    def forget(self, fact: Fact) -> None:
        forget(self.store, BANK, Target(fact_id=fact.id))

    def rebuilt(self, gone: Features) -> float:
        """How near the best mix of all vectors that are left comes to that of an erased fact: the cosine."""
        with self.store.reading(BANK) as reading:
            left = [fact.id for fact in browse(self.store).facts]
            vectors = [v for own in reading.features(left).values() for v in own.vectors.values()]
        _, sizes, directions = np.linalg.svd(np.stack(vectors).astype(np.float64), full_matrices=False)
        # What is left below this is how stores round, not what was mixed in.
        return float(np.linalg.norm(directions[sizes > 0.01] @ gone.vectors["fact"]))


TURNS = [
    "The ferry leaves at noon.",
    "Anna mended the blue bicycle.",
    "My passport number is X4471.",
    "Rain is forecast for Sunday.",
    "We bought seven lemons.",
    "Tom plays the cello badly.",
]


def assert_smooth(talk: Talk, left: list[Fact]) -> None:
    own = [features(talk.store, fact.id).vectors for fact in left]
    expected = smooth(np.stack([views["fact"] for views in own]), [len(fact.text) for fact in left])
    np.testing.assert_allclose(np.stack([views["context"] for views in own]), expected, atol=2e-3)


def test_the_erased_embedding_cannot_be_rebuilt_from_neighbours(any_store: Store) -> None:
    talk = Talk(any_store)
    turns = [*TURNS, "The kettle is on."]
    said = talk.say(*turns)
    gone = features(any_store, said[2].id)
    far = features(any_store, said[6].id).vectors["context"]
    apart = Talk(MemoryStore())
    never_said = apart.say(*turns[:2], *turns[3:])
    assert talk.rebuilt(gone) > 0.99
    talk.forget(said[2])
    assert talk.rebuilt(gone) == pytest.approx(apart.rebuilt(gone), abs=0.02)
    assert talk.rebuilt(gone) < 0.9
    assert_smooth(talk, [*said[:2], *said[3:]])
    assert len(never_said) == 6
    np.testing.assert_allclose(features(any_store, said[6].id).vectors["context"], far, atol=1e-6)
