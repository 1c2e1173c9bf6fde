"""The knowledge graph of `@modelcontextprotocol/server-memory`: a file of JSON lines, entities and relations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from perdure.contrib.imports.files import FileSource, FileTree
from perdure.contrib.imports.json_stream import stream_lines
from perdure.contrib.imports.values import as_id, as_list, as_object, as_text, turn
from perdure.domain.imported import ImportedDocument, ImportedFact, SkippedPart
from perdure.errors import InvalidInput

NAME = "server-memory"


class ServerMemory(FileSource):
    """An entity's observations and the relations from it are a document; the file holds no times."""

    name = NAME
    globs = ("memory.jsonl", "memory.json")
    expected = "memory.jsonl, as server-memory keeps it"

    def _read(self, file: str) -> Iterator[ImportedDocument | SkippedPart]:
        shown = self._tree.shown(file)
        types: dict[str, str] = {}
        relations: list[tuple[str, str, str]] = []
        with self._tree.open_text(file) as text:
            for number, line in stream_lines(text, shown):
                where = f"{shown}, line {number}"
                if isinstance(line, InvalidInput):
                    raise line
                entry = as_object(line)
                kind = entry.get("type")
                name = as_text(entry.get("name") or entry.get("entityName")).strip()
                if kind == "entity" and name:
                    types[name] = as_text(entry.get("entityType"))
                    yield _entity(name, entry, where)
                elif kind == "relation" and (triple := _triple(entry)):
                    relations.append(triple)
                else:
                    expected = "an entity with a name or a relation from one to another"
                    yield SkippedPart(path=where, reason=f"not {expected}")
        yield from _relations(relations, types)


def _plain(name: str) -> str:
    """Return a name as people write it: the server's own examples have `John_Smith`."""
    return name.replace("_", " ").strip() or name


def _entity(name: str, entry: Mapping[str, Any], where: str) -> ImportedDocument | SkippedPart:
    kind = as_text(entry.get("entityType"))
    observations = [as_text(one).strip() for one in as_list(entry.get("observations"))]
    worded = [_worded(name, text) for text in dict.fromkeys(observations) if text]
    if not worded:
        return SkippedPart(path=f"{where} ({name})", reason="an entity without observations")
    metadata = {"source": NAME, **({"entity_type": kind} if kind else {})}
    items = tuple(item for text in worded if (item := turn(text, metadata=metadata)) is not None)
    named = ((_plain(name), entity_type(kind)),)
    facts = tuple(ImportedFact(text=text, item=number, entities=named) for number, text in enumerate(worded))
    return ImportedDocument(id=as_id(NAME, "entity", name), items=items, facts=facts)


def _worded(name: str, text: str) -> str:
    """Return an observation that stands alone: with the name before it unless it has it."""
    plain = _plain(name)
    if plain.casefold() in text.casefold() or name.casefold() in text.casefold():
        return text
    return f"{plain}: {text}"


def entity_type(kind: str) -> str:
    """Return the type of an entity under the name that taggers use, where it is one."""
    types = {
        "person": "person", "people": "person", "human": "person", "user": "person", "organization": "organisation",
        "organisation": "organisation", "company": "organisation", "team": "organisation", "place": "place",
        "location": "place", "city": "place", "country": "place", "event": "event", "product": "product",
    }  # fmt: skip
    return types.get(kind.strip().casefold(), "concept")


def _triple(entry: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Subject, relation, object; older files have `from_id` and `to_id`."""
    subject = as_text(entry.get("from") or entry.get("from_id")).strip()
    target = as_text(entry.get("to") or entry.get("to_id")).strip()
    relation = as_text(entry.get("relationType") or entry.get("relation_type")).strip()
    return (subject, relation, target) if subject and target and relation else None


def _relations(relations: list[tuple[str, str, str]], types: Mapping[str, str]) -> Iterator[ImportedDocument]:
    by_subject: dict[str, list[tuple[str, str]]] = {}
    for subject, relation, target in dict.fromkeys(relations):
        by_subject.setdefault(subject, []).append((relation, target))
    for subject, targets in by_subject.items():
        facts = []
        for number, (relation, target) in enumerate(targets):
            pair = (subject, target)
            facts.append(
                ImportedFact(
                    text=f"{_plain(subject)} {relation.replace('_', ' ')} {_plain(target)}",
                    item=number,
                    subject=_plain(subject),
                    relation=relation.replace(" ", "_").casefold(),
                    object=_plain(target),
                    entities=tuple((_plain(one), entity_type(types.get(one, ""))) for one in pair),
                )
            )
        items = tuple(
            item for fact in facts if (item := turn(fact.text, metadata={"source": NAME})) is not None
        )
        yield ImportedDocument(id=as_id(NAME, "relations", subject), items=items, facts=tuple(facts))


def detect(tree: FileTree) -> bool:
    """Whether its first line is an entity or a relation."""
    files = [tree.path.name] if tree.is_file else tree.names("memory.jsonl", "memory.json")
    if not files or (tree.is_folder and len(files) > 1):
        return False
    head = tree.head(files[0], 1_000_000).lstrip().split("\n", 1)[0]
    return head.startswith("{") and (
        '"entityType"' in head or '"relationType"' in head or '"relation_type"' in head
    )
