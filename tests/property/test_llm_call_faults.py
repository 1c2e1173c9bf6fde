"""Any sequence of faults: every request is in the ledger, none is sent again after it failed for good, no cap is passed by more than one call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from perdure.domain.bank import Bank
from perdure.domain.llm_call import LlmCall, LlmOperation
from perdure.errors import DeadlineExceeded, LlmBusy, LlmCut, LlmError, LlmRefused
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.failures import request_digest
from perdure.llm.ledger import Ledger, read_costs
from perdure.llm.limits import CallRules, DayCaps
from perdure.ports.llm import ChatMessage, Finish, LlmReply, LlmRequest, TokenUsage
from tests.support.memory_store import MemoryStore
from tests.support.scripted_llm import ScriptedLlm, Step

NOW = datetime(2026, 3, 1, tzinfo=UTC)
REPLY = 50
FINAL = {"cut at once", "withheld", "refused", "too long"}
"""Steps after which a request must never be sent again as it was."""


class Facts(BaseModel):
    facts: list[str]


FACTS = expect(Facts, items="facts")
STEPS: dict[str, Step] = {
    "good": LlmReply(text='{"facts": ["a"]}', usage=TokenUsage(90, 10)),
    "uncounted": LlmReply(text='{"facts": ["a"]}', usage=TokenUsage()),
    "invalid": LlmReply(text='{"facts": 3}', usage=TokenUsage(90, 12)),
    "prose": LlmReply(text="No.", usage=TokenUsage(90, 2)),
    "cut": LlmReply(text='{"facts": ["a", "b', usage=TokenUsage(90, 50), finish=Finish.LENGTH),
    "cut at once": LlmReply(text='{"fac', usage=TokenUsage(90, 50), finish=Finish.LENGTH),
    "withheld": LlmReply(text="", usage=TokenUsage(90, 0), finish=Finish.FILTERED),
    "refused": LlmRefused("refused", status=400),
    "busy": LlmBusy("busy", status=503),
    "slow": LlmBusy("slow down", status=429, retry_after=1.0),
    "too long": LlmCut("too long"),
}


@settings(max_examples=200, deadline=None)
@given(
    faults=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=25),
    questions=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    models=st.integers(1, 2),
    cap=st.none() | st.integers(100, 2_000),
)
def test_any_sequence_of_faults_is_accounted_for(
    faults: list[str], questions: list[int], models: int, cap: int | None
) -> None:
    remaining = iter(faults)
    dead: set[bytes] = set()

    def answer_as(name: str) -> Callable[[LlmRequest], Step]:
        def answer(request: LlmRequest) -> Step:
            digest = request_digest(name, request)
            assert digest not in dead, "a request that failed for good is sent again"
            fault = next(remaining, "good")
            if fault in FINAL:
                dead.add(digest)
            return STEPS[fault]

        return answer

    store = MemoryStore()
    with store.transaction("ann") as tx:
        tx.put_bank(Bank(id="ann", name="ann"))
    names = [f"model:{number}" for number in range(models)]
    chain = [ScriptedLlm(answer_as(name), name=name) for name in names]
    ledger = Ledger(store, lambda: NOW, caps=DayCaps(tokens=cap))
    caller = Caller(
        {LlmOperation.RETAIN: chain}, rules=CallRules(attempts=2), ledger=ledger, sleep=lambda _: None
    )
    usage = TokenUsage()
    for question in questions:
        message = ChatMessage(role="user", text=f"Question {question}?")
        purpose = Purpose(bank="ann", operation=LlmOperation.RETAIN)
        try:
            usage += caller.structured(purpose, [message], FACTS, max_tokens=REPLY).usage
        except (LlmError, DeadlineExceeded):
            continue

    with store.reading("ann") as reading:
        calls = [LlmCall.from_record(record) for record in reading.records("llm_call")]
    rows = read_costs(store)
    assert len(calls) == sum(len(model.requests) for model in chain) == sum(row.calls for row in rows)
    spent = [call.input_tokens + call.output_tokens for call in calls]
    assert sum(spent) == sum(row.tokens for row in rows)
    assert usage.total <= sum(spent)
    if cap is not None:
        assert sum(spent[:-1]) < cap
