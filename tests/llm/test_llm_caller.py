"""What every call to a language model obeys, with a model in the process."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from perdure.domain.bank import Bank
from perdure.domain.llm_call import LlmCall, LlmOperation
from perdure.errors import (
    DeadlineExceeded,
    LlmBusy,
    LlmCapReached,
    LlmCut,
    LlmInvalid,
    LlmRefused,
    Unavailable,
)
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.ledger import Ledger, read_costs
from perdure.llm.limits import CallRules, DayCaps, MinuteLimiter
from perdure.ports.llm import ChatMessage, Finish, LlmReply, LlmRequest, TokenUsage
from tests.support.memory_store import MemoryStore
from tests.support.scripted_llm import ScriptedLlm

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASK = [ChatMessage(role="user", text="Which facts?")]
PURPOSE = Purpose(bank="ann", operation=LlmOperation.RETAIN, prompt="extract@1")


class Item(BaseModel):
    text: str


class Facts(BaseModel):
    facts: list[Item]


FACTS = expect(Facts, items="facts")
GOOD = {"facts": [{"text": "a"}, {"text": "b"}]}


class Calls:
    """A caller over one or more scripted models, with the waits it would have made and its ledger."""

    def __init__(self, *models: Any, store: MemoryStore | None = None, **options: Any) -> None:
        self.models = [one if isinstance(one, ScriptedLlm) else ScriptedLlm(one) for one in models]
        self.waits: list[float] = []
        self.store = store or MemoryStore()
        with self.store.transaction("ann") as tx:
            tx.put_bank(Bank(id="ann", name="ann"))
        rules = options.pop("rules", CallRules())
        ledger = Ledger(self.store, lambda: NOW, caps=rules.caps, **options.pop("ledger", {}))
        self.caller = Caller(
            dict.fromkeys(LlmOperation, self.models),
            rules=rules,
            ledger=ledger,
            sleep=self.waits.append,
            **options,
        )

    def structured(self, purpose: Purpose = PURPOSE, **options: Any) -> Any:
        return self.caller.structured(purpose, ASK, FACTS, **options)

    def logged(self) -> list[LlmCall]:
        with self.store.reading("ann") as reading:
            return [LlmCall.from_record(record) for record in reading.records("llm_call")]

    def sent(self) -> int:
        return sum(len(model.requests) for model in self.models)


def cut(text: str) -> LlmReply:
    return LlmReply(text=text, usage=TokenUsage(10, 20), finish=Finish.LENGTH)


# Structured answers


def test_a_structured_answer_is_read_and_its_tokens_are_told() -> None:
    calls = Calls([LlmReply(text=json.dumps(GOOD), usage=TokenUsage(11, 7), model="m-1")])
    reply = calls.structured()
    assert [item.text for item in reply.value.facts] == ["a", "b"]
    assert (reply.usage, reply.model, reply.cut) == (TokenUsage(11, 7), "m-1", False)
    assert calls.models[0].requests[0].schema == FACTS.schema


def test_an_invalid_answer_is_repaired_once_by_a_shorter_request() -> None:
    long = [ChatMessage(role="user", text="many words " * 500)]
    calls = Calls([{"facts": [{"txt": "a"}]}, GOOD])
    reply = calls.caller.structured(PURPOSE, long, FACTS)
    assert len(reply.value.facts) == 2
    first, second = calls.models[0].requests
    assert '{"txt": "a"}' in second.messages[0].text
    assert "facts.0.text" in second.messages[0].text
    assert "many words" not in second.messages[0].text
    assert reply.usage.total == sum(call.input_tokens + call.output_tokens for call in calls.logged())
    assert [call.prompt.split("@")[0] for call in calls.logged()] == ["extract", "repair"]
    assert first.schema == second.schema


def test_an_answer_that_repair_does_not_mend_is_invalid_and_never_asked_for_again() -> None:
    calls = Calls(["no json", "still none"])
    with pytest.raises(LlmInvalid, match="no JSON"):
        calls.structured()
    with pytest.raises(LlmInvalid, match="sent before"):
        calls.structured()
    assert calls.sent() == 2


def test_complete_items_of_a_cut_answer_are_kept() -> None:
    calls = Calls([cut('{"facts": [{"text": "a"}, {"text": "b"}, {"te')])
    reply = calls.structured()
    assert [item.text for item in reply.value.facts] == ["a", "b"]
    assert reply.cut
    assert calls.sent() == 1


@pytest.mark.parametrize("text", ['{"facts": [{"te', '{"facts": [{"txt": "a"}, {"te'])
def test_a_cut_answer_without_a_complete_item_is_cut_and_not_sent_again(text: str) -> None:
    calls = Calls([cut(text), GOOD])
    for _ in range(2):
        with pytest.raises(LlmCut):
            calls.structured()
    assert calls.sent() == 1


# Failures


def test_what_is_refused_is_never_sent_again_as_it_was() -> None:
    calls = Calls([LlmRefused("bad request", status=400), GOOD, GOOD])
    with pytest.raises(LlmRefused, match="bad request"):
        calls.structured()
    with pytest.raises(LlmRefused, match="sent before") as caught:
        calls.structured()
    assert caught.value.status == 400
    assert calls.sent() == 1
    calls.caller.structured(PURPOSE, [ChatMessage(role="user", text="Another.")], FACTS)
    assert calls.sent() == 2


def test_transient_failures_are_waited_for_and_tried_again() -> None:
    calls = Calls([LlmBusy("busy", status=503), LlmBusy("busy", status=500), GOOD])
    calls.structured()
    first, second = calls.waits
    assert 0.25 <= first <= 0.5 <= second <= 1.0


def test_the_time_that_a_provider_asks_for_is_given_to_it() -> None:
    calls = Calls([LlmBusy("slow down", status=429, retry_after=17.0), GOOD])
    calls.structured()
    assert calls.waits == [17.0]


def test_a_model_that_stays_busy_is_given_up_after_some_tries() -> None:
    calls = Calls(lambda _: LlmBusy("busy"), rules=CallRules(attempts=3))
    with pytest.raises(LlmBusy):
        calls.structured()
    assert (calls.sent(), len(calls.waits)) == (3, 2)


@pytest.mark.parametrize("error", [LlmBusy("busy"), LlmRefused("no", status=401)])
def test_the_next_model_of_the_chain_answers_when_one_fails(error: Exception) -> None:
    first, second = ScriptedLlm(lambda _: error, name="a:1"), ScriptedLlm([GOOD], name="b:2")
    calls = Calls(first, second, rules=CallRules(attempts=2))
    assert calls.structured().model == "b:2"
    assert {call.model for call in calls.logged()} == {"a:1", "b:2"}


def test_an_operation_without_a_model_says_so() -> None:
    with pytest.raises(Unavailable, match="reflect"):
        Caller({}).chat(Purpose(bank="ann", operation=LlmOperation.REFLECT), ASK)


# Windows and deadlines


def test_a_request_that_does_not_fit_the_window_is_cut_before_it_is_sent() -> None:
    calls = Calls(ScriptedLlm([GOOD], window=1_000))
    with pytest.raises(LlmCut, match="no room"):
        calls.caller.structured(PURPOSE, [ChatMessage(role="user", text="words " * 900)], FACTS)
    assert (calls.sent(), calls.logged()) == (0, [])


def test_a_reply_is_limited_to_what_the_window_leaves() -> None:
    calls = Calls(ScriptedLlm([GOOD], window=2_000))
    calls.structured(max_tokens=4_000)
    assert 512 <= calls.models[0].requests[0].max_tokens < 2_000


def test_no_call_begins_after_the_deadline() -> None:
    calls = Calls([GOOD])
    with pytest.raises(DeadlineExceeded):
        calls.structured(Purpose(bank="ann", operation=LlmOperation.RETAIN, deadline=time.monotonic() - 1))
    assert calls.sent() == 0


def test_waits_end_when_the_caller_is_closed() -> None:
    model = ScriptedLlm(lambda _: LlmBusy("busy", retry_after=100.0))
    caller = Caller({LlmOperation.RETAIN: [model]})
    caller.close()
    with pytest.raises(LlmBusy, match="closed"):
        caller.structured(PURPOSE, ASK, FACTS)


# Limits a minute


def test_calls_a_minute_are_waited_for() -> None:
    now = [0.0]
    limiter = MinuteLimiter(2, None, monotonic=lambda: now[0])
    assert [limiter.begin("m", 1)[0] for _ in range(3)] == [0.0, 0.0, 60.0]
    assert limiter.begin("other", 1)[0] == 0.0
    now[0] = 61.0
    assert limiter.begin("m", 1)[0] == 0.0


def test_tokens_a_minute_are_waited_for_and_corrected_by_what_a_call_took() -> None:
    now = [0.0]
    limiter = MinuteLimiter(None, 100, monotonic=lambda: now[0])
    _, place = limiter.begin("m", 90)
    assert limiter.begin("m", 20)[0] == 60.0
    limiter.end(place, 10)
    assert limiter.begin("m", 20)[0] == 0.0
    now[0] = 10.0
    assert limiter.begin("m", 5_000)[0] == 50.0
    now[0] = 60.0
    assert limiter.begin("m", 5_000)[0] == 0.0


# Caps a day and the ledger


def _a_tenth_of_a_cent_a_token(model: str, usage: TokenUsage) -> float:
    return usage.total / 1000


def test_a_cap_holds_over_processes_and_counts_failed_calls() -> None:
    store = MemoryStore()
    rules = CallRules(caps=DayCaps(calls=4), attempts=2)
    one = Calls(lambda _: LlmBusy("busy"), store=store, rules=rules)
    two = Calls([GOOD] * 9, store=store, rules=rules)
    with pytest.raises(LlmBusy):
        one.structured()
    two.structured()
    two.structured()
    with pytest.raises(LlmCapReached):
        two.structured()
    with pytest.raises(LlmCapReached):
        one.structured()
    assert one.sent() + two.sent() == 4


def test_a_call_that_a_killed_process_left_open_stops_counting_in_full() -> None:
    store = MemoryStore()
    rules = CallRules(caps=DayCaps(tokens=500))

    def die(_: LlmRequest) -> LlmReply:
        raise KeyboardInterrupt

    calls = Calls(die, store=store, rules=rules)
    calls.caller._ledger.end = lambda entry, call: None  # type: ignore[union-attr, method-assign, assignment]
    with pytest.raises(KeyboardInterrupt):
        calls.structured(max_tokens=1_000)
    with pytest.raises(LlmCapReached):
        Calls([GOOD], store=store, rules=rules).structured()
    later = Ledger(store, lambda: NOW.replace(hour=13), caps=rules.caps)
    caller = Caller({LlmOperation.RETAIN: [ScriptedLlm([GOOD])]}, rules=rules, ledger=later)
    assert caller.structured(PURPOSE, ASK, FACTS).value.facts


def test_every_call_is_logged_without_texts_failed_ones_too() -> None:
    calls = Calls([LlmBusy("busy", status=503), GOOD], price=_a_tenth_of_a_cent_a_token)
    usage = calls.structured().usage
    failed, done = calls.logged()
    assert (failed.status, failed.error) == ("error", "llm_busy: busy")
    assert (failed.input_tokens > 0, failed.output_tokens, failed.price) == (True, 0, 0.0)
    assert (done.status, done.operation, done.prompt) == ("success", "retain", "extract@1")
    assert done.price == (done.input_tokens + done.output_tokens) / 1000
    assert usage.total == failed.input_tokens + done.input_tokens + done.output_tokens
    assert {call.request for call in calls.logged()} | {call.response for call in calls.logged()} == {None}


def test_tokens_are_counted_by_us_where_the_provider_tells_none() -> None:
    calls = Calls(
        [LlmReply(text="four words are here", usage=TokenUsage())],
        count_tokens=lambda text: len(text.split()),
    )
    reply = calls.caller.chat(PURPOSE, ASK)
    assert reply.usage == TokenUsage(2 + 4, 4)


def test_costs_are_sums_per_day_bank_operation_and_model() -> None:
    calls = Calls([GOOD, LlmBusy("busy"), GOOD], price=_a_tenth_of_a_cent_a_token)
    calls.structured()
    calls.structured()
    [row] = read_costs(calls.store)
    assert (row.bank, row.operation, row.model) == ("ann", "retain", "scripted:model")
    assert (row.calls, row.failed, row.day.isoformat()) == (3, 1, "2026-03-01")
    assert row.tokens == sum(call.input_tokens + call.output_tokens for call in calls.logged())
    assert row.price == pytest.approx(sum(call.price or 0 for call in calls.logged()))
    assert read_costs(calls.store, "bob") == []
    assert read_costs(calls.store, since=NOW.replace(day=2).date()) == []
