"""What every call obeys, from the settings down to the wire: caller, adapter, ledger in a file, and a server on loopback."""

from __future__ import annotations

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
)
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.ledger import read_costs
from perdure.ports.llm import ChatMessage, TokenUsage
from perdure.stores.sqlite.store import SqliteStore
from tests.support.llm_server import Answer, Failure, Hang, LlmServer, Script

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


def test_a_server_that_hangs_for_good_ends_at_the_deadline(wired: Wiring) -> None:
    calls = wired(lambda _: Hang(), llm_timeout=0.1)
    with pytest.raises((DeadlineExceeded, LlmBusy)):
        calls.structured(deadline=time.monotonic() + 0.3)
    assert all(call.status == "error" for call in calls.logged())
    assert len(calls.logged()) == len(calls.server.requests)


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
