"""Transcripts of coding assistants: Claude Code's `<session>.jsonl` and Codex's `rollout-*.jsonl`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perdure.contrib.imports.files import FileSource, FileTree
from perdure.contrib.imports.json_stream import stream_lines
from perdure.contrib.imports.values import as_id, as_list, as_moment, as_object, as_text, turn
from perdure.domain.imported import ImportedDocument, SkippedPart
from perdure.domain.item import Item
from perdure.errors import InvalidInput
from perdure.extending import strip_fenced

CLAUDE_CODE, CODEX = "claude-code", "codex"
_ROLES = frozenset({"user", "assistant"})
_MACHINE_MADE = re.compile(
    r"\s*(?:<(?:command-name|command-message|command-args|local-command-stdout|local-command-stderr|local-command-caveat"
    r"|bash-input|bash-stdout|bash-stderr|system-reminder|task-notification|user-prompt-submit-hook"
    r"|environment_context|user_instructions|permissions instructions|turn_aborted|subagent_notification"
    r"|INSTRUCTIONS|skill)\b|#\s*AGENTS\.md instructions|Caveat: The messages below were generated|\[Request interrupted by user)"
)
"""Beginnings of messages under the user's role that the assistant's program wrote."""
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


@dataclass(slots=True)
class _Session:
    """A session as far as it was read."""

    id: str = ""
    project: str = ""
    branch: str = ""
    title: str = ""


class ClaudeCodeTranscripts(FileSource):
    """The sessions below a folder (`~/.claude/projects`), or one; the words of user and assistant alone."""

    name = CLAUDE_CODE
    globs = ("*.jsonl",)
    expected = "a folder with Claude Code's *.jsonl files, or one of them"

    def _read(self, file: str) -> Iterator[ImportedDocument | SkippedPart]:
        return _session(self._tree, file, CLAUDE_CODE, _claude_code_turn)


class CodexTranscripts(FileSource):
    """The sessions below a folder (`~/.codex/sessions`), or one."""

    name = CODEX
    globs = ("rollout-*.jsonl",)
    expected = "a folder with Codex's rollout-*.jsonl files, or one of them"

    def _read(self, file: str) -> Iterator[ImportedDocument | SkippedPart]:
        return _session(self._tree, file, CODEX, _codex_turn)


def _session(
    tree: FileTree, file: str, source: str, read_turn: Callable[[Mapping[str, Any], _Session], Item | None]
) -> Iterator[ImportedDocument | SkippedPart]:
    """One file as one conversation; lines that are no JSON are told, the last one is perhaps still being written."""
    session = _Session()
    items: list[Item] = []
    shown = tree.shown(file)
    with tree.open_text(file) as text:
        for _, entry in stream_lines(text, shown):
            if isinstance(entry, InvalidInput):
                yield SkippedPart(path=entry.field, reason=f"not {entry.expected}")
                continue
            item = read_turn(as_object(entry), session)
            if item is not None:
                items.append(item)
    if not items:
        yield SkippedPart(path=shown, reason="no words of the user or the assistant")
        return
    own_id = session.id or Path(file).stem
    metadata = {"source": source, "project": session.project, "branch": session.branch}
    metadata = {key: value for key, value in metadata.items() if value}
    yield ImportedDocument(
        id=as_id(source, own_id),
        items=tuple(replace(item, title=session.title, metadata=metadata) for item in items),
        scope=Path(session.project.replace("\\", "/")).name,
    )


def _claude_code_turn(entry: Mapping[str, Any], session: _Session) -> Item | None:
    """Return a line as a turn; None for what is no talk: meta lines, side chains, summaries, tools, attachments."""
    if entry.get("type") == "summary":
        session.title = session.title or as_text(entry.get("summary"))
    session.id = session.id or as_text(entry.get("sessionId"))
    session.project = session.project or as_text(entry.get("cwd"))
    session.branch = session.branch or as_text(entry.get("gitBranch"))
    role = as_text(entry.get("type"))
    if role not in _ROLES or any(
        entry.get(flag) for flag in ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")
    ):
        return None
    message = as_object(entry.get("message"))
    return _turn(message.get("content"), role, ("text",), entry.get("timestamp"))


def _codex_turn(entry: Mapping[str, Any], session: _Session) -> Item | None:
    """Return a line as a turn; None for reasoning, tools, events and the context that Codex injects."""
    payload = as_object(entry.get("payload"))
    if entry.get("type") == "session_meta":
        session.id = session.id or as_text(payload.get("id"))
        session.project = session.project or as_text(payload.get("cwd"))
        session.branch = session.branch or as_text(as_object(payload.get("git")).get("branch"))
        return None
    role = as_text(payload.get("role"))
    if entry.get("type") != "response_item" or payload.get("type") != "message" or role not in _ROLES:
        return None
    kinds = ("input_text", "output_text", "text")
    return _turn(payload.get("content"), role, kinds, entry.get("timestamp"))


def _turn(content: object, role: str, kinds: tuple[str, ...], when: object) -> Item | None:
    texts = [content] if isinstance(content, str) else _blocks(content, kinds)
    said = [_REMINDER.sub("", text) for text in texts if role != "user" or not _MACHINE_MADE.match(text)]
    words = strip_fenced("\n".join(text for text in said if text.strip()))
    return turn(words, speaker=role, role=role, said_at=as_moment(when))


def _blocks(content: object, kinds: tuple[str, ...]) -> list[str]:
    blocks = [as_object(block) for block in as_list(content)]
    return [as_text(block.get("text")) for block in blocks if block.get("type") in kinds]


def detect_claude_code(tree: FileTree) -> bool:
    """Whether a file, or the first one of the folder, is a session of Claude Code."""
    files = tree.names("*.jsonl")
    return bool(files) and '"sessionId"' in tree.head(files[0], 65_536)


def detect_codex(tree: FileTree) -> bool:
    """Whether it is a session of Codex, or a folder of them."""
    files = tree.names("*.jsonl") if tree.is_file else tree.names("rollout-*.jsonl")
    return bool(files) and ('"session_meta"' in (head := tree.head(files[0])) or '"response_item"' in head)
