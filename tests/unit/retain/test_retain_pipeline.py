"""The retain pipeline on the reference store, without models."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perdure.domain.filter import Filter
from perdure.domain.item import RetainResult
from perdure.errors import InvalidInput, ModelError
from perdure.extract.local import LocalExtractor
from perdure.extract.verbatim import VerbatimExtractor
from perdure.models.hashing import HashingEmbedder
from perdure.models.rule_tagger import RuleTagger
from perdure.ports.embedder import Matrix
from perdure.ports.store import Selection
from perdure.retain.parts import RetainComponents
from perdure.retain.pipeline import retain
from perdure.retain.request import RetainRequest, read_items, read_mode
from perdure.testing.memory_store import MemoryStore

START = datetime(2024, 5, 1, 12, tzinfo=UTC)


class Bench:
    """A store with a clock that moves a minute a call."""

    def __init__(self, extractor: Any = None, embedder: Any = None) -> None:
        self.store = MemoryStore()
        self.moment = START
        self.parts = RetainComponents(
            store=self.store,
            extractor=extractor or VerbatimExtractor(),
            clock=self.tick,
            embedder=embedder or HashingEmbedder(),
        )

    def tick(self) -> datetime:
        self.moment += timedelta(minutes=1)
        return self.moment

    def retain(self, content: Any, mode: str = "replace", **fields: Any) -> RetainResult:
        request = RetainRequest(bank="b", items=read_items(content, fields), mode=read_mode(mode))
        return retain(self.parts, request)

    def facts(self, **conditions: Any) -> list[Any]:
        wanted = Filter(now=self.moment, **conditions)
        return list(self.store.browse("b", Selection(wanted=wanted, limit=1000, oldest_first=True)).facts)

    def texts(self) -> list[str]:
        return [fact.text for fact in self.facts()]


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
    chunks = {chunk.id for chunk in bench.store.chunks("b", document_id="talk")}
    changed = [*TURNS]
    changed[3] = {**changed[3], "content": "Turn number three was rewritten."}
    result = bench.retain(with_times(changed))
    assert len(result.fact_ids) == 1
    assert len(result.retired) == 1
    assert result.unchanged == 79
    after = {chunk.id for chunk in bench.store.chunks("b", document_id="talk")}
    assert len(after - chunks) <= 2
    assert len(after & chunks) >= len(chunks) - 2


def test_what_a_replaced_document_no_longer_says_is_retired_not_lost() -> None:
    bench = Bench()
    bench.retain("The office is in Porto.", document_id="d")
    known = bench.moment
    bench.retain("The office is in Madrid.", document_id="d")
    assert bench.texts() == ["The office is in Madrid."]
    from perdure.domain.time import AsOf

    [old] = bench.facts(as_of=AsOf(known=known))
    assert old.text == "The office is in Porto."


def test_append_adds_and_keeps() -> None:
    bench = Bench()
    bench.retain("First part.", document_id="d")
    result = bench.retain("Second part.", mode="append", document_id="d")
    assert len(result.fact_ids) == 1
    assert bench.texts() == ["First part.", "Second part."]
    assert [chunk.ordinal for chunk in bench.store.chunks("b", document_id="d")] == [0, 1]


def test_an_appended_turn_joins_the_context_of_the_one_before() -> None:
    bench = Bench()
    first = bench.retain("Where did you grow up?", document_id="d", speaker="Ann")
    [before] = bench.store.features("b", first.fact_ids).values()
    bench.retain("In Lisbon, near the river.", mode="append", document_id="d", speaker="Bea")
    [after] = bench.store.features("b", first.fact_ids).values()
    assert (before.vectors["context"] != after.vectors["context"]).any()
    assert (before.vectors["fact"] == after.vectors["fact"]).all()


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


def test_a_new_value_closes_the_old_one_on_both_axes() -> None:
    bench = Bench(LocalExtractor(RuleTagger()))
    bench.retain("I live in Berlin.", speaker="Ann", timestamp="2023-01-10T00:00:00Z", document_id="a")
    result = bench.retain(
        "I live in Lisbon.", speaker="Ann", timestamp="2024-02-20T00:00:00Z", document_id="b"
    )
    assert len(result.superseded) == 1
    [current] = [fact for fact in bench.facts() if fact.relation == "lives_in"]
    assert current.object == "Lisbon"
    [old] = bench.store.facts("b", [result.superseded[0].fact_id])
    assert old.valid_to == datetime(2024, 2, 20, tzinfo=UTC)
    assert old.retired_at is not None
    assert old.superseded_by == current.id


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
    assert [chunk.text for chunk in bench.store.chunks("b", document_id="d")] == ["Do not lose me."]
    embedder.broken = False
    bench.retain("Do not lose me.", document_id="d")
    assert bench.texts() == ["Do not lose me."]
    assert bench.store.records("unfinished_document", bank="b") == []


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("", "content"),
        ("   \n", "content"),
        ("a\x00b", "content"),
        ("\ud800", "content"),
        ([], "content"),
        ({"text": "no content"}, "content"),
        ([{"role": "user", "content": "x"}, {"role": "assistant", "content": None}], "content[1]"),
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
