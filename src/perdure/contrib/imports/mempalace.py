"""MemPalace: drawers in Chroma's SQLite file, triples in `knowledge_graph.sqlite3`, or a folder that `mempalace export` wrote."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import groupby
from pathlib import Path, PurePosixPath

from perdure.contrib.imports.files import FileTree, open_database, tables_of
from perdure.contrib.imports.server_memory import entity_type
from perdure.contrib.imports.values import as_id, as_metadata, as_moment, as_tags, as_text, turn
from perdure.domain.imported import ImportedDocument, ImportedFact, SkippedPart
from perdure.domain.item import Item
from perdure.domain.time import Window
from perdure.errors import InvalidInput

NAME = "mempalace"
CHROMA, GRAPH = "chroma.sqlite3", "knowledge_graph.sqlite3"
COLLECTION = "mempalace_drawers"
DOCUMENT = "chroma:document"
_DRAWERS = """
select embeddings.embedding_id as drawer, m.key as key, m.string_value as text, m.int_value as whole, m.float_value as number
from embeddings
join segments on segments.id = embeddings.segment_id
join collections on collections.id = segments.collection
join embedding_metadata as m on m.id = embeddings.id
where collections.name = ?
order by embeddings.id
"""
_TRIPLES = """
select t.id as id, coalesce(s.name, t.subject) as subject, s.type as subject_type, t.predicate as predicate,
  coalesce(o.name, t.object) as object, o.type as object_type, t.valid_from as valid_from, t.valid_to as valid_to,
  t.confidence as confidence, t.source_file as source_file, t.extracted_at as extracted_at
from triples as t left join entities as s on s.id = t.subject left join entities as o on o.id = t.object
order by t.subject, t.rowid
"""
_STATED_DATES = frozenset({"filename", "frontmatter", "body"})
"""Where a drawer's date may come from for it to be one; the time of a file is none."""
_OWN_FIELDS = (
    DOCUMENT, "wing", "room", "content_date", "content_date_source", "normalize_version", "id_recipe", "source_dir_ino", "hall",
    "source_mtime", "chunk_total", "line_start", "line_end", "entities",
)  # fmt: skip
_EXPORT_HEAD = "# Palace Export"
_SECTION = re.compile(
    r"^## (?P<id>[^\n]+)\n\n(?P<quote>>.*?)\n\n\| Field \| Value \|\n\|-+\|-+\|\n\| Source \| (?P<source>.*?) \|\n"
    r"\| Filed \| (?P<filed>.*?) \|\n\| Added by \| (?P<by>.*?) \|\n\n---$",
    re.DOTALL | re.MULTILINE,
)


class MemPalace:
    """`~/.mempalace`, a palace's folder, one of its databases, or an export."""

    name = NAME

    def __init__(self, path: Path) -> None:
        self._tree = FileTree(path)
        names = [path.name] if self._tree.is_file else self._tree.names("*.sqlite3", "*.md")
        self._databases = [name for name in names if name.endswith(".sqlite3")]
        self._rooms = [
            name for name in names if name.endswith(".md") and PurePosixPath(name).name != "index.md"
        ]
        if not self._databases and not self._rooms:
            raise InvalidInput(
                str(path), f"a palace with {CHROMA} or {GRAPH}, or an export with wing/room.md"
            )

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        for name in self._databases:
            path = self._tree.real_path(name)
            tables = tables_of(path)
            with open_database(path) as database:
                if "embedding_metadata" in tables:
                    yield from _drawers(database, path)
                elif "triples" in tables:
                    yield from _triples(database)
                else:
                    yield SkippedPart(path=str(path), reason="neither drawers nor triples")
        for name in self._rooms:
            yield from _room(self._tree.read_text(name), name, self._tree.shown(name))

    def close(self) -> None:
        self._tree.close()


def _drawers(database: sqlite3.Connection, path: Path) -> Iterator[ImportedDocument | SkippedPart]:
    rows = database.execute(_DRAWERS, (COLLECTION,))
    for drawer, group in groupby(rows, key=lambda row: str(row["drawer"])):
        fields: dict[str, object] = {
            row["key"]: next((v for v in (row["text"], row["whole"], row["number"]) if v is not None), "")
            for row in group
        }
        yield _drawer(drawer, fields, f"{path}, drawer {drawer}")


