"""What every call obeys, from the settings down to the wire: caller, adapter, ledger in a file, and a server on loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from perdure import Bank, LlmCall, Settings
from perdure.adapters import make_caller
from perdure.domain.llm_call import LlmOperation
from perdure.errors import (
    DeadlineExceeded,
    LlmBusy,
    LlmCapReached,
    LlmCut,
    LlmInvalid,
    LlmRefused,
    PerdureError,
)
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.ledger import read_costs
from perdure.ports.llm import ChatMessage, TokenUsage
from perdure.stores.sqlite.store import SqliteStore
from tests.support.llm_server import Answer, CutBody, Failure, Hang, LlmServer, RawBody, Script

ASK = [ChatMessage(role="user", text="Which facts are there?")]
PURPOSE = Purpose(bank="ann", operation=LlmOperation.RETAIN, prompt="extract@1")
GOOD = Answer(value={"facts": ["a", "b"]}, usage=(60, 40))


class Facts(BaseModel):
    facts: list[str]


FACTS = expect(Facts, items="facts")


class Wired:
    """A caller made from settings, over a server and a file."""

    def __init__(self, server: LlmServer, path: Path, **settings: Any) -> None:
        self.server = server
        self.store = SqliteStore.open(path)
        with self.store.transaction("ann") as tx:
            tx.put_bank(Bank(id="ann", name="ann"))
        chosen = {
            "llm": "small",
            "llm_url": server.url,
            "tokens": "approximate",
            "llm_timeout": 10.0,
            **settings,
        }
        caller = make_caller(Settings(**chosen), store=self.store)
        assert caller is not None
        self.caller: Caller = caller

    def structured(self, text: str = "Which facts?", **purpose: Any) -> Any:
        asked = [ChatMessage(role="user", text=text)]
        chosen = {"bank": "ann", "operation": LlmOperation.RETAIN, **purpose}
        return self.caller.structured(Purpose(**chosen), asked, FACTS)

    def logged(self) -> list[Any]:
        with self.store.reading("ann") as reading:
            return [LlmCall.from_record(record) for record in reading.records("llm_call")]

    def close(self) -> None:
        self.caller.close()
        self.store.close()


Wiring = Callable[..., Wired]


@pytest.fixture
def wired(tmp_path: Path) -> Iterator[Wiring]:
    closing: list[Any] = []

    def start(script: Script | LlmServer, **settings: Any) -> Wired:
        server = script if isinstance(script, LlmServer) else LlmServer(script)
        one = Wired(server, tmp_path / "memory.db", **settings)
        closing.extend((one, server))
        return one

    yield start
    for one in closing:
        one.close()


def test_an_answer_is_read_and_its_cost_is_in_the_file(wired: Wiring) -> None:
    calls = wired([GOOD])
    reply = calls.structured()
    assert (reply.value.facts, reply.usage, reply.model) == (["a", "b"], TokenUsage(60, 40), "http:small")
    [call] = calls.logged()
    assert (call.input_tokens, call.output_tokens, call.price, call.request) == (60, 40, None, None)
    [row] = read_costs(calls.store)
    assert (row.calls, row.tokens, row.model, row.operation) == (1, 100, "http:small", "retain")


def test_invalid_json_is_repaired_once_over_the_wire(wired: Wiring) -> None:
    calls = wired([Answer(text="Facts: none that I know."), GOOD])
    assert calls.structured("words " * 300).value.facts == ["a", "b"]
    first, second = calls.server.requests
    assert "Facts: none that I know." in second.texts[0]
    assert len(second.texts[0]) < len(first.texts[0])


def test_json_that_stays_invalid_is_not_asked_for_a_third_time(wired: Wiring) -> None:
    calls = wired(lambda _: Answer(value={"facts": "none"}))
    for _ in range(3):
        with pytest.raises(LlmInvalid):
            calls.structured()
    assert len(calls.server.requests) == 2


def test_a_cut_answer_keeps_its_complete_items(wired: Wiring) -> None:
    calls = wired([Answer(text='{"facts": ["a", "b', finish="length"), Answer(text='{"fa', finish="length")])
    reply = calls.structured()
    assert (reply.value.facts, reply.cut) == (["a"], True)
    with pytest.raises(LlmCut):
        calls.structured("Others?")


@pytest.mark.parametrize("status", [400, 401, 402])
def test_a_refused_request_is_sent_once(wired: Wiring, status: int) -> None:
    calls = wired(lambda _: Failure(status))
    for _ in range(3):
        with pytest.raises(LlmRefused):
            calls.structured()
    assert len(calls.server.requests) == 1


@pytest.mark.parametrize(
    "fault", [Failure(429, retry_after="0.01"), Failure(500), Failure(503), CutBody(), RawBody("{oops")]
)
def test_what_may_pass_is_tried_again_and_its_tokens_counted(wired: Wiring, fault: Any) -> None:
    calls = wired([fault, GOOD])
    reply = calls.structured()
    failed, done = calls.logged()
    assert (failed.status, done.status) == ("error", "success")
    assert reply.usage == TokenUsage(60 + failed.input_tokens, 40)
    assert failed.input_tokens > 0


def test_a_provider_that_asks_for_more_time_than_there_is_ends_at_the_deadline(wired: Wiring) -> None:
    calls = wired([Failure(429, retry_after="30"), GOOD])
    with pytest.raises(DeadlineExceeded, match="429"):
        calls.structured(deadline=time.monotonic() + 5)
    assert len(calls.server.requests) == 1


def test_a_server_that_hangs_is_tried_again_within_the_time_out(wired: Wiring) -> None:
    calls = wired([Hang(), GOOD], llm_timeout=0.2)
    assert calls.structured().value.facts == ["a", "b"]


def test_a_server_that_hangs_for_good_ends_at_the_deadline(wired: Wiring) -> None:
    calls = wired(lambda _: Hang(), llm_timeout=0.1)
    with pytest.raises((DeadlineExceeded, LlmBusy)):
        calls.structured(deadline=time.monotonic() + 0.3)
    assert all(call.status == "error" for call in calls.logged())
    assert len(calls.logged()) == len(calls.server.requests)


def test_tokens_are_counted_where_the_server_tells_none(wired: Wiring) -> None:
    calls = wired([Answer(value={"facts": ["a"]}, usage=None)])
    usage = calls.structured().usage
    assert usage.input > 5
    assert usage.output > 2


def test_operations_have_models_of_their_own_and_fallbacks(wired: Wiring) -> None:
    def answer(asked: Any) -> Any:
        return Failure(401) if asked.body["model"] == "broken" else GOOD

    calls = wired(
        answer,
        llm_retain="quick",
        llm_reflect="none",
        llm_consolidation="broken",
        llm_fallbacks="spare, last",
    )
    assert calls.structured().model == "http:quick"
    assert calls.structured(operation=LlmOperation.CONSOLIDATE).model == "http:spare"
    assert not calls.caller.serves(LlmOperation.REFLECT)
    assert calls.caller.models(LlmOperation.REFINE) == ["http:quick", "http:spare", "http:last"]


def test_texts_are_kept_when_asked_for_and_keys_never(wired: Wiring) -> None:
    calls = wired(
        [GOOD, Failure(401, "wrong key hush-hush-hush")], llm_log_texts=True, llm_key="hush-hush-hush"
    )
    calls.structured()
    with pytest.raises(LlmRefused):
        calls.structured("Again?")
    done, refused = calls.logged()
    assert json.loads(done.request)[0]["text"] == "Which facts?"
    assert json.loads(done.response) == {"facts": ["a", "b"]}
    assert "[key]" in refused.error
    assert "hush" not in repr(calls.logged())


def test_a_limit_a_minute_is_not_waited_for_beyond_the_deadline(wired: Wiring) -> None:
    calls = wired(lambda _: GOOD, llm_tokens_a_minute=6_000)
    calls.structured()
    with pytest.raises(DeadlineExceeded, match="minute"):
        for number in range(100):
            calls.structured(f"Question {number}?", deadline=time.monotonic() + 5)
    assert len(calls.server.requests) < 60


@pytest.mark.parametrize("caps", [{"llm_calls_a_day": 5}, {"llm_tokens_a_day": 450}], ids=["calls", "tokens"])
def test_threads_of_several_processes_never_pass_a_cap_by_more_than_one_call(
    wired: Wiring, caps: dict[str, Any]
) -> None:
    server = LlmServer(lambda _: GOOD)
    callers = [wired(server, **caps) for _ in range(3)]
    begin = threading.Barrier(6)

    def spend(number: int) -> int:
        begin.wait()
        done = 0
        for turn in range(5):
            try:
                callers[number % 3].structured(f"{number} {turn}?")
                done += 1
            except LlmCapReached:
                continue
        return done

    with ThreadPoolExecutor(6) as pool:
        answered = sum(pool.map(spend, range(6)))
    [row] = read_costs(callers[0].store)
    assert row.calls == answered == len(server.requests) <= 5
    assert row.tokens <= 450 + 100


def test_random_faults_lose_no_token_and_no_answer(wired: Wiring) -> None:
    faults = [
        Failure(503),
        Failure(429, retry_after="0"),
        CutBody(),
        RawBody(""),
        Answer(text="?"),
        GOOD,
        GOOD,
    ]
    calls = wired(lambda asked: faults[sum(map(ord, asked.texts[0])) * 7 % 11 % len(faults)])
    outcomes = []
    for number in range(12):
        try:
            outcomes.append(calls.structured(f"Question {number * 37}?").value.facts)
        except PerdureError as error:
            outcomes.append(error.code)
    assert (
        len(calls.logged()) == len(calls.server.requests) == sum(row.calls for row in read_costs(calls.store))
    )
    assert ["a", "b"] in outcomes
