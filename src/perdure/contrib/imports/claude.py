"""Claude's export: `conversations.json`, and where it has them `projects.json` and `memories.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from perdure.contrib.imports.files import FileTree
from perdure.contrib.imports.json_stream import stream_members
from perdure.contrib.imports.values import as_id, as_list, as_moment, as_object, as_text, turn
from perdure.domain.imported import ImportedDocument, SkippedPart
from perdure.domain.item import Item
from perdure.errors import InvalidInput

NAME = "claude"
CONVERSATIONS, PROJECTS, MEMORIES = "conversations.json", "projects.json", "memories.json"
_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def message_text(message: Mapping[str, Any]) -> str:
    """Return what a message says; where `text` is empty, the text blocks of `content`, without thinking and tools."""
    blocks = [
        as_text(as_object(block).get("text"))
        for block in as_list(message.get("content"))
        if as_object(block).get("type") == "text"
    ]
    joined = "\n".join(block for block in blocks if block.strip())
    # `text` of newer exports repeats the blocks, with a placeholder for each tool call.
    return joined or as_text(message.get("text"))


def attached_texts(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(file name, text) of what was attached, as Claude had read it."""
    attached = [as_object(one) for one in as_list(message.get("attachments"))]
    return [
        (as_text(one.get("file_name")), text)
        for one in attached
        if (text := as_text(one.get("extracted_content"))).strip()
    ]


class ClaudeExport:
    """Conversations, the documents of projects, and what Claude remembered."""

    name = NAME

    def __init__(self, path: Path) -> None:
        self._tree = FileTree(path)
        if self._tree.is_file:
            self._files = {path.name: CONVERSATIONS if path.name not in (PROJECTS, MEMORIES) else path.name}
        else:
            names = self._tree.names(CONVERSATIONS, PROJECTS, MEMORIES)
            self._files = {name: name.rsplit("/", 1)[-1] for name in names}
        if not self._files:
            raise InvalidInput(str(path), "a Claude export with conversations.json")

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        readers = {CONVERSATIONS: _conversation, PROJECTS: _project, MEMORIES: _memories}
        for file, kind in self._files.items():
            shown = self._tree.shown(file)
            with self._tree.open_text(file) as text:
                alone: dict[str, Any] = {}
                for member in stream_members(text, shown):
                    if member.key:  # a single object: some exports have memories.json without its array
                        alone[member.key] = member.value
                    else:
                        yield from readers[kind](
                            as_object(member.value), f"{shown}, entry {member.number + 1}"
                        )
                if alone:
                    yield from readers[kind](alone, shown)

    def close(self) -> None:
        self._tree.close()


def _conversation(value: Mapping[str, Any], where: str) -> Iterator[ImportedDocument | SkippedPart]:
    own_id = as_text(value.get("uuid"))
    messages = value.get("chat_messages")
    if not own_id or not isinstance(messages, list):
        yield SkippedPart(path=where, reason="no conversation with a uuid and chat_messages")
        return
    title = as_text(value.get("name"))
    began = as_moment(value.get("created_at"))
    items: list[Item | None] = []
    for message in map(as_object, messages):
        role = _ROLES.get(as_text(message.get("sender")), "")
        if not role:
            continue
        said_at = as_moment(message.get("created_at")) or began
        source = {"source": NAME}
        items.append(
            turn(
                message_text(message), speaker=role, role=role, said_at=said_at, title=title, metadata=source
            )
        )
        for file, text in attached_texts(message):
            context = f"attached file {file}" if file else "attached file"
            items.append(turn(text, said_at=said_at, title=title, context=context, metadata=source))
    spoken = tuple(item for item in items if item is not None)
    if spoken:
        project = as_text(as_object(value.get("project")).get("uuid"))
        yield ImportedDocument(id=as_id(NAME, own_id), items=spoken, scope=project)
    else:
        yield SkippedPart(path=f"{where} ({title or own_id})", reason="nothing that somebody said")


def _project(value: Mapping[str, Any], where: str) -> Iterator[ImportedDocument | SkippedPart]:
    own_id, name = as_text(value.get("uuid")), as_text(value.get("name"))
    if not own_id:
        yield SkippedPart(path=where, reason="a project without a uuid")
        return
    began = as_moment(value.get("created_at"))
    texts = [("prompt", "instructions of the project", value.get("prompt_template"), began)]
    texts.append(("description", "description of the project", value.get("description"), began))
    for number, doc in enumerate(map(as_object, as_list(value.get("docs")))):
        key = as_text(doc.get("uuid")) or str(number)
        context = f"file {as_text(doc.get('filename'))} of the project"
        texts.append((key, context, doc.get("content"), as_moment(doc.get("created_at")) or began))
    for key, context, content, written_at in texts:
        item = turn(
            as_text(content), said_at=written_at, title=name, context=context, metadata={"source": NAME}
        )
        if item is not None:
            yield ImportedDocument(id=as_id(NAME, "project", own_id, key), items=(item,), scope=own_id)


def _memories(value: Mapping[str, Any], where: str) -> Iterator[ImportedDocument | SkippedPart]:
    """Yield what Claude itself had noted of its user, without any time."""
    account = as_text(value.get("account_uuid")) or "account"
    noted = {"": as_text(value.get("conversations_memory"))}
    for project, text in as_object(value.get("project_memories")).items():
        noted[as_text(project)] = as_text(text)
    for project, text in noted.items():
        item = turn(text, context="what Claude remembered", metadata={"source": NAME})
        if item is not None:
            yield ImportedDocument(id=as_id(NAME, "memory", project or account), items=(item,), scope=project)


def detect(tree: FileTree) -> bool:
    """Whether it looks like an export of Claude."""
    if tree.is_file:
        return tree.path.suffix == ".json" and (
            '"chat_messages"' in tree.head(tree.path.name, 65_536)
            or '"conversations_memory"' in tree.head(tree.path.name, 65_536)
        )
    files = tree.names(CONVERSATIONS)
    return bool(files) and '"chat_messages"' in tree.head(files[0], 65_536)
