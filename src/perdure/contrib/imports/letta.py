"""Letta's agent files (`.af`): memory blocks, messages, archival memory and files of agents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from perdure.contrib.imports.files import FileSource, FileTree
from perdure.contrib.imports.json_stream import stream_members
from perdure.contrib.imports.values import as_id, as_list, as_moment, as_object, as_text, turn
from perdure.domain.imported import ImportedDocument, SkippedPart
from perdure.domain.item import Item
from perdure.errors import InvalidInput

NAME = "letta"
SUFFIX = ".af"
_ANSWERS = frozenset({"send_message"})


class LettaAgents(FileSource):
    """The agents of a file."""

    name = NAME
    globs = (f"*{SUFFIX}",)
    expected = f"an agent file (*{SUFFIX})"

    def _read(self, file: str) -> Iterator[ImportedDocument | SkippedPart]:
        shown = self._tree.shown(file)
        blocks: dict[str, Mapping[str, Any]] = {}
        agents: list[Mapping[str, Any]] = []
        files: list[Mapping[str, Any]] = []
        with self._tree.open_text(file) as text:
            for member in stream_members(text, shown):
                value = as_object(member.value)
                if member.key == "blocks":
                    blocks[as_text(value.get("id"))] = value
                elif member.key == "agents":
                    agents.append(value)
                elif member.key == "files":
                    files.append(value)
        if not agents:
            raise InvalidInput(shown, "an agent file with agents")
        for agent in agents:
            yield from _agent(agent, blocks, shown)
        for one in files:
            name = as_text(one.get("original_file_name")) or as_text(one.get("file_name"))
            item = turn(as_text(one.get("content")), title=name, metadata={"source": NAME})
            if item is None:
                yield SkippedPart(
                    path=f"{shown}, file {name}", reason="a file whose content is not in the agent file"
                )
            else:
                yield ImportedDocument(id=as_id(NAME, "file", name or one.get("id")), items=(item,))


def _agent(
    agent: Mapping[str, Any], blocks: Mapping[str, Mapping[str, Any]], where: str
) -> Iterator[ImportedDocument | SkippedPart]:
    # Ids in agent files are numbered anew in each ("agent-0"); the name says which agent it is.
    name = as_text(agent.get("name")) or as_text(agent.get("id")) or Path(where).stem
    metadata = {"source": NAME, "agent": name}
    own = [blocks[one] for one in as_list(agent.get("block_ids")) if one in blocks]
    for block in own:
        label = as_text(block.get("label"))
        item = turn(
            as_text(block.get("value")),
            context=as_text(block.get("description")) or f"memory block {label}",
            metadata={**metadata, "block": label},
        )
        if item is not None:
            yield ImportedDocument(id=as_id(NAME, name, "block", label), items=(item,), scope=name)
    for number, passage in enumerate(map(as_object, as_list(agent.get("archival_memory")))):
        item = turn(
            as_text(passage.get("text")), said_at=as_moment(passage.get("created_at")), metadata=metadata
        )
        if item is not None:
            key = as_text(passage.get("id")) or str(number)
            yield ImportedDocument(id=as_id(NAME, name, "archival", key), items=(item,), scope=name)
    spoken = [_message(as_object(message), metadata) for message in as_list(agent.get("messages"))]
    items = tuple(item for item in spoken if item is not None)
    if items:
        yield ImportedDocument(id=as_id(NAME, name), items=items, scope=name)
    else:
        yield SkippedPart(path=f"{where}, agent {name}", reason="no words of the user or the agent")


def _message(message: Mapping[str, Any], metadata: Mapping[str, str]) -> Item | None:
    """Return a message as a turn; system prompts, tool output, heartbeats and inner thoughts are none."""
    role = as_text(message.get("role"))
    if role == "user":
        text = _user_words(_text(message.get("content")) or as_text(message.get("text")))
    elif role == "assistant":
        text = _answer(message)
    else:
        return None
    speaker = as_text(message.get("name")) if role == "user" else ""
    return turn(
        text,
        speaker=speaker or role,
        role=role,
        said_at=as_moment(message.get("created_at")),
        metadata=metadata,
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return as_text(content)
    blocks = [as_object(block) for block in as_list(content)]
    return "\n".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text")


def _user_words(text: str) -> str:
    """Return the user's words in the envelope that older servers put around them; an event such as a login has none."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        envelope = as_object(json.loads(text))
    except (ValueError, RecursionError):
        return text
    if "type" not in envelope:
        return text
    return as_text(envelope.get("message")) if envelope["type"] == "user_message" else ""


def _answer(message: Mapping[str, Any]) -> str:
    """Return what the agent said: where it answers by a tool, the tool's argument, as the content is a thought then."""
    calls = [as_object(as_object(call).get("function")) for call in as_list(message.get("tool_calls"))]
    said = []
    for call in calls:
        if as_text(call.get("name")) not in _ANSWERS:
            continue
        try:
            said.append(as_text(as_object(json.loads(as_text(call.get("arguments")) or "{}")).get("message")))
        except (ValueError, RecursionError):
            continue
    if said or calls:
        return "\n".join(said)
    return _text(message.get("content")) or as_text(message.get("text"))


def detect(tree: FileTree) -> bool:
    """Whether it is an agent file, by its suffix or its keys."""
    files = [tree.path.name] if tree.is_file else tree.names(f"*{SUFFIX}")
    if not files:
        return False
    if files[0].endswith(SUFFIX):
        return True
    head = tree.head(files[0], 65_536) if files[0].endswith(".json") else ""
    return head.lstrip().startswith("{") and '"agents"' in head and '"block_ids"' in head
