"""Anthropic's memory tool: Claude's files under /memories kept in Perdure, verbatim and as facts.

Each file is a record, given back as it was written, and a document, so that `recall` finds what Claude noted and history keeps
what it overwrote. The tool has no search, so the file `/memories/recalled.md` holds what memory recalls for the question that
the program sets with `ask`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import MAX_TOKENS, AgentMemory
from perdure.contrib.frameworks.versions import require
from perdure.domain.bank import check_bank_id
from perdure.domain.item import UpdateMode
from perdure.domain.recall import Precision
from perdure.domain.record import Record
from perdure.errors import PerdureError, public_message

require("anthropic", "2.8", "anthropic")

from anthropic.lib.tools import (  # noqa: E402
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    ToolError,
)
from anthropic.types.beta import (  # noqa: E402
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

__all__ = ["AsyncPerdureMemoryTool", "PerdureMemoryTool"]

FILE = "claude.file"
"""Kind of the records that hold Claude's files."""
ROOT = "/memories"
RECALLED = "/memories/recalled.md"
"""Read-only: what memory recalls for the question at hand."""
MAX_LINES = 999_999
MAX_RETAINED = 200_000
"""Characters; a longer file is kept, but no facts are drawn from it."""
CONTEXT_LINES = 2
LISTED_LEVELS = 2


