"""Hindsight's transfer archive, schema 1: documents with their chunks and facts in a ZIP."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from perdure.contrib.imports.files import FileTree
from perdure.contrib.imports.json_stream import stream_members
from perdure.contrib.imports.values import (
    as_id,
    as_list,
    as_metadata,
    as_moment,
    as_object,
    as_tags,
    as_text,
    as_texts,
    turn,
)
from perdure.domain.fact import FactType
from perdure.domain.imported import HINDSIGHT_FIELDS, ImportedDocument, ImportedFact, SkippedPart
from perdure.domain.item import Item
from perdure.domain.time import Window
from perdure.errors import InvalidInput

NAME = "hindsight"
MANIFEST, OBSERVATIONS = "manifest.json", "observations.json"
SCHEMA_VERSION = 1
_TYPES = {"world": FactType.WORLD, "experience": FactType.EXPERIENCE, "opinion": FactType.OPINION}
_CAUSED_BY = frozenset({"caused_by", "enabled_by"})
_CAUSES = frozenset({"causes", "enables"})
_MADE_ANEW = {
    "mental_models.json": "mental models; Perdure refreshes its own (`perdure models create`)",
    "knowledge_pages.json": "knowledge pages; Perdure keeps its own (`perdure knowledge create-page`)",
    "directives.json": "directives; state them with `perdure directives create`",
    "webhooks.json": "webhooks, which hold secrets",
    "banks.json": "the bank's settings; set them with `perdure banks configure`",
}


class HindsightArchive:
    """An archive that `transfer/export` or `hindsight-admin export-bank` made."""

    name = NAME

    def __init__(self, path: Path) -> None:
        self._tree = FileTree(path)
        names = self._tree.names()
        if MANIFEST not in names:
            raise InvalidInput(str(path), f"a transfer archive of Hindsight with {MANIFEST}")
        self._names = names
        try:
            self._manifest = as_object(json.loads(self._tree.read_text(MANIFEST)))
        except ValueError as error:
            raise InvalidInput(f"{path}/{MANIFEST}", f"valid JSON ({error})") from error
        if self._manifest.get("schema_version") != SCHEMA_VERSION:
            expected = f"schema version {SCHEMA_VERSION}"
            raise InvalidInput(f"{path}/{MANIFEST}", expected, self._manifest.get("schema_version"))

    @property
    def bank(self) -> str:
        """The bank that the archive was made of."""
        return as_text(self._manifest.get("source_bank_id"))

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        for name in self._names:
            if name.startswith("documents/") and name.endswith(".json"):
                shown = self._tree.shown(name)
                try:
                    value = json.loads(self._tree.read_text(name))
                except (ValueError, RecursionError) as error:
                    raise InvalidInput(shown, f"valid JSON ({error})") from error
                yield from _document(as_object(value), shown, self.bank)
        yield from self._left_out()

    def _left_out(self) -> Iterator[SkippedPart]:
        if OBSERVATIONS in self._names:
            with self._tree.open_text(OBSERVATIONS) as text:
                shown = self._tree.shown(OBSERVATIONS)
                count = sum(1 for _ in stream_members(text, shown))
            if count:
                yield SkippedPart(
                    path=shown,
                    reason=f"{count:,} observations; `perdure consolidate` forms them of the facts",
                )
        for name, what in _MADE_ANEW.items():
            if name in self._names and self._tree.head(name, 64).strip() not in ("", "[]", "{}"):
                yield SkippedPart(path=self._tree.shown(name), reason=what)

    def close(self) -> None:
        self._tree.close()


def _document(value: Mapping[str, Any], where: str, bank: str) -> Iterator[ImportedDocument | SkippedPart]:
    own_id = as_id(value.get("id") or "")
    if not own_id:
        yield SkippedPart(path=where, reason="a document without an id")
        return
    stated = [as_object(fact) for fact in as_list(value.get("facts"))]
    usable = [number for number, fact in enumerate(stated) if _is_usable(fact)]
    for number in sorted(set(range(len(stated))) - set(usable)):
        kind = as_text(stated[number].get("fact_type"))
        yield SkippedPart(path=f"{where}, fact {number}", reason=f"a fact without text, or of type {kind!r}")
    parameters = as_object(value.get("retain_params"))
    said = [moment for fact in stated if (moment := as_moment(fact.get("mentioned_at"))) is not None]
    when = as_moment(parameters.get("event_date")) or min(said, default=None)
    tags = as_tags(as_texts(value.get("tags")))
    metadata = as_metadata(as_object(parameters.get("metadata")))
    title = metadata.pop(HINDSIGHT_FIELDS + "title", "")
    items, places = _items(value, when, tags, metadata, as_text(parameters.get("context")), title)
    causes = _causes(stated)
    order = {number: position for position, number in enumerate(usable)}
    facts = [
        _fact(stated[number], places, [order[cause] for cause in causes.get(number, ()) if cause in order])
        for number in usable
    ]
    if not items:  # text that is not kept: each fact stands for itself
        own = [turn(fact.text, said_at=fact.said_at, tags=tags) for fact in facts]
        items = [item for item in own if item is not None]
        facts = [replace(fact, item=number) for number, fact in enumerate(facts)]
    if items:
        yield ImportedDocument(id=own_id, items=tuple(items), facts=tuple(facts), scope=bank)
    else:
        yield SkippedPart(path=where, reason="a document without text and facts")


def _is_usable(fact: Mapping[str, Any]) -> bool:
    return bool(as_text(fact.get("text")).strip()) and as_text(fact.get("fact_type")) in _TYPES


def _items(
    value: Mapping[str, Any],
    when: datetime | None,
    tags: frozenset[str],
    metadata: Mapping[str, str],
    context: str,
    title: str,
) -> tuple[list[Item], dict[int, int]]:
    """Return the document's text, a chunk an item, and which item each chunk is."""
    chunks = sorted(
        (as_object(chunk) for chunk in as_list(value.get("chunks"))),
        key=lambda chunk: int(chunk.get("chunk_index") or 0),
    )
    texts = [(int(chunk.get("chunk_index") or 0), as_text(chunk.get("chunk_text"))) for chunk in chunks]
    if not any(text.strip() for _, text in texts):
        texts = [(0, as_text(value.get("original_text")))]
    items: list[Item] = []
    places: dict[int, int] = {}
    for index, text in texts:
        item = turn(text, said_at=when, tags=tags, metadata=metadata, context=context, title=title)
        if item is not None:
            places[index] = len(items)
            items.append(item)
    return items, places


