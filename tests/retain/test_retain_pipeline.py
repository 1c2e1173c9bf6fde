"""The retain pipeline on the reference store, without models."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perdure.domain.fact import Chunk, Fact, FactType
from perdure.domain.filter import Filter
from perdure.domain.item import RetainResult, UpdateMode
from perdure.domain.record import Record
from perdure.domain.time import AsOf
from perdure.errors import Conflict, InvalidInput, ModelError
from perdure.extract.local import LocalExtractor
from perdure.extract.verbatim import VerbatimExtractor
from perdure.models.hashing import HashingEmbedder
from perdure.models.rule_tagger import RuleTagger
from perdure.ports.embedder import Matrix
from perdure.ports.store import Features, Order, Selection, Traces, Transaction
from perdure.retain.commit import CommitReceipt
from perdure.retain.components import RetainComponents
from perdure.retain.pipeline import retain
from perdure.retain.request import RetainRequest, read_items
from perdure.text.smoothing import SHARES
from tests.support.memory_store import MemoryStore

START = datetime(2024, 5, 1, 12, tzinfo=UTC)


class Bench:
    """A store with a clock that moves a minute a call."""

    def __init__(self, extractor: Any = None, embedder: Any = None) -> None:
        self.store = MemoryStore()
        self.moment = START
        self.components = RetainComponents(
            store=self.store,
            extractor=extractor or VerbatimExtractor(),
            clock=self.tick,
            embedder=embedder or HashingEmbedder(),
        )

    def tick(self) -> datetime:
        self.moment += timedelta(minutes=1)
        return self.moment

    def retain(self, content: Any, mode: str = "replace", **fields: Any) -> RetainResult:
        request = RetainRequest(bank="b", items=read_items(content, fields), mode=UpdateMode(mode))
        return retain(self.components, request)

    def facts(self, **conditions: Any) -> list[Fact]:
        where = Filter(**conditions).at(self.moment)
        with self.store.reading("b") as reading:
            selection = Selection(where=where, limit=1000, order=Order.OLDEST_RECORDED)
            return list(reading.browse(selection).facts)

    def texts(self) -> list[str]:
        return [fact.text for fact in self.facts()]

    def chunks(self, document_id: str) -> list[Chunk]:
        with self.store.reading("b") as reading:
            return reading.chunks(document_id=document_id)

    def features(self, ids: Sequence[str]) -> list[Features]:
        with self.store.reading("b") as reading:
            return list(reading.features(ids).values())


TURNS = [
    {"content": f"Turn number {n} speaks of subject {n * 7}.", "speaker": "Ann", "document_id": "talk"}
    for n in range(80)
]


def with_times(turns: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**turn, "timestamp": "2024-04-01T10:00:00Z"} for turn in turns]


def test_the_same_document_again_changes_nothing() -> None:
    bench = Bench()
    first = bench.retain(with_times(TURNS))
    before = {fact.id for fact in bench.facts()}
    again = bench.retain(with_times(TURNS))
    assert len(first.fact_ids) == 80
    assert again.fact_ids == ()
    assert again.unchanged == 80
    assert {fact.id for fact in bench.facts()} == before


def test_a_changed_turn_touches_its_own_chunk_only() -> None:
    bench = Bench()
    bench.retain(with_times(TURNS))
    chunks = {chunk.id for chunk in bench.chunks("talk")}
    changed = [*TURNS]
    changed[3] = {**changed[3], "content": "Turn number three was rewritten."}
    result = bench.retain(with_times(changed))
    assert len(result.fact_ids) == 1
    assert len(result.retired) == 1
    assert result.unchanged == 79
    after = {chunk.id for chunk in bench.chunks("talk")}
    assert len(after - chunks) <= 2
    assert len(after & chunks) >= len(chunks) - 2


def test_what_a_replaced_document_no_longer_says_is_retired_not_lost() -> None:
    bench = Bench()
    bench.retain("The office is in Porto.", document_id="d")
    known = bench.moment
    bench.retain("The office is in Madrid.", document_id="d")
    assert bench.texts() == ["The office is in Madrid."]
    [old] = bench.facts(as_of=AsOf(known=known))
    assert old.text == "The office is in Porto."


def test_what_another_document_still_says_moves_there_and_is_not_retired() -> None:
    bench = Bench()
    bench.retain("The office is in Porto.", document_id="d", context="a letter")
    bench.retain("The office is in Porto.", document_id="e")
    result = bench.retain("The office is in Madrid.", document_id="d")
    assert result.retired == ()
    porto, madrid = bench.facts()
    assert (porto.document_id, porto.proof_count, porto.source_text, porto.context) == (
        "e",
        1,
        "The office is in Porto.",
        "",
    )
    assert madrid.document_id == "d"


def test_a_fact_that_is_drawn_again_keeps_its_other_sources() -> None:
    bench = Bench()
    bench.retain(with_times(TURNS))
    bench.retain([{**turn, "document_id": "copy"} for turn in with_times(TURNS[:1])])
    changed = [*TURNS]
    changed[3] = {**changed[3], "content": "Turn number three was rewritten."}
    bench.retain(with_times(changed))
    first = bench.facts()[0]
    assert (first.document_id, first.proof_count) == ("talk", 2)
    with bench.store.reading("b") as reading:
        assert [proof.document_id for proof in reading.proofs([first.id])[first.id]] == ["copy"]


def test_append_adds_and_keeps() -> None:
    bench = Bench()
    bench.retain("First part.", document_id="d")
    result = bench.retain("Second part.", mode="append", document_id="d")
    assert len(result.fact_ids) == 1
    assert bench.texts() == ["First part.", "Second part."]
    assert [chunk.ordinal for chunk in bench.chunks("d")] == [0, 1]


def test_an_appended_turn_joins_the_context_of_the_one_before() -> None:
    bench = Bench()
    first = bench.retain("Where did you grow up?", document_id="d", speaker="Ann")
    [before] = bench.features(first.fact_ids)
    bench.retain("In Lisbon, near the river.", mode="append", document_id="d", speaker="Bea")
    [after] = bench.features(first.fact_ids)
    assert (before.vectors["context"] != after.vectors["context"]).any()
    assert (before.vectors["fact"] == after.vectors["fact"]).all()


def test_facts_further_back_keep_their_context_when_a_turn_is_appended() -> None:
    bench = Bench()
    talk = [{"content": f"Turn {n} of this talk.", "document_id": "d"} for n in range(6)]
    said = bench.retain(with_times(talk))
    before = [own.vectors["context"] for own in bench.features(said.fact_ids)]
    bench.retain("One more turn.", mode="append", document_id="d")
    after = [own.vectors["context"] for own in bench.features(said.fact_ids)]
    changed = [(old != new).any() for old, new in zip(before, after, strict=True)]
    assert changed == [False] * (6 - len(SHARES)) + [True] * len(SHARES)


def test_ids_sort_in_the_order_of_the_facts() -> None:
    bench = Bench()
    first = bench.retain(with_times(TURNS))
    second = bench.retain("A later document.")
    ids = [*first.fact_ids, *second.fact_ids]
    assert ids == sorted(ids)
    assert ids == [fact.id for fact in bench.facts()]


def test_a_caller_can_add_to_the_transaction_or_refuse_it() -> None:
    bench = Bench()
    request = RetainRequest(bank="b", items=read_items("Ann likes tea.", {}))

    def note(tx: Transaction, receipt: CommitReceipt) -> None:
        body = {"facts": len(receipt.inserted)}
        tx.put_records([Record(kind="progress", id="1", bank="b", body=body)])

    def refuse(tx: Transaction, receipt: CommitReceipt) -> None:
        note(tx, receipt)
        raise Conflict("the lease is lost")

    with pytest.raises(Conflict, match="lease"):
        retain(bench.components, request, within=refuse)
    assert bench.store.banks() == []
    retain(bench.components, request, within=note)
    with bench.store.reading("b") as reading:
        assert [record.body for record in reading.records("progress")] == [{"facts": 1}]


def test_the_same_statement_in_two_documents_is_one_fact_with_more_proof() -> None:
    bench = Bench()
    first = bench.retain("Water boils at 100 degrees.", document_id="one")
    second = bench.retain("Water boils at 100 degrees!", document_id="two")
    [fact] = bench.facts()
    assert fact.proof_count == 2
    assert list(second.merged.values()) == list(first.fact_ids)


def test_a_statement_twice_in_one_call_is_one_fact() -> None:
    bench = Bench()
    result = bench.retain(["Tea is ready.", "Tea is ready."], timestamp="2024-04-01")
    assert len(result.fact_ids) == 1
    [fact] = bench.facts()
    assert fact.proof_count == 2


class FailingEmbedder(HashingEmbedder):
    """Fails until it is mended."""

    broken = True

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.broken:
            raise ModelError("the model is gone")
        return super().embed_passages(texts)


def test_a_failing_model_costs_the_facts_and_never_the_text() -> None:
    embedder = FailingEmbedder()
    bench = Bench(embedder=embedder)
    with pytest.raises(ModelError, match="gone"):
        bench.retain("Do not lose me.", document_id="d")
    assert bench.texts() == []
    assert [chunk.text for chunk in bench.chunks("d")] == ["Do not lose me."]
    embedder.broken = False
    bench.retain("Do not lose me.", document_id="d")
    assert bench.texts() == ["Do not lose me."]
    with bench.store.reading("b") as reading:
        assert reading.records("unfinished_document") == []
    assert bench.store.traces() is Traces.CLEARED


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("", "content"),
        ("   \n", "content"),
        ("a\x00b", "content"),
        ("\ud800", "content"),
        ([], "content"),
        ({"text": "no content"}, "content"),
        ([{"role": "assistant", "content": None}], "content"),
        ({"content": "x", "colour": "red"}, "content.colour"),
        ({"content": "x", "trust": 7}, "trust"),
        ({"content": "x", "timestamp": "soon"}, "timestamp"),
        ({"content": "x", "tags": "solo"}, "tags"),
    ],
)
def test_bad_input_names_the_field(content: Any, field: str) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput) as caught:
        bench.retain(content)
    assert caught.value.field == field
    assert bench.store.banks() == []


def test_recalled_memory_is_not_retained_again() -> None:
    bench = Bench()
    bench.retain("Ann likes tea. <recalled_memory>\n[1] Bob likes coffee.\n</recalled_memory> Really.")
    assert all("coffee" not in text for text in bench.texts())


def test_messages_are_one_conversation() -> None:
    bench = Bench()
    result = bench.retain(
        [{"role": "user", "content": "I moved to Oslo."}, {"role": "assistant", "content": "Noted, Oslo."}]
    )
    assert len(result.document_ids) == 1
    speakers = [fact.speaker for fact in bench.facts()]
    assert speakers == ["user", "assistant"]


def test_an_answer_is_found_by_the_words_of_its_question() -> None:
    bench = Bench(extractor=LocalExtractor(RuleTagger()))
    talk = [
        {"role": "assistant", "content": "Are you still allergic to hazelnuts?"},
        {"role": "user", "content": "Yes, unfortunately!"},
    ]
    _, own = bench.features(bench.retain(talk).fact_ids)
    assert {"hazelnuts", "unfortunately"} <= set(own.words)
    assert "hazelnuts" in own.passage_in_context
    assert "Yes, unfortunately!" in own.passage_in_context


def test_a_repeated_statement_adds_proof_and_a_question_proves_nothing() -> None:
    bench = Bench(extractor=LocalExtractor(RuleTagger()))
    for day, text in enumerate(("I live in Porto.", "I live in Porto!", "I live in Porto?"), 1):
        bench.retain([{"role": "user", "content": text, "timestamp": f"2024-04-0{day}"}])
    facts = bench.facts()
    assert [(fact.text, fact.proof_count, fact.is_question) for fact in facts] == [
        ("I live in Porto.", 2, False),
        ("I live in Porto?", 1, True),
    ]


def test_instructions_stay_in_the_document_and_give_no_facts() -> None:
    bench = Bench(extractor=LocalExtractor(RuleTagger()))
    bench.retain(
        [
            {"role": "system", "content": "The user lives in Rome.", "document_id": "d"},
            {"role": "tool", "name": "lookup", "content": "I live in Oslo.", "document_id": "d"},
            {"role": "user", "content": "I live in Porto.", "document_id": "d"},
        ]
    )
    assert bench.texts() == ["I live in Oslo.", "I live in Porto."]
    assert [fact.type for fact in bench.facts()] == [FactType.EXPERIENCE, FactType.WORLD]
    assert "The user lives in Rome." in bench.chunks("d")[0].text