class _Files:
    """Files by path in the records of a bank; every method is a command of the tool and returns what Claude reads."""

    def __init__(self, agent: AgentMemory, bank: str) -> None:
        self._agent = agent
        self._memory = agent.memory
        self._bank = check_bank_id(bank)
        self.question = ""

    def view(self, path: str, view_range: list[int] | None) -> str:
        place = _checked(path)
        text = self._read(place)
        if text is None:
            return self._listing(path, place)
        lines = text.split("\n")
        if len(lines) > MAX_LINES:
            raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first, last = 1, len(lines)
        if view_range and len(view_range) == 2:
            first = max(1, view_range[0])
            last = len(lines) if view_range[1] == -1 else view_range[1]
        return f"Here's the content of {path} with line numbers:\n" + _numbered(lines, first, last)

    def create(self, path: str, file_text: str) -> str:
        place = self._writable(path)
        files = self._files()
        if place in files:
            raise ToolError(f"File {path} already exists")
        if place == ROOT or _below(files, place) or any(parent in files for parent in _parents(place)):
            raise ToolError(f"The path {path} cannot be a file.")
        self._write(place, file_text)
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        place = self._writable(path)
        text = self._text(path, place)
        count = text.count(old_str) if old_str else 0
        if count == 0:
            raise ToolError(
                f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}."
            )
        if count > 1:
            lines = ", ".join(str(line) for line in _lines_of(text, old_str))
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        line = _lines_of(text, old_str)[0]
        changed = text.replace(old_str, new_str)
        self._write(place, changed)
        shown = _numbered(changed.split("\n"), max(1, line - CONTEXT_LINES), line + CONTEXT_LINES)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + shown
        )

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        place = self._writable(path)
        lines = self._text(path, place).split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(insert_line, insert_text.rstrip("\n"))
        self._write(place, "\n".join(lines) + "\n")
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        place = _checked(path)
        if place == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        self._writable(path)
        files = self._files()
        doomed = [place] if place in files else _below(files, place)
        if not doomed:
            raise ToolError(f"The path {path} does not exist")
        for name in doomed:
            self._erase(name)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        old, new = _checked(old_path), self._writable(new_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        self._writable(old_path)
        files = self._files()
        moved = [old] if old in files else _below(files, old)
        if new in files or _below(files, new):
            raise ToolError(f"The destination {new_path} already exists")
        if not moved:
            raise ToolError(f"The path {old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise ToolError(f"The path {old_path} cannot be moved into itself")
        for name in moved:
            self._write(new + name[len(old) :], files[name])
            self._erase(name)
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        for name in self._files():
            self._erase(name)
        return "All memory cleared"

    # Storage

    def _files(self) -> dict[str, str]:
        """Path -> text of all files."""
        return {
            record.id: str(record.body["text"]) for record in self._memory.records.list(FILE, bank=self._bank)
        }

    def _read(self, place: str) -> str | None:
        if place == RECALLED and self.question:
            return self._recalled()
        records = self._memory.records.list(FILE, bank=self._bank, ids=[place])
        return str(records[0].body["text"]) if records else None

    def _text(self, path: str, place: str) -> str:
        text = self._read(place)
        if text is None:
            is_folder = place == ROOT or _below(self._files(), place)
            problem = "is not a file." if is_folder else "does not exist. Please provide a valid path."
            raise ToolError(f"The path {path} {problem}")
        return text

    def _recalled(self) -> str:
        """Return what memory recalls for the question; empty where nothing helps, or memory fails."""
        return self._agent.in_time(
            lambda: self._memory.recall(
                self._bank, self.question, max_tokens=self._agent.max_tokens, precision=Precision.INJECT
            ).to_prompt(),
            "",
            "recall",
        )

    def _write(self, place: str, text: str) -> None:
        self._memory.records.save(Record(kind=FILE, id=place, bank=self._bank, body={"text": text}))
        if text.strip() and len(text) <= MAX_RETAINED:
            self._memory.retain_later(self._bank, text, update_mode=UpdateMode.REPLACE, document_id=place)
        else:
            self._memory.forget(self._bank, document_id=place)

    def _erase(self, place: str) -> None:
        self._memory.forget(self._bank, document_id=place)
        self._memory.records.delete(FILE, place, bank=self._bank)

    def _writable(self, path: str) -> str:
        place = _checked(path)
        if place == RECALLED:
            raise ToolError(f"{RECALLED} is read-only: it shows what memory recalls.")
        return place

    def _listing(self, path: str, place: str) -> str:
        files = self._files()
        if place == ROOT and self.question and (recalled := self._recalled()):
            files[RECALLED] = recalled
        below = _below(files, place)
        if place != ROOT and not below:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        sizes: dict[str, int] = {}
        for name in below:
            steps = name[len(place) + 1 :].split("/")
            if any(step.startswith(".") for step in steps):
                continue
            for depth in range(1, min(len(steps), LISTED_LEVELS) + 1):
                shown = "/".join(steps[:depth]) + ("/" if depth < len(steps) else "")
                sizes[shown] = sizes.get(shown, 0) + len(files[name].encode())
        head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        shown_path = path.rstrip("/")
        lines = [f"{_size(sum(len(files[name].encode()) for name in below))}\t{path}"]
        lines += [f"{_size(sizes[name])}\t{shown_path}/{name}" for name in sorted(sizes)]
        return "\n".join([head, *lines])


class PerdureMemoryTool(BetaAbstractMemoryTool):
    """Claude's memory in a bank: `client.beta.messages.tool_runner(tools=[PerdureMemoryTool(memory, bank)], ...)`."""

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        bank: str,
        *,
        max_tokens: int = MAX_TOKENS,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.agent = AgentMemory(memory, max_tokens=max_tokens)
        self._files = _Files(self.agent, bank)

    def ask(self, question: str) -> None:
        """Set the question for which `/memories/recalled.md` shows what memory recalls; "" takes the file away."""
        self._files.question = question.strip()

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or what is in a folder."""
        return _told(lambda: self._files.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file."""
        return _told(lambda: self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands in a file once."""
        return _told(lambda: self._files.str_replace(command.path, command.old_str, command.new_str or ""))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert after a line."""
        return _told(lambda: self._files.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Erase a file or a folder, with all facts that were drawn from it."""
        return _told(lambda: self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        return _told(lambda: self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Erase all files of Claude; what else the bank holds stays."""
        return _told(self._files.clear)


def _on_a_thread(name: str) -> Any:
    """Return a command of the blocking tool as a method of the asynchronous one."""
    blocking = getattr(PerdureMemoryTool, name)

    @wraps(blocking)
    async def call(self: AsyncPerdureMemoryTool, *command: object) -> str:
        agent = self.tool.agent
        done: str = await agent.run_async(lambda: blocking(self.tool, *command), agent.tool_deadline)
        return done

    return call


class AsyncPerdureMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for `AsyncAnthropic`; memory is used on worker threads."""

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        bank: str,
        *,
        max_tokens: int = MAX_TOKENS,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.tool = PerdureMemoryTool(memory, bank, max_tokens=max_tokens)

    def ask(self, question: str) -> None:
        """Set the question for which `/memories/recalled.md` shows what memory recalls; "" takes the file away."""
        self.tool.ask(question)

    view = _on_a_thread("view")
    create = _on_a_thread("create")
    str_replace = _on_a_thread("str_replace")
    insert = _on_a_thread("insert")
    delete = _on_a_thread("delete")
    rename = _on_a_thread("rename")
    clear_all_memory = _on_a_thread("clear_all_memory")


def _told(work: Callable[[], str]) -> str:
    """Return what the work says; that memory failed is told to Claude as the tool's error."""
    try:
        return work()
    except PerdureError as error:
        raise ToolError(f"Memory is not available: {public_message(error)}") from error


def _checked(path: str) -> str:
    """Return the path without detours; refused outside the root."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with /memories, got: {path}")
    if any(not character.isprintable() for character in path):
        raise ToolError("Path must have no control characters")
    place = posixpath.normpath(path)
    if place != ROOT and not place.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape /memories directory")
    return place


def _below(files: Mapping[str, str], folder: str) -> list[str]:
    return sorted(name for name in files if name.startswith(f"{folder}/"))


def _parents(place: str) -> list[str]:
    steps = place.split("/")
    return ["/".join(steps[:end]) for end in range(2, len(steps))]


def _lines_of(text: str, part: str) -> list[int]:
    """Numbers of the lines in which a text begins, overlapping ones too."""
    lines, start = [], text.find(part)
    while start >= 0:
        lines.append(text.count("\n", 0, start) + 1)
        start = text.find(part, start + 1)
    return lines


def _numbered(lines: list[str], first: int, last: int) -> str:
    shown = lines[first - 1 : last]
    return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(shown, start=first))


def _size(count: int) -> str:
    """Bytes as `du -h` shows them: 0B, 512B, 1.5K, 2M."""
    value, unit = float(count), "B"
    for unit in ("B", "K", "M", "G"):
        if value < 1024 or unit == "G":
            break
        value /= 1024
    return f"{int(value)}{unit}" if value == int(value) else f"{value:.1f}{unit}"
