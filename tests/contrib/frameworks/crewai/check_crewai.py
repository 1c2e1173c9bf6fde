"""The CrewAI adapter by the rules of the checklist, in crews and agents.

The framework writes recalled memories into prompts in its own form, so the checklist's class does not fit it.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

os.environ.update(
    CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_STORAGE_DIR=tempfile.mkdtemp()
)

import pytest
from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM

from perdure import Perdure, StoreLocked
from perdure.contrib.frameworks.crewai import PerdureMemory
from tests.contrib.frameworks.checklist import (
    BANK,
    FACT,
    FRAME,
    OTHER_BANK,
    PLANTED,
    QUESTION,
    REPLY,
    SpyMemory,
    check_inert,
    fact_texts,
    stored_text,
)

PROMPTS: list[str] = []


class ScriptedLLM(BaseLLM):
    """Says the same whatever it is asked; notes the prompts."""

    reply: str = REPLY

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        PROMPTS.append(str(messages))
        return f"Thought: I now can give a great answer\nFinal Answer: {self.reply}"

    async def acall(self, messages: Any, *args: Any, **options: Any) -> str:
        return self.call(messages)

    def supports_function_calling(self) -> bool:
        return False


@pytest.fixture(autouse=True)
def _prompts() -> None:
    PROMPTS.clear()


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


def make_agent(reply: str = REPLY, **options: Any) -> Agent:
    return Agent(
        role="Clerk", goal="Help", backstory="Of the shop of Xylander.",
        llm=ScriptedLLM(model="none", reply=reply), **options,
    )  # fmt: skip


def run_crew(memory: Any, description: str, reply: str = REPLY) -> str:
    agent = make_agent(reply)
    task = Task(description=description, expected_output="An answer for Zanzibar.", agent=agent)
    crew = Crew(agents=[agent], tasks=[task], memory=memory)
    told = crew.kickoff().raw
    memory.drain_writes()
    return str(told)


def test_a_crew_remembers_its_results_and_not_its_tasks(memory: Perdure) -> None:
    run_crew(
        PerdureMemory(memory, bank=BANK), "Find out what Ann may not eat.", "Ann is allergic to peanuts."
    )
    kept = stored_text(memory)
    assert "Ann is allergic to peanuts." in kept
    assert not any(word in kept for word in ("Find out", "Zanzibar", "Xylander"))


def test_the_next_crew_has_it_in_its_prompt_and_does_not_retain_it_again(memory: Perdure) -> None:
    crewai_memory = PerdureMemory(memory, bank=BANK)
    run_crew(crewai_memory, "Find out what Ann may not eat.", "Ann is allergic to peanuts.")
    PROMPTS.clear()
    run_crew(crewai_memory, "What is Ann allergic to?")
    assert "Ann is allergic to peanuts." in PROMPTS[0]
    assert stored_text(memory).count("peanuts") == 1


def test_an_agent_remembers_what_its_user_said(memory: Perdure) -> None:
    crewai_memory = PerdureMemory(memory, bank=BANK)
    make_agent(memory=crewai_memory).kickoff(FACT)
    crewai_memory.drain_writes()
    assert next(fact.text for fact in memory.facts.iterate(BANK)) == "I am allergic to peanuts."
    PROMPTS.clear()
    assert make_agent(memory=crewai_memory).kickoff(QUESTION).raw == REPLY
    crewai_memory.drain_writes()
    assert "I am allergic to peanuts." in PROMPTS[0]
    assert stored_text(memory).count("peanuts") == 1


def test_facts_hold_nothing_of_tasks_and_prompts(memory: Perdure) -> None:
    crewai_memory = PerdureMemory(memory, bank=BANK)
    run_crew(crewai_memory, "Find out what Ann may not eat.", "Ann is allergic to peanuts.")
    make_agent(memory=crewai_memory).kickoff(FACT)
    crewai_memory.drain_writes()
    texts = fact_texts(memory)
    assert "I am allergic to peanuts." in texts
    assert [text for text in texts if FRAME.search(text)] == []
    words = ("Task:", "Agent:", "Result:", "Find out", "Zanzibar", "Xylander", "Final Answer", "Thought")
    assert [text for text in texts if any(word in text for word in words)] == []


def test_an_asynchronous_agent_does_the_same(memory: Perdure) -> None:
    crewai_memory = PerdureMemory(memory, bank=BANK)
    memory.retain(BANK, [{"role": "user", "content": FACT}])
    told = asyncio.run(make_agent(memory=crewai_memory).kickoff_async(QUESTION))
    crewai_memory.drain_writes()
    assert told.raw == REPLY
    assert "I am allergic to peanuts." in PROMPTS[0]
    assert stored_text(memory).count(QUESTION) == 1


def test_where_nothing_helps_nothing_is_put_into_the_prompt(memory: Perdure) -> None:
    memory.retain(BANK, FACT)
    make_agent(memory=PerdureMemory(memory, bank=BANK)).kickoff("What is the capital of France?")
    assert "peanuts" not in PROMPTS[0]
    assert "Memories from past conversations" not in PROMPTS[0]


def test_a_broken_memory_costs_nothing_but_the_memory(
    memory: Perdure, caplog: pytest.LogCaptureFixture
) -> None:
    spy: Any = SpyMemory(memory, error=StoreLocked("locked"))
    crewai_memory = PerdureMemory(spy, bank=BANK)
    assert make_agent(memory=crewai_memory).kickoff(QUESTION).raw == REPLY
    assert run_crew(crewai_memory, QUESTION) == REPLY
    assert "recall failed" in caplog.text


def test_a_slow_memory_is_not_waited_for(memory: Perdure) -> None:
    spy: Any = SpyMemory(memory, delay=3.0)
    crewai_memory = PerdureMemory(spy, bank=BANK, deadline=0.2)
    begun = time.monotonic()
    assert crewai_memory.recall(QUESTION) == []
    assert time.monotonic() - begun < 2.0


def test_a_crew_ends_while_its_memory_hangs(memory: Perdure, caplog: pytest.LogCaptureFixture) -> None:
    run_crew(PerdureMemory(memory, bank=OTHER_BANK), "Warm up.")
    spy: Any = SpyMemory(memory, delay=20.0)
    crewai_memory = PerdureMemory(spy, bank=BANK, deadline=0.2)
    crewai_memory.bank_storage.agent.tool_deadline = 0.2
    begun = time.monotonic()
    assert run_crew(crewai_memory, QUESTION) == REPLY
    assert time.monotonic() - begun < 15.0
    assert "not waited for" in caplog.text


def test_neither_model_nor_embedder_of_the_framework_is_used(memory: Perdure) -> None:
    llm, embedder = MagicMock(), MagicMock()
    crewai_memory = PerdureMemory(memory, bank=BANK, llm=llm, embedder=embedder)
    crewai_memory.remember(FACT)
    assert crewai_memory.recall(QUESTION)
    llm.call.assert_not_called()
    embedder.assert_not_called()


def test_scopes_and_categories_narrow_what_is_recalled(memory: Perdure) -> None:
    crewai_memory = PerdureMemory(memory, bank=BANK, precision="search")
    crewai_memory.remember("The server runs on port 8000.", scope="/web/api", categories=["ports"])
    crewai_memory.remember("The database runs on port 5432.", scope="/web-store", categories=["hosts"])

    def contents(**filters: Any) -> set[str]:
        return {match.record.content for match in crewai_memory.recall("Which port?", **filters)}

    assert contents(scope="/web") == {"The server runs on port 8000."}
    assert contents(categories=["hosts"]) == {"The database runs on port 5432."}
    assert len(contents()) == 2
    assert crewai_memory.list_scopes() == ["/web", "/web-store"]


def test_a_private_memory_is_for_its_source_alone(memory: Perdure) -> None:
    crewai_memory = PerdureMemory(memory, bank=BANK)
    crewai_memory.remember(FACT, source="ann", private=True)
    crewai_memory.remember("We are allergic to peanuts, all of us.", private=True)
    assert crewai_memory.recall(QUESTION) == []
    assert [match.record.content for match in crewai_memory.recall(QUESTION, source="ann")] == [FACT]
    assert crewai_memory.recall(QUESTION, include_private=True)


def test_what_is_forgotten_is_gone_from_records_and_facts(memory: Perdure) -> None:
    crewai_memory = PerdureMemory(memory, bank=BANK)
    record = crewai_memory.remember(FACT, scope="/notes")
    crewai_memory.remember("Bob likes figs.", scope="/other")
    assert crewai_memory.forget(record_ids=[record.id]) == 1
    assert crewai_memory.recall(QUESTION) == []
    assert "peanuts" not in stored_text(memory)
    crewai_memory.reset()
    assert crewai_memory.list_records() == []
    assert memory.facts.list(BANK).facts == ()


def test_facts_that_came_another_way_are_recalled_and_forgotten_by_their_ids(memory: Perdure) -> None:
    memory.retain(BANK, FACT, document_id="chat-1")
    memory.retain(OTHER_BANK, "I am allergic to walnuts.")
    crewai_memory = PerdureMemory(memory, bank=BANK)
    [match] = crewai_memory.recall(QUESTION)
    assert match.record.content == FACT
    assert 0.0 <= match.score <= 1.0
    assert crewai_memory.forget(record_ids=[match.record.id]) == 1
    assert memory.facts.list(BANK).facts == ()


def test_of_a_long_result_the_facts_that_match_are_shown(memory: Perdure) -> None:
    crewai_memory = PerdureMemory(memory, bank=BANK)
    report = " ".join(f"Room {number} is painted in shade number {number * 7}." for number in range(60))
    crewai_memory.remember(f"{report} Ann is allergic to peanuts.")
    [match] = crewai_memory.recall("What is Ann allergic to?")
    assert "Ann is allergic to peanuts." in match.record.content
    assert len(match.record.content) < 500


def test_the_same_text_is_remembered_once_in_a_scope(memory: Perdure) -> None:
    crewai_memory = PerdureMemory(memory, bank=BANK)
    first = crewai_memory.remember(FACT, scope="/a")
    assert crewai_memory.remember(FACT, scope="/a").id == first.id
    crewai_memory.remember(FACT, scope="/b")
    assert len(crewai_memory.list_records()) == 2


def test_tools_of_the_framework_search_and_save(memory: Perdure) -> None:
    from crewai.tools.memory_tools import create_memory_tools

    search, save = create_memory_tools(PerdureMemory(memory, bank=BANK))
    assert "Saved to memory" in save.run(contents=[FACT])
    assert FACT in search.run(queries=[QUESTION])


def test_a_match_shows_a_planted_order_as_data(memory: Perdure) -> None:
    crewai_memory = PerdureMemory(memory, bank=BANK, precision="search")
    crewai_memory.remember(PLANTED)
    [match] = crewai_memory.recall(QUESTION)
    check_inert(match.record.content)
    assert [record.content for record in crewai_memory.list_records()] == [PLANTED]
