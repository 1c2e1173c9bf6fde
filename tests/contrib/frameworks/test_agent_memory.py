"""The shared part of adapters, by the checklist in a bare loop, and by itself."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure import InvalidInput, Perdure
from perdure.contrib.frameworks.agent_memory import AgentMemory, bank_of
from perdure.contrib.frameworks.turns import is_prompt, last_user_prompt, said_turns
from tests.contrib.frameworks.checklist import (
    BANK,
    FACT,
    INSTRUCTIONS,
    QUESTION,
    REPLY,
    AdapterChecklist,
    Conversation,
    Exchange,
    Said,
    SpyMemory,
    settle,
    stored_text,
)


class BareLoop(Conversation):
    """The loop that everybody writes around a client."""

    def __init__(self, agent: AgentMemory, bank: str, conversation: str, asynchronous: bool) -> None:
        self._agent, self._bank, self._conversation = agent, bank, conversation
        self._asynchronous = asynchronous
        self._history: list[Said] = []

    def say(self, text: str, *, reply: str = REPLY, tool_output: str | None = None) -> Exchange:
        start = len(self._history)
        self._history.append(Said("user", text))
        requests = [self._request(start)]
        if tool_output is not None:
            self._history.append(Said("tool", tool_output))
            requests.append(self._request(start))
        self._history.append(Said("assistant", reply))
        new = [said._asdict() | {"content": said.text} for said in self._history[start:]]
        options = {"document_id": self._conversation, "turn": str(start)}
        for _ in range(2):
            if self._asynchronous:
                asyncio.run(self._agent.aretain_turns(self._bank, new, **options))
            else:
                self._agent.retain_turns(self._bank, new, **options)
            if self._fails:
                break
        return Exchange(requests, reply)

    def _request(self, start: int) -> list[Said]:
        messages = [{"role": said.role, "content": said.text} for said in self._history]
        turn = f"{self._conversation}/{start}"
        if self._asynchronous:
            text = asyncio.run(self._agent.acontext(self._bank, messages, turn=turn))
        else:
            text = self._agent.context(self._bank, messages, turn=turn)
        recalled = [Said("user", text)] if text else []
        return [
            Said("system", INSTRUCTIONS), *self._history[:start], *recalled, *self._history[start:]
        ]  # fmt: skip

    @property
    def _fails(self) -> bool:
        memory: Any = self._agent.memory
        return bool(memory.error or memory.delay)

    def history(self) -> list[Said]:
        return self._history


class TestBareLoop(AdapterChecklist):
    def start(
        self, memory: Any, *, bank: str, conversation: str, deadline: float, asynchronous: bool
    ) -> Conversation:
        return BareLoop(AgentMemory(memory, deadline=deadline), bank, conversation, asynchronous)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


@pytest.mark.parametrize("user", ["", " ", "default", "anon", "Anonymous", "None"])
def test_ids_that_stand_for_nobody_name_no_bank(user: str) -> None:
    with pytest.raises(InvalidInput, match="user"):
        bank_of("shop", user)


def test_a_bank_has_the_names_of_the_application_and_the_user() -> None:
    assert bank_of("shop", "ann") == "shop.ann"
    with pytest.raises(InvalidInput, match="app"):
        bank_of("", "ann")
    with pytest.raises(InvalidInput, match="bank"):
        bank_of("shop", "../ann")


def test_a_bank_that_cannot_be_told_costs_the_memory_and_not_the_turn(
    memory: Perdure, caplog: pytest.LogCaptureFixture
) -> None:
    agent = AgentMemory(memory)
    with caplog.at_level(logging.WARNING):
        assert agent.context(lambda: bank_of("shop", "anon"), QUESTION) == ""
    assert "user: expected the id of one user" in caplog.text


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Where do I live?", True),
        ("/etc/hosts is broken", True),
        ("<b>bold</b> claim", True),
        ("", False),
        ("  \n", False),
        ("/compact", False),
        ("/plugin:recall all of it", False),
        ("<system-reminder>Tidy up.</system-reminder>", False),
    ],
)
def test_what_a_person_says_is_told_from_commands_and_notices(text: str, answer: bool) -> None:
    assert is_prompt(text) is answer


def test_the_last_prompt_is_looked_for_behind_tool_results_of_any_shape() -> None:
    messages = [
        {"role": "user", "content": "Where do I live?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "Rain."}]},
    ]
    prompt = last_user_prompt(messages)
    assert prompt is not None
    assert (prompt.index, prompt.text) == (0, "Where do I live?")
    assert last_user_prompt([*messages, ("user", "/clear")]) is None
    assert last_user_prompt([]) is None


def test_turns_are_what_user_and_assistant_said() -> None:
    messages = [
        ("system", INSTRUCTIONS),
        {"role": "user", "content": "<recalled_memory>\nx\n</recalled_memory>\nHi, I am Ann.", "name": "Ann"},
        {"role": "tool", "content": "Rain."},
        {"role": "user", "content": "/clear"},
        {"role": "assistant", "content": "Hello Ann."},
    ]
    assert [(turn.role, turn.text, turn.speaker) for turn in said_turns(messages)] == [
        ("user", "Hi, I am Ann.", "Ann"), ("assistant", "Hello Ann.", "assistant"),
    ]  # fmt: skip


def test_a_whole_conversation_takes_the_place_of_what_was_retained_of_it(memory: Perdure) -> None:
    agent = AgentMemory(memory)
    first = [("user", FACT), ("assistant", REPLY)]
    agent.retain_turns(BANK, first, document_id="c", replace=True)
    asyncio.run(
        agent.aretain_turns(BANK, [*first, ("user", "I live in Lisbon.")], document_id="c", replace=True)
    )
    settle(memory)
    assert [stored_text(memory).count(word) for word in ("peanuts", "Lisbon")] == [1, 1]


def test_a_conversation_and_a_user_can_be_forgotten(memory: Perdure) -> None:
    agent = AgentMemory(memory)
    for name in ("one", "two"):
        agent.retain_turns(BANK, [("user", f"I like the {name} café.")], document_id=name)
    settle(memory)
    assert agent.forget_conversation(BANK, "one").existed
    assert [document.id for document in memory.documents.list(BANK)] == ["two"]
    agent.forget_user(BANK)
    assert memory.documents.list(BANK) == []


def test_tools_retain_recall_reflect_and_forget(memory: Perdure) -> None:
    tools = AgentMemory(memory).tools(BANK)
    assert [function.__name__ for function in tools.functions()] == [
        "retain", "recall", "reflect", "forget",
    ]  # fmt: skip
    assert tools.recall(QUESTION) == "Memory holds nothing on this."
    assert tools.retain(FACT) == "Remembered 1 new fact."
    [fact] = memory.facts.list(BANK).facts
    assert fact.id in tools.recall(QUESTION)
    assert "peanuts" in tools.reflect(QUESTION)
    assert tools.forget("no-such-id") == "There is no fact with the id no-such-id."
    assert tools.forget(fact.id) == "Forgotten."
    assert memory.facts.list(BANK).facts == ()


def test_asynchronous_tools_are_described_as_the_others_and_do_the_same(memory: Perdure) -> None:
    tools = AgentMemory(memory).tools(BANK)
    pairs = list(zip(tools.functions(), tools.async_functions(), strict=True))
    assert all(one.__name__ == two.__name__ and one.__doc__ == two.__doc__ for one, two in pairs)

    async def use() -> list[str]:
        return [await tool(FACT) for _, tool in pairs]

    told = asyncio.run(use())
    assert told[0] == "Remembered 1 new fact."
    assert all("peanuts" in one for one in told[1:3])


def test_no_tool_lets_a_model_choose_the_bank(memory: Perdure) -> None:
    tools = AgentMemory(memory).tools(BANK)
    for function in [*tools.functions(), *tools.async_functions()]:
        assert set(inspect.signature(function).parameters) < {"content", "query", "question", "fact_id"}


def test_a_tool_that_fails_tells_the_model_so(memory: Perdure) -> None:
    tools = AgentMemory(SpyMemory(memory, error=OSError("disk /secret/path")), deadline=0.5).tools(BANK)
    for answer in (tools.recall(QUESTION), asyncio.run(tools.arecall(QUESTION))):
        assert answer == "Memory is not available: unexpected OSError"


def test_a_memory_that_hangs_gets_no_more_calls_than_there_is_room_for(memory: Perdure) -> None:
    stuck = threading.Event()
    agent = AgentMemory(memory, deadline=0.01)
    for _ in range(16):
        assert agent.in_time(lambda: stuck.wait(20), False, "recall") is False
    begun = time.monotonic()
    agent.deadline = 5.0
    assert agent.context(BANK, QUESTION) == ""
    assert time.monotonic() - begun < 1
    stuck.set()