def _fact(fact: Mapping[str, Any], places: Mapping[int, int], causes: Sequence[int]) -> ImportedFact:
    start, end = as_moment(fact.get("occurred_start")), as_moment(fact.get("occurred_end"))
    if start is not None and end is not None and end < start:
        end = None
    index = fact.get("chunk_index")
    stated = as_metadata(as_object(fact.get("metadata")))
    own = {
        key: stated.pop(HINDSIGHT_FIELDS + key, "")
        for key in ("speaker", "subject", "relation", "object", "valid_from", "valid_to", "topic")
    }
    valid = Window(as_moment(own["valid_from"]), as_moment(own["valid_to"]))
    related = bool(own["subject"] and own["relation"])
    return ImportedFact(
        text=as_text(fact.get("text")).strip(),
        type=_TYPES[as_text(fact.get("fact_type"))],
        item=places.get(index, 0) if isinstance(index, int) else 0,
        said_at=as_moment(fact.get("mentioned_at")),
        occurred=Window(start, end) if start is not None or end is not None else None,
        entities=tuple((name, "concept") for name in as_texts(fact.get("entities"))),
        tags=as_tags(as_texts(fact.get("tags"))),
        metadata=stated,
        speaker=own["speaker"],
        subject=own["subject"] if related else "",
        relation=own["relation"] if related else "",
        object=own["object"] if related else "",
        valid=valid if valid != Window() else None,
        topic=own["topic"] or None,
        context=as_text(fact.get("context")),
        causes=tuple(sorted(causes)),
    )


def _causes(stated: list[Mapping[str, Any]]) -> dict[int, set[int]]:
    """Fact -> facts that brought it about; targets are numbers within the document."""
    causes: dict[int, set[int]] = {}
    for number, fact in enumerate(stated):
        for relation in map(as_object, as_list(fact.get("causal_relations"))):
            target, kind = relation.get("target_fact_index"), as_text(relation.get("relation_type"))
            if not isinstance(target, int) or not 0 <= target < len(stated) or target == number:
                continue
            if kind in _CAUSED_BY:
                causes.setdefault(number, set()).add(target)
            elif kind in _CAUSES:
                causes.setdefault(target, set()).add(number)
    return causes


def detect(tree: FileTree) -> bool:
    """Whether it has Hindsight's manifest."""
    return not tree.is_file and MANIFEST in tree.names(MANIFEST) and '"source_bank_id"' in tree.head(MANIFEST)
