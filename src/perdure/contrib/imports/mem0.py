"""Mem0: the answer of `get_all` or a platform export as JSON, and `history.db`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from perdure.contrib.imports.files import FileTree, open_database, tables_of
from perdure.contrib.imports.json_stream import stream_members
from perdure.contrib.imports.values import (
    as_id,
    as_metadata,
    as_moment,
    as_object,
    as_tags,
    as_text,
    as_texts,
    turn,
)
from perdure.domain.fact import FactType
from perdure.domain.imported import ImportedDocument, ImportedFact, SkippedPart
from perdure.domain.item import Item
from perdure.domain.time import Window
from perdure.errors import InvalidInput

NAME = "mem0"
_LISTS = ("", "results", "memories", "data")
"""Keys under which a file has its memories; empty for a file that is a list of them."""
_OWN_FIELDS = (
    "id", "memory", "text", "data", "hash", "metadata", "created_at", "updated_at", "role", "actor_id", "categories",
    "expiration_date", "score", "embedding", "user_id", "agent_id", "run_id", "app_id",
)  # fmt: skip
_OWNERS = ("user_id", "agent_id", "run_id", "app_id")
_VERSIONS = """
select old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role from history
where memory_id = ? order by coalesce(updated_at, created_at), rowid
"""


@dataclass(frozen=True, slots=True)
class _Version:
    """What a memory said, from when, until when."""

    text: str
    start: datetime | None
    end: datetime | None = None


class Mem0:
    """A JSON file, `history.db`, or a folder that has either or both; a fact per memory, its earlier wordings with their ends."""

    name = NAME

    def __init__(self, path: Path) -> None:
        self._tree = FileTree(path)
        names = [path.name] if self._tree.is_file else self._tree.names("*.json", "history.db")
        self._history = next((self._tree.real_path(name) for name in names if self._is_history(name)), None)
        self._files = [name for name in names if name.endswith(".json")]
        if self._history is None and not self._files:
            raise InvalidInput(str(path), "a JSON file of mem0's memories, or history.db")

    def _is_history(self, name: str) -> bool:
        return not name.endswith(".json") and "memory_id" in tables_of(self._tree.real_path(name)).get(
            "history", ()
        )

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        with ExitStack() as stack:
            database = stack.enter_context(open_database(self._history)) if self._history else None
            seen: set[str] = set()
            for file in self._files:
                shown = self._tree.shown(file)
                with self._tree.open_text(file) as text:
                    for member in stream_members(text, shown):
                        if member.key in _LISTS and member.number >= 0:
                            where = f"{shown}, memory {member.number + 1}"
                            memory = as_object(member.value)
                            seen.add(as_text(str(memory.get("id"))))
                            yield _document(memory, where, database)
            if database is not None:
                assert self._history is not None
                yield from _from_history(database, self._history, seen)

    def close(self) -> None:
        self._tree.close()


def _document(
    memory: Mapping[str, Any], where: str, database: sqlite3.Connection | None
) -> ImportedDocument | SkippedPart:
    own_id = as_text(str(memory.get("id") or ""))
    text = as_text(memory.get("memory") or memory.get("text") or memory.get("data")).strip()
    if not own_id or not text:
        return SkippedPart(path=where, reason="not a memory with an id and a text")
    created, updated = as_moment(memory.get("created_at")), as_moment(memory.get("updated_at"))
    versions = (_versions(database, own_id) if database is not None else None) or []
    if not versions or versions[-1].text != text:
        started = updated or created
        versions = [*_ended(versions, started), _Version(text, started)]
    owners = {key: as_text(str(memory[key])) for key in _OWNERS if memory.get(key)}
    tags = [f"{key.removesuffix('_id')}:{name}" for key, name in owners.items()]
    tags += as_texts(memory.get("categories"))
    metadata = {
        "source": NAME,
        **as_metadata(as_object(memory.get("metadata"))),
        **as_metadata(memory, without=_OWN_FIELDS),
    }
    expires = as_moment(memory.get("expiration_date"))
    return _memory_document(
        own_id,
        versions,
        speaker=as_text(memory.get("actor_id")),
        role=as_text(memory.get("role")),
        tags=as_tags(tags),
        metadata=metadata,
        # A memory expires after its day.
        expires_at=expires + timedelta(days=1) if expires is not None else None,
        scope=next(iter(owners.values()), ""),
    )


def _memory_document(
    own_id: str,
    versions: Sequence[_Version],
    *,
    speaker: str,
    role: str,
    tags: frozenset[str],
    metadata: Mapping[str, str],
    expires_at: datetime | None = None,
    scope: str = "",
) -> ImportedDocument:
    said_as = role if role in ("user", "assistant") else ""
    items: list[Item] = []
    facts = []
    for version in versions:
        item = turn(
            version.text, speaker=speaker, role=said_as, said_at=version.start, tags=tags, metadata=metadata
        )
        if item is None:
            continue
        window = Window(version.start, version.end) if version.end is not None else None
        facts.append(
            ImportedFact(
                text=item.content.strip(),
                item=len(items),
                type=FactType.EXPERIENCE if said_as == "assistant" else FactType.WORLD,
                said_at=version.start,
                speaker=item.speaker,
                valid=window,
                expires_at=expires_at,
            )
        )
        items.append(item)
    return ImportedDocument(id=as_id(NAME, own_id), items=tuple(items), facts=tuple(facts), scope=scope)


def _versions(database: sqlite3.Connection, memory_id: str) -> list[_Version] | None:
    """Return what the history says of a memory, oldest first; None when it was deleted."""
    versions: list[_Version] = []
    for row in database.execute(_VERSIONS, (memory_id,)):
        if row["event"] == "DELETE" or row["is_deleted"]:
            return None
        changed = as_moment(row["updated_at"]) if row["event"] == "UPDATE" else None
        when = changed or as_moment(row["created_at"])
        if not versions and row["event"] == "UPDATE" and as_text(row["old_memory"]).strip():
            versions.append(_Version(as_text(row["old_memory"]).strip(), as_moment(row["created_at"])))
        text = as_text(row["new_memory"]).strip()
        if text and not (versions and versions[-1].text == text):
            versions = [*_ended(versions, when), _Version(text, when)]
    return versions


def _ended(versions: Sequence[_Version], when: datetime | None) -> list[_Version]:
    """Return the versions with the last one ended; without a time when, or with one before its start, its end is its start."""
    if not versions:
        return []
    last = versions[-1]
    end = when if when is not None and (last.start is None or when >= last.start) else last.start
    return [*versions[:-1], _Version(last.text, last.start, end)]


def _from_history(
    database: sqlite3.Connection, path: Path, seen: set[str]
) -> Iterator[ImportedDocument | SkippedPart]:
    """Memories that only the history has; it tells nobody's name, and keeps what was deleted, which stays deleted."""
    ids = [
        row[0]
        for row in database.execute("select memory_id from history group by memory_id order by min(rowid)")
    ]
    for memory_id in ids:
        if memory_id in seen:
            continue
        versions = _versions(database, memory_id)
        if versions is None:
            yield SkippedPart(path=f"{path}, memory {memory_id}", reason="deleted in mem0")
        elif versions:
            row = database.execute(
                "select actor_id, role from history where memory_id = ? order by rowid desc", (memory_id,)
            ).fetchone()
            yield _memory_document(
                memory_id, versions, speaker=as_text(row["actor_id"]), role=as_text(row["role"]), tags=frozenset(),
                metadata={"source": NAME},
            )  # fmt: skip
    tables = tables_of(path)
    if "messages" in tables and (count := database.execute("select count(*) from messages").fetchone()[0]):
        reason = f"{count:,} messages, from which mem0 drew its memories"
        yield SkippedPart(path=f"{path}, table messages", reason=reason)


def detect(tree: FileTree) -> bool:
    """Whether it is `history.db` of mem0, or a JSON file of memories."""
    names = [tree.path.name] if tree.is_file else tree.names("*.json", "history.db")
    if len(names) > 20:
        return False
    return any(_is_of_mem0(tree, name) for name in names)


def _is_of_mem0(tree: FileTree, name: str) -> bool:
    if not name.endswith(".json"):
        return not tree.is_archive and "memory_id" in tables_of(tree.real_path(name)).get("history", ())
    head = tree.head(name, 65_536)
    return '"memory"' in head and ('"hash"' in head or '"user_id"' in head or '"created_at"' in head)
