"""ChatGPT's export: `conversations.json`, or `conversations-000.json` and so on, in a ZIP archive or unpacked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from perdure.contrib.imports.files import FileTree
from perdure.contrib.imports.json_stream import stream_members
from perdure.contrib.imports.values import as_id, as_list, as_moment, as_object, as_text, turn
from perdure.domain.imported import ImportedDocument, SkippedPart
from perdure.errors import InvalidInput

NAME = "chatgpt"
FILES = ("conversations.json", "conversations-*.json")
_SPOKEN_TYPES = frozenset({"text", "multimodal_text"})
_SPEAKERS = {"user": "user", "assistant": "assistant"}


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message that somebody wrote or read."""

    role: str
    text: str
    said_at: datetime | None


def spoken_messages(conversation: Mapping[str, Any]) -> list[Spoken]:
    """Return what was said on the way from the first message to the one that is shown last.

    A conversation is a tree: an edited question or a second answer is a branch, and only the branch of `current_node` is
    what the user saw. Hidden messages, system prompts, tool calls and their output are not part of it.
    """
    spoken = []
    for message in _shown_path(conversation):
        role = as_text(as_object(message.get("author")).get("role"))
        text = _text(message)
        if role in _SPEAKERS and text.strip() and not _is_hidden(message):
            spoken.append(Spoken(role, text, as_moment(message.get("create_time"))))
    return spoken


def _shown_path(conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    nodes = conversation.get("mapping")
    if not isinstance(nodes, Mapping):
        raise InvalidInput("mapping", "an object of nodes", nodes)
    current = conversation.get("current_node")
    if current not in nodes:
        leaves = [key for key, node in nodes.items() if not as_list(as_object(node).get("children"))]
        current = leaves[-1] if leaves else None
    path: list[Mapping[str, Any]] = []
    passed: set[str] = set()
    while isinstance(current, str) and current in nodes and current not in passed:
        passed.add(current)
        node = as_object(nodes[current])
        if node.get("message"):
            path.append(as_object(node["message"]))
        current = node.get("parent")
    return path[::-1]


def _is_hidden(message: Mapping[str, Any]) -> bool:
    """Whether the user never saw it as a message: marked as hidden, of no weight, or said to a tool."""
    metadata = as_object(message.get("metadata"))
    return (
        bool(metadata.get("is_visually_hidden_from_conversation"))
        or message.get("weight") == 0
        or message.get("recipient") not in (None, "", "all")
    )


def _text(message: Mapping[str, Any]) -> str:
    """Return the strings among the parts, and the words of voice messages; pictures and files have none."""
    content = as_object(message.get("content"))
    if content.get("content_type", "text") not in _SPOKEN_TYPES:
        return ""
    return "\n".join(text for part in as_list(content.get("parts")) if (text := _part(part)).strip())


def _part(part: object) -> str:
    if isinstance(part, str):
        return as_text(part)
    body = as_object(part)
    return as_text(body.get("text")) if body.get("content_type") == "audio_transcription" else ""


def conversation_id(conversation: Mapping[str, Any]) -> str:
    return as_text(conversation.get("conversation_id")) or as_text(conversation.get("id"))


class ChatGptExport:
    """The conversations of an export, one in memory at a time."""

    name = NAME

    def __init__(self, path: Path) -> None:
        self._tree = FileTree(path)
        self._files = [path.name] if self._tree.is_file else self._tree.names(*FILES)
        if not self._files:
            raise InvalidInput(str(path), "a ChatGPT export with conversations.json")

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        for file in self._files:
            shown = self._tree.shown(file)
            with self._tree.open_text(file) as text:
                for member in stream_members(text, shown):
                    if not member.key:
                        yield _document(as_object(member.value), f"{shown}, conversation {member.number + 1}")

    def close(self) -> None:
        self._tree.close()


def _document(conversation: Mapping[str, Any], where: str) -> ImportedDocument | SkippedPart:
    own_id = conversation_id(conversation)
    if not own_id:
        return SkippedPart(path=where, reason="a conversation without an id")
    try:
        spoken = spoken_messages(conversation)
    except InvalidInput as error:
        return SkippedPart(path=where, reason=str(error))
    title = as_text(conversation.get("title"))
    if not spoken:
        return SkippedPart(path=f"{where} ({title or own_id})", reason="nothing that somebody said")
    return ImportedDocument(id=as_id(NAME, own_id), items=_items(conversation, spoken, title))


def _items(conversation: Mapping[str, Any], spoken: Sequence[Spoken], title: str) -> tuple[Any, ...]:
    began = as_moment(conversation.get("create_time"))
    metadata = {"source": NAME}
    model = as_text(conversation.get("default_model_slug"))
    if model:
        metadata["model"] = model
    last = began
    items = []
    for one in spoken:
        # An answer without a time was given after what it answers.
        last = one.said_at or last
        items.append(
            turn(one.text, speaker=one.role, role=one.role, said_at=last, title=title, metadata=metadata)
        )
    return tuple(item for item in items if item is not None)


def detect(tree: FileTree) -> bool:
    """Whether it looks like an export of ChatGPT."""
    files = [tree.path.name] if tree.is_file else tree.names(*FILES)
    if not files or (tree.is_file and tree.path.suffix != ".json"):
        return False
    return '"mapping"' in tree.head(files[0], 65_536)