def _drawer(drawer: str, fields: Mapping[str, object], where: str) -> ImportedDocument | SkippedPart:
    wing, room = as_text(fields.get("wing")), as_text(fields.get("room"))
    dated = fields.get("content_date_source") in _STATED_DATES
    item = turn(
        as_text(fields.get(DOCUMENT)),
        said_at=as_moment(fields.get("content_date")) if dated else None,
        tags=as_tags([f"wing:{wing}" if wing else "", f"room:{room}" if room else ""]),
        metadata={"source": NAME, **as_metadata(fields, without=_OWN_FIELDS)},
    )
    if item is None:
        return SkippedPart(path=where, reason="a drawer without text")
    return ImportedDocument(id=as_id(NAME, drawer), items=(item,), scope=wing)


def _triples(database: sqlite3.Connection) -> Iterator[ImportedDocument]:
    """Yield the triples of a subject as a document, each a fact with the time while it holds."""
    for subject, group in groupby(database.execute(_TRIPLES), key=lambda row: str(row["subject"])):
        facts: list[ImportedFact] = []
        items: list[Item] = []
        for row in group:
            relation, target = as_text(row["predicate"]), as_text(row["object"])
            fact = ImportedFact(
                text=f"{subject} {relation.replace('_', ' ')} {target}",
                item=len(items),
                subject=subject,
                relation=relation,
                object=target,
                valid=_window(row["valid_from"], row["valid_to"]),
                entities=(
                    (subject, entity_type(as_text(row["subject_type"]))),
                    (target, entity_type(as_text(row["object_type"]))),
                ),
                confidence=_confidence(row["confidence"]),
                metadata={
                    "source": NAME,
                    **as_metadata({"file": row["source_file"], "recorded": row["extracted_at"]}),
                },
            )
            item = turn(fact.text, metadata=fact.metadata)
            if item is not None:
                items.append(item)
                facts.append(fact)
        if items:
            yield ImportedDocument(id=as_id(NAME, "graph", subject), items=tuple(items), facts=tuple(facts))


def _confidence(value: object) -> float | None:
    return min(max(float(value), 0.0), 1.0) if isinstance(value, int | float) and value != 1.0 else None


def _window(start: object, end: object) -> Window | None:
    """While a triple holds; an end that is a day takes in that whole day."""
    first, last = as_moment(start), as_moment(end)
    if last is not None and isinstance(end, str) and len(end.strip()) == len("2026-05-06"):
        last += timedelta(days=1)
    if first is None and last is None:
        return None
    if first is not None and last is not None and last < first:
        last = first
    return Window(first, last)


def _room(text: str, name: str, shown: str) -> Iterator[ImportedDocument | SkippedPart]:
    """Yield the drawers of a room as `mempalace export` writes them."""
    path = PurePosixPath(name)
    sections = list(_SECTION.finditer(text))
    if not sections:
        yield SkippedPart(path=shown, reason="no drawers as `mempalace export` writes them")
    for section in sections:
        content = "\n".join(
            line.removeprefix("> ").removeprefix(">") for line in section["quote"].split("\n")
        )
        fields: dict[str, object] = {
            DOCUMENT: content,
            "wing": path.parent.name,
            "room": path.stem,
            "source_file": _unless_unknown(section["source"]),
            "filed_at": _unless_unknown(section["filed"]),
            "added_by": _unless_unknown(section["by"]),
        }
        yield _drawer(section["id"].strip(), fields, f"{shown}, {section['id']}")


def _unless_unknown(value: str) -> str:
    return "" if value == "unknown" else value


def detect(tree: FileTree) -> bool:
    """Whether it has one of MemPalace's databases, or is its export."""
    if tree.is_archive:
        return False
    if tree.is_file:
        return tree.path.suffix == ".sqlite3" and bool(
            {"embedding_metadata", "triples"} & tables_of(tree.path).keys()
        )
    if tree.names(CHROMA, GRAPH):
        return True
    return "index.md" in tree.names("index.md") and tree.head("index.md").startswith(_EXPORT_HEAD)
