"""Anthropic's memory tool: what its borrowed tests do not ask."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError

from perdure import AsyncPerdure, Perdure, StoreLocked
from perdure.contrib.frameworks.anthropic_memory import FILE, AsyncPerdureMemoryTool, PerdureMemoryTool
from tests.contrib.frameworks.checklist import BANK, FACT, QUESTION, SpyMemory, settle, stored_text


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


def call(tool: Any, command: str, **fields: Any) -> str:
    answer = tool.call({"command": command, **fields})
    return str(asyncio.run(answer) if asyncio.iscoroutine(answer) else answer)


@pytest.fixture(params=[PerdureMemoryTool, AsyncPerdureMemoryTool])
def tool(memory: Perdure, request: pytest.FixtureRequest) -> Any:
    return request.param(AsyncPerdure(memory), BANK)


def test_what_claude_notes_is_recalled_and_what_it_overwrites_is_over(memory: Perdure, tool: Any) -> None:
    call(tool, "create", path="/memories/ann.md", file_text="Ann lives in Oslo.\n")
    call(tool, "str_replace", path="/memories/ann.md", old_str="Oslo", new_str="Lisbon")
    settle(memory)
    assert [one.text for one in memory.recall(BANK, "Where does Ann live?")] == ["Ann lives in Lisbon."]
    assert [document.id for document in memory.documents.list(BANK)] == ["/memories/ann.md"]


def test_what_claude_deletes_is_erased_with_its_facts(memory: Perdure, tool: Any) -> None:
    call(tool, "create", path="/memories/people/ann.md", file_text=FACT)
    call(tool, "create", path="/memories/people/bob.md", file_text="Bob likes figs.")
    settle(memory)
    call(tool, "delete", path="/memories/people")
    assert (memory.documents.list(BANK), memory.banks.stats(BANK).facts) == ([], 0)
    with pytest.raises(ToolError, match="does not exist"):
        call(tool, "view", path="/memories/people/ann.md")


def test_a_renamed_folder_takes_its_files_and_facts_along(memory: Perdure, tool: Any) -> None:
    call(tool, "create", path="/memories/a/one.md", file_text=FACT)
    call(tool, "rename", old_path="/memories/a", new_path="/memories/b/c")
    settle(memory)
    assert [document.id for document in memory.documents.list(BANK)] == ["/memories/b/c/one.md"]
    assert "peanuts" in call(tool, "view", path="/memories/b/c/one.md")
    with pytest.raises(ToolError, match="cannot be moved into itself"):
        call(tool, "rename", old_path="/memories/b", new_path="/memories/b/d")


def test_what_memory_recalls_for_the_question_is_a_file_that_only_can_be_read(
    memory: Perdure, tool: Any
) -> None:
    memory.retain(BANK, FACT)
    path = "/memories/recalled.md"
    with pytest.raises(ToolError, match="does not exist"):
        call(tool, "view", path=path)
    tool.ask(QUESTION)
    assert "recalled.md" in call(tool, "view", path="/memories")
    assert "allergic to peanuts" in call(tool, "view", path=path)
    for command, fields in (
        ("create", {"file_text": "x"}),
        ("delete", {}),
        ("insert", {"insert_line": 0, "insert_text": "x"}),
        ("str_replace", {"old_str": "peanuts", "new_str": "x"}),
    ):
        with pytest.raises(ToolError, match="read-only"):
            call(tool, command, path=path, **fields)
    tool.ask("What is the capital of France?")
    assert "recalled.md" not in call(tool, "view", path="/memories")


def test_recalled_memory_that_claude_copies_is_not_retained_again(memory: Perdure, tool: Any) -> None:
    memory.retain(BANK, FACT, document_id="before")
    tool.ask(QUESTION)
    recalled = memory.prompt(BANK, QUESTION)
    call(tool, "create", path="/memories/copy.md", file_text=f"{recalled}\nBob likes figs.")
    settle(memory)
    assert stored_text(memory).count("peanuts") == 1


def test_a_listing_goes_two_levels_deep_with_sizes_and_hides_what_is_hidden(tool: Any) -> None:
    call(tool, "create", path="/memories/a/b/c.md", file_text="x" * 1536)
    call(tool, "create", path="/memories/.hidden", file_text="x")
    call(tool, "create", path="/memories/d.md", file_text="12345")
    assert call(tool, "view", path="/memories").splitlines()[1:] == [
        "1.5K\t/memories", "1.5K\t/memories/a/", "1.5K\t/memories/a/b/", "5B\t/memories/d.md",
    ]  # fmt: skip


def test_a_file_cannot_be_a_folder_too(tool: Any) -> None:
    call(tool, "create", path="/memories/a.md", file_text="x")
    for path in ("/memories/a.md/b.md", "/memories"):
        with pytest.raises(ToolError, match="cannot be a file"):
            call(tool, "create", path=path, file_text="x")
    with pytest.raises(ToolError, match="control characters"):
        call(tool, "create", path="/memories/a\nb", file_text="x")
    with pytest.raises(ToolError, match="must start with /memories"):
        call(tool, "create", path="/memoriesx/a", file_text="x")


def test_the_ends_of_lines_stay_as_they_are(memory: Perdure, tool: Any) -> None:
    call(tool, "create", path="/memories/a.txt", file_text="line1\r\nline2\r\nline3\r\n")
    call(tool, "str_replace", path="/memories/a.txt", old_str="line2", new_str="LINE2")
    call(tool, "insert", path="/memories/a.txt", insert_line=1, insert_text="new")
    [record] = memory.records.list(FILE, bank=BANK)
    assert record.body["text"] == "line1\r\nnew\nLINE2\r\nline3\r\n"
    assert call(tool, "view", path="/memories/a.txt").endswith("\n     5\t")


@pytest.mark.parametrize("path", ["/memories", "/memories/", "/memories/.", "/memories/sub/.."])
def test_the_root_can_be_neither_deleted_nor_renamed(tool: Any, path: str) -> None:
    call(tool, "create", path="/memories/a.txt", file_text="x")
    with pytest.raises(ToolError, match="Cannot delete the /memories directory itself"):
        call(tool, "delete", path=path)
    with pytest.raises(ToolError, match="Cannot rename the /memories directory itself"):
        call(tool, "rename", old_path=path, new_path="/memories/b")
    assert "a.txt" in call(tool, "view", path="/memories")


def test_all_files_can_be_cleared_and_the_rest_of_the_bank_stays(memory: Perdure) -> None:
    tool = PerdureMemoryTool(memory, BANK)
    memory.retain(BANK, FACT, document_id="talk")
    call(tool, "create", path="/memories/a.md", file_text="Bob likes figs.")
    settle(memory)
    assert tool.clear_all_memory() == "All memory cleared"
    assert [document.id for document in memory.documents.list(BANK)] == ["talk"]


def test_a_memory_that_fails_is_an_error_of_the_tool(memory: Perdure) -> None:
    broken = SpyMemory(memory, error=StoreLocked("locked"))
    for tool in (PerdureMemoryTool(broken, BANK), AsyncPerdureMemoryTool(broken, BANK)):
        with pytest.raises(ToolError, match="Memory is not available"):
            call(tool, "create", path="/memories/a.md", file_text="x")


def test_the_event_loop_is_never_blocked(memory: Perdure) -> None:
    spy = SpyMemory(memory)
    tool = AsyncPerdureMemoryTool(spy, BANK)
    tool.ask(QUESTION)
    call(tool, "create", path="/memories/a.md", file_text="x")
    call(tool, "view", path="/memories")
    assert spy.on_event_loop == []


def test_it_is_the_tool_that_the_api_knows(memory: Perdure) -> None:
    assert PerdureMemoryTool(memory, BANK).to_dict() == {"type": "memory_20250818", "name": "memory"}
