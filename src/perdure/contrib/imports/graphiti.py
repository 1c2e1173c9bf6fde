"""Graphiti and Zep: a dump of the graph as JSON, `{"episodes": [...], "nodes": [...], "edges": [...]}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from perdure.contrib.imports.files import FileSource, FileTree
from perdure.contrib.imports.json_stream import Member, stream_members
from perdure.contrib.imports.server_memory import entity_type
from perdure.contrib.imports.values import as_id, as_metadata, as_moment, as_object, as_text, as_texts, turn
from perdure.domain.imported import ImportedDocument, ImportedFact, SkippedPart
from perdure.domain.item import Item
from perdure.domain.time import Window

NAME = "graphiti"
_EPISODES = frozenset({"episodes", "episodic_nodes"})
_NODES = frozenset({"nodes", "entities", "entity_nodes"})
_EDGES = frozenset({"edges", "facts", "entity_edges", "relationships"})
_OWN_FIELDS = (
    "uuid", "name", "group_id", "content", "source", "source_description", "valid_at", "created_at", "fact", "fact_embedding",
    "name_embedding", "episodes", "expired_at", "invalid_at", "source_node_uuid", "target_node_uuid", "attributes", "labels",
    "entity_edges", "reference_time",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Edge:
    uuid: str
    group: str
    episode: str
    fact: ImportedFact


class GraphitiDump(FileSource):
    """An episode is a document with the edges drawn from it as facts; an edge without an episode is one by itself."""

    name = NAME
    globs = ("*.json",)
    expected = "a JSON dump of the graph"

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        nodes: dict[str, tuple[str, str]] = {}
        episodes: dict[str, datetime | None] = {}
        for member in self._members(_NODES | _EPISODES):
            value = as_object(member.value)
            uuid = as_text(value.get("uuid"))
            if member.key in _NODES:
                nodes[uuid] = (as_text(value.get("name")).strip(), _kind(value))
            else:
                episodes[uuid] = as_moment(value.get("valid_at"))
        edges: dict[str, list[_Edge]] = {}
        alone: list[_Edge] = []
        for member in self._members(_EDGES):
            where = f"{self._tree.path}, {member.key}[{member.number}]"
            edge = _edge(as_object(member.value), nodes, episodes, where)
            if isinstance(edge, SkippedPart):
                yield edge
            elif edge.episode:
                edges.setdefault(edge.episode, []).append(edge)
            else:
                alone.append(edge)
        for member in self._members(_EPISODES):
            where = f"{self._tree.path}, {member.key}[{member.number}]"
            value = as_object(member.value)
            yield _episode(value, edges.get(as_text(value.get("uuid")), []), where)
        for edge in alone:
            item = turn(edge.fact.text, said_at=edge.fact.said_at, metadata=edge.fact.metadata)
            if item is not None:
                document_id = as_id(NAME, "edge", edge.uuid)
                yield ImportedDocument(id=document_id, items=(item,), facts=(edge.fact,), scope=edge.group)

    def _members(self, keys: frozenset[str]) -> Iterator[Member]:
        for file in self._files:
            with self._tree.open_text(file) as text:
                for member in stream_members(text, self._tree.shown(file)):
                    if member.key in keys and member.number >= 0:
                        yield member


def _kind(node: Mapping[str, Any]) -> str:
    kinds = [entity_type(label) for label in as_texts(node.get("labels")) if label != "Entity"]
    return next((kind for kind in kinds if kind != "concept"), "concept")


def _episode(value: Mapping[str, Any], edges: list[_Edge], where: str) -> ImportedDocument | SkippedPart:
    uuid = as_text(value.get("uuid"))
    metadata = {
        "source": NAME,
        **as_metadata(as_object(value.get("episode_metadata"))),
        **as_metadata({"episode": value.get("name"), "form": value.get("source")}),
    }
    item = turn(
        as_text(value.get("content")),
        said_at=as_moment(value.get("valid_at")),
        context=as_text(value.get("source_description")),
        metadata=metadata,
    )
    if not uuid or (item is None and not edges):
        return SkippedPart(path=where, reason="an episode without a uuid or content")
    facts = [edge.fact for edge in edges]
    items: tuple[Item, ...] = (item,) if item is not None else ()
    if not items:  # episodes may be stored without their content
        own = (turn(fact.text, said_at=fact.said_at) for fact in facts)
        items = tuple(one for one in own if one is not None)
        facts = [replace(fact, item=number) for number, fact in enumerate(facts)]
    return ImportedDocument(
        id=as_id(NAME, uuid), items=items, facts=tuple(facts), scope=as_text(value.get("group_id"))
    )


def _edge(
    value: Mapping[str, Any],
    nodes: Mapping[str, tuple[str, str]],
    episodes: Mapping[str, datetime | None],
    where: str,
) -> _Edge | SkippedPart:
    uuid, text = as_text(value.get("uuid")), as_text(value.get("fact")).strip()
    if not uuid or not text:
        return SkippedPart(path=where, reason="an edge without a uuid or a fact")
    subject, subject_type = nodes.get(as_text(value.get("source_node_uuid")), ("", ""))
    target, target_type = nodes.get(as_text(value.get("target_node_uuid")), ("", ""))
    episode = next((one for one in as_texts(value.get("episodes")) if one in episodes), "")
    said_at = (
        episodes.get(episode) or as_moment(value.get("reference_time")) or as_moment(value.get("created_at"))
    )
    start = as_moment(value.get("valid_at"))
    # An edge that another one took back has `expired_at`; where that one gave no date, it ended when it was taken back.
    end = as_moment(value.get("invalid_at")) or as_moment(value.get("expired_at"))
    if start is not None and end is not None and end < start:
        end = start
    relation = as_text(value.get("name")).strip().casefold().replace(" ", "_")
    named = bool(subject and target and relation)
    metadata = {
        "source": NAME,
        **as_metadata(as_object(value.get("attributes"))),
        **as_metadata({"recorded": value.get("created_at"), "expired": value.get("expired_at")}),
        **as_metadata(value, without=_OWN_FIELDS),
    }
    fact = ImportedFact(
        text=text,
        subject=subject if named else "",
        relation=relation if named else "",
        object=target if named else "",
        said_at=said_at,
        valid=Window(start, end) if start is not None or end is not None else None,
        entities=tuple(
            (name, kind) for name, kind in ((subject, subject_type), (target, target_type)) if name
        ),
        metadata=metadata,
    )
    return _Edge(uuid, as_text(value.get("group_id")), episode, fact)


def detect(tree: FileTree) -> bool:
    """Whether it is a JSON object with edges that state facts."""
    files = [tree.path.name] if tree.is_file else tree.names("*.json")
    if len(files) != 1 or not files[0].endswith(".json"):
        return False
    head = tree.head(files[0], 1 << 20)
    return head.lstrip().startswith("{") and any(
        f'"{key}"' in head for key in ("source_node_uuid", "source_description", "group_id")
    )
