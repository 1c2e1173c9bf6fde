"""Retain in the background: how items become steps, and what is stored of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from job_samples import START, Clock, idle_runner, take_turn

from perdure.domain.item import Item, RetainResult, UpdateMode
from perdure.domain.operation import OperationStatus
from perdure.domain.record import Record
from perdure.errors import ModelError
from perdure.extract.verbatim import VerbatimExtractor
from perdure.jobs.kind import JobPlan
from perdure.jobs.records import STEP, scrub
from perdure.jobs.retain_job import CHARACTERS_PER_STEP, ITEMS_PER_STEP, RetainJob, encode_item
from perdure.jobs.rota import Turn
from perdure.jobs.runner import JobRunner
from perdure.models.hashing import HashingEmbedder
from perdure.retain.commit import CommitReceipt, Within
from perdure.retain.components import RetainComponents
from perdure.retain.pipeline import retain
from perdure.retain.request import RetainRequest, read_items
from tests.support.memory_store import MemoryStore, MemoryTransaction


class Bench:
    """A store, a clock and a runner that stores what is submitted to it."""

    def __init__(self) -> None:
        self.store, self.clock, self.extractor = MemoryStore(), Clock(), VerbatimExtractor()
        components = RetainComponents(
            store=self.store, extractor=self, clock=self.clock, embedder=HashingEmbedder()
        )
        self.fails_with: Exception | None = None
        self.job = RetainJob(lambda request, within: retain(components, request, within=within))
        self.runner = idle_runner(self.store, self.job, clock=self.clock)

    name = "failing"

    def extract(self, turns: Any) -> Any:
        return self.extract_many([turns])[0]

    def extract_many(self, documents: Any) -> Any:
        if self.fails_with is not None:
            raise self.fails_with
        return self.extractor.extract_many(documents)

    def plan(self, content: Any, mode: str = "replace", **fields: Any) -> JobPlan:
        request = RetainRequest(bank="b", items=read_items(content, fields), mode=UpdateMode(mode))
        return self.job.plan(request, self.clock())

    def submit(self, content: Any, mode: str = "replace", **fields: Any) -> str:
        return self.runner.submit("b", self.plan(content, mode, **fields)).id

    def run(self, runner: JobRunner | None = None) -> None:
        while take_turn(runner or self.runner, "b") is not Turn.IDLE:
            pass

    def text(self, document_id: str) -> str:
        with self.store.reading("b") as reading:
            return "\n".join(chunk.text for chunk in reading.chunks(document_id=document_id))

    def documents(self) -> list[str]:
        with self.store.reading("b") as reading:
            return sorted(document.id for document in reading.documents())


@pytest.fixture
def bench() -> Bench:
    return Bench()


def shape(plan: JobPlan) -> list[tuple[str, list[str]]]:
    """(mode, documents) of each step."""
    bodies: list[Any] = [step.body for step in plan.steps]
    return [(body["mode"], [item["document_id"] for item in body["items"]]) for body in bodies]


def turns(document_id: str, count: int) -> list[dict[str, Any]]:
    return [{"content": f"{document_id} says {n}.", "document_id": document_id} for n in range(count)]


def test_items_are_dated_when_they_are_submitted(bench: Bench) -> None:
    items = [
        {"content": "Ann flies tomorrow.", "document_id": "a"},
        {"content": "Ann flew.", "document_id": "b", "timestamp": "2020-02-02T00:00:00+00:00"},
        {"content": "Water is wet.", "document_id": "c", "timestamp": "unset"},
    ]
    bench.submit(items)
    bench.clock.moment += timedelta(days=9)
    bench.run()
    with bench.store.reading("b") as reading:
        said = {
            document: reading.chunks(document_id=document)[0].spans[0].said_at for document in ("a", "b", "c")
        }
    assert said == {"a": START, "b": datetime(2020, 2, 2, tzinfo=UTC), "c": None}


def test_what_is_stored_is_what_retaining_at_once_stores(bench: Bench) -> None:
    items = [*turns("x", 40), *turns("y", 3), {"content": "Alone."}]
    operation = bench.submit(items)
    bench.run()
    ended = bench.runner.get("b", operation)
    assert (ended.status, ended.result) == (OperationStatus.COMPLETED, {"facts": 44})
    assert bench.text("x") == "\n".join(f"x says {n}." for n in range(40))
    assert len(bench.documents()) == 3
    assert bench.store.banks_with_records(STEP) == []


def test_steps_hold_few_items_and_little_text(bench: Bench) -> None:
    assert [step.count for step in bench.plan(turns("x", 70), "append").steps] == [32, 32, 6]
    long = "word " * (CHARACTERS_PER_STEP // 10)
    assert [step.count for step in bench.plan([long, long, long, long]).steps] == [2, 2]


def test_a_document_that_an_earlier_step_began_is_added_to_and_others_are_replaced(bench: Bench) -> None:
    mixed = [item for pair in zip(turns("x", 40), turns("y", 40), strict=True) for item in pair]
    assert shape(bench.plan(mixed)) == [
        ("replace", ["x"] * ITEMS_PER_STEP),
        ("append", ["x"] * 8),
        ("replace", ["y"] * ITEMS_PER_STEP),
        ("append", ["y"] * 8),
    ]
    bench.submit(turns("y", 5))
    bench.run()
    bench.submit([*turns("x", 33), {"content": "y anew.", "document_id": "y"}])
    bench.run()
    assert bench.text("y") == "y anew."


def test_a_model_that_fails_stores_nothing_and_the_next_attempt_stores_once(bench: Bench) -> None:
    operation = bench.submit(turns("x", 40))
    take_turn(bench.runner, "b")
    bench.fails_with = ModelError("no model today")
    bench.run()
    failed = bench.runner.get("b", operation)
    assert (failed.status, failed.done, failed.error) == (OperationStatus.FAILED, 32, "no model today")
    bench.fails_with = None
    bench.runner.retry("b", operation)
    bench.run()
    assert bench.text("x") == "\n".join(f"x says {n}." for n in range(40))


def test_items_are_kept_with_every_field() -> None:
    full = Item(
        content="Text {with} <fences>.", timestamp=START, speaker="Ann", role="user", title="T", context="C",
        document_id="d", tags=frozenset({"b", "a"}), metadata={"k": "v"}, entities=(("Ann", "person"),),
        topic="t", classification=1, trust=3, credibility=6, relevance=0.5, expires_at=START,
        valid_from=START, valid_to=START, original_text="O",
    )  # fmt: skip
    assert Item(**encode_item(full)) == full
    timeless = Item(content="x", timeless=True)
    assert encode_item(timeless) == {"content": "x", "timeless": True}
    assert Item(**encode_item(timeless)) == timeless


def test_a_step_of_which_all_was_erased_is_passed_over(bench: Bench) -> None:
    operation = bench.submit([*turns("x", 1), *turns("y", 32)])
    with bench.store.transaction("b") as tx:
        scrub(tx, ["x", "y"])
    bench.run()
    ended = bench.runner.get("b", operation)
    assert (ended.status, ended.done, ended.result) == (OperationStatus.COMPLETED, 33, {"facts": 0})
    assert bench.documents() == []


# Size


class CountedStore(MemoryStore):
    """Counts the bytes of records that are put."""

    written = transactions = 0

    @contextmanager
    def transaction(self, bank: str) -> Iterator[MemoryTransaction]:
        self.transactions += 1
        with super().transaction(bank) as tx:
            put = tx.put_records

            def counted(records: Sequence[Record]) -> None:
                self.written += sum(len(json.dumps(record.body)) for record in records)
                put(records)

            tx.put_records = counted  # type: ignore[method-assign]
            yield tx


def bytes_per_step(items: int) -> float:
    """Written for each of five steps of a job, beside what the step itself stores."""
    store = CountedStore()
    job = RetainJob(lambda request, within: retain_nothing(store, request, within))
    listed = (Item(content=f"Item {number} of a long list.", document_id="d") for number in range(items))
    request = RetainRequest(bank="b", items=tuple(listed))
    runner = idle_runner(store, job)
    runner.submit("b", job.plan(request, START))
    assert store.transactions == 1
    store.written = 0
    for _ in range(5):
        take_turn(runner, "b")
    assert store.transactions <= 1 + 5 * 2
    return store.written / 5


def retain_nothing(store: MemoryStore, request: RetainRequest, within: Within) -> RetainResult:
    with store.transaction(request.bank) as tx:
        within(tx, CommitReceipt())
    return RetainResult(bank=request.bank)


def test_a_step_of_a_job_of_100_000_items_writes_no_more_than_one_of_a_small_job() -> None:
    small, large = bytes_per_step(1_000), bytes_per_step(100_000)
    assert small < 500
    assert large < small * 1.1
