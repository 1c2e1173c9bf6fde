"""The sources by name, and which of them a path is."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from perdure.contrib.imports.files import FileTree
from perdure.errors import InvalidInput
from perdure.ports.import_source import ChatReading, ImportSource

AUTO = "auto"
HINDSIGHT = "hindsight"


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A source: its name, where its reader is written, and what it reads."""

    name: str
    reader: str
    """module:class in this package; the class takes a path."""
    detect: str
    """module:function that tells whether a file tree is of this kind."""
    summary: str

    def open(self, path: Path) -> ImportSource:
        source: ImportSource = _load(self.reader)(path)
        return source

    def matches(self, tree: FileTree) -> bool:
        return bool(_load(self.detect)(tree))


def _load(target: str) -> Any:
    module, attribute = target.split(":")
    return getattr(import_module(f"perdure.contrib.imports.{module}"), attribute)


SOURCES = (
    SourceKind("hindsight", "hindsight:HindsightArchive", "hindsight:detect", "A bank of Hindsight: its transfer archive, or http://HOST:PORT/banks/NAME"),
    SourceKind("chatgpt", "chatgpt:ChatGptExport", "chatgpt:detect", "ChatGPT's data export (ZIP, folder or conversations.json)"),
    SourceKind("claude", "claude:ClaudeExport", "claude:detect", "Claude's data export (ZIP, folder or conversations.json)"),
    SourceKind("claude-code", "transcripts:ClaudeCodeTranscripts", "transcripts:detect_claude_code", "Claude Code's sessions (~/.claude/projects)"),
    SourceKind("codex", "transcripts:CodexTranscripts", "transcripts:detect_codex", "Codex's sessions (~/.codex/sessions)"),
    SourceKind("slack", "messengers:SlackExport", "messengers:detect_slack", "Slack's workspace export"),
    SourceKind("server-memory", "server_memory:ServerMemory", "server_memory:detect", "memory.jsonl of MCP's server-memory"),
    SourceKind("mempalace", "mempalace:MemPalace", "mempalace:detect", "A palace (~/.mempalace) or its export"),
    SourceKind("letta", "letta:LettaAgents", "letta:detect", "Letta's agent files (*.af)"),
    SourceKind("mem0", "mem0:Mem0", "mem0:detect", "Mem0's get_all or platform export as JSON, history.db"),
    SourceKind("graphiti", "graphiti:GraphitiDump", "graphiti:detect", "A graph of Graphiti or Zep dumped as JSON"),
    SourceKind("mbox", "mbox:MboxMail", "mbox:detect", "Mail in mbox files"),
    SourceKind("whatsapp", "messengers:WhatsAppChat", "messengers:detect_whatsapp", "A WhatsApp chat's export (text or ZIP)"),
    SourceKind("obsidian", "notes:open_obsidian", "notes:detect_obsidian", "An Obsidian vault"),
    SourceKind("basic-memory", "notes:BasicMemory", "notes:detect_basic_memory", "A knowledge base of Basic Memory"),
    SourceKind("markdown", "notes:open_markdown", "notes:detect_markdown", "A folder of Markdown files"),
)  # fmt: skip
"""In the order in which `auto` tries them."""
NAMES = tuple(source.name for source in SOURCES)


def open_source(path: str | Path, name: str = AUTO, *, key: str = "") -> ImportSource:
    """Return the source at a path, of a kind by name or found out; `key` is for a server's address.

    InvalidInput when there is no such kind, or when nothing tells which one it is.
    """
    if str(path).startswith(("http://", "https://")):
        if name not in (AUTO, HINDSIGHT):
            raise InvalidInput("path", f"a file or folder; only {HINDSIGHT} is read from a server", str(path))
        served: ImportSource = _load("hindsight_server:HindsightServer")(str(path), key)
        return served
    where = Path(path).expanduser()
    kind = _kind_of(where) if name == AUTO else next(source for source in SOURCES if source.name == name)
    return kind.open(where)


def detect(path: str | Path) -> str | None:
    """Return the name of the source at a path; None when nothing tells."""
    tree = FileTree(Path(path).expanduser())
    try:
        return next((source.name for source in SOURCES if source.matches(tree)), None)
    finally:
        tree.close()


def _kind_of(path: Path) -> SourceKind:
    name = detect(path)
    if name is None:
        expected = "a source that can be told by its files (texts in UTF-8); or name it: " + ", ".join(NAMES)
        raise InvalidInput(str(path), expected)
    return next(source for source in SOURCES if source.name == name)


def read_chats(text: str, name: str, document_id: str | None = None) -> list[ChatReading]:
    """Read the conversations of a chat export in JSON."""
    from perdure.contrib.imports import chats

    return chats.read_chats(text, name, document_id)
