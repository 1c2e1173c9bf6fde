"""The knowledge base: folders and pages over mental models; tree, search, and export as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack
from uuid import uuid4

from perdure.arguments import KnowledgeChangeArguments, PageArguments
from perdure.domain.bank import check_bank_id
from perdure.domain.filter import TagExpression, TagsMatch, read_tags
from perdure.domain.knowledge import (
    KNOWLEDGE_NODE,
    KnowledgeChanges,
    KnowledgeFile,
    KnowledgeMatch,
    KnowledgeNode,
    NodeKind,
    PageOptions,
)
from perdure.domain.mental_model import MentalModel, RefreshMode, RefreshTrigger, render_sections
from perdure.domain.operation import Operation
from perdure.domain.plain import from_record, readable, to_record
from perdure.domain.record import Record
from perdure.domain.rendering import one_line
from perdure.domain.verb import READ, WRITE, verb
from perdure.errors import Conflict, InvalidInput, NotFound
from perdure.ports.store import Reading, Rows, Transaction
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.record import (
    delete_models,
    every_model,
    put_model,
    read_history,
)
from perdure.reflect.mental_models.resource import MentalModels, changed_model, insert_model, new_model
from perdure.reflect.mental_models.scope import is_stale
from perdure.reflect.mental_models.search import match_mental_models

PAGE_TRIGGER = RefreshTrigger(
    mode=RefreshMode.DELTA,
    refresh_after_consolidation=True,
    fact_types=("observation",),  # type: ignore[arg-type]
    exclude_mental_models=True,
)
"""How a page is refreshed unless it says otherwise."""
PAGE_FIELDS = ("source_query", "tags", "max_tokens", "trigger")


class Knowledge:
    """The knowledge base of a memory: `memory.knowledge`."""

    def __init__(self, components: ReflectComponents, models: MentalModels) -> None:
        self._components, self._models = components, models
        self._store, self._clock = components.store, components.clock

    @verb(READ)
    def tree(
        self,
        bank: str,
        *,
        tags: Sequence[str] = (),
        tags_match: TagsMatch | str = TagsMatch.ANY_STRICT,
        tag_groups: Sequence[Mapping[str, object]] | None = None,
    ) -> tuple[KnowledgeNode, ...]:
        """Return folders and pages from the root down; with tags only pages that match them."""
        scope = read_tags(tags, tags_match, tag_groups)
        with self._store.reading(check_bank_id(bank)) as reading:
            return tree(reading, self._clock(), scope)

    @verb(READ)
    def get(self, bank: str, page_id: str) -> KnowledgeNode:
        """Return a page with its model."""
        with self._store.reading(check_bank_id(bank)) as reading:
            node = read_nodes(reading).get(page_id)
        if node is None or node.kind is not NodeKind.PAGE or node.model is None:
            raise NotFound("knowledge page", page_id)
        return node

    @verb(READ)
    def markdown(self, bank: str, page_id: str) -> str:
        """Return a page as Markdown with front matter."""
        return page_markdown(self.get(bank, page_id))

    @verb(READ)
    def page_models(self, bank: str) -> frozenset[str]:
        """Return the ids of the mental models that pages show."""
        with self._store.reading(check_bank_id(bank)) as reading:
            nodes = read_nodes(reading).values()
        return frozenset(node.model.id for node in nodes if node.model is not None)

    @verb(READ, "recall")
    def search(
        self,
        bank: str,
        query: str,
        *,
        limit: int = 10,
        tags: Sequence[str] = (),
        tags_match: TagsMatch | str = TagsMatch.ANY_STRICT,
        tag_groups: Sequence[Mapping[str, object]] | None = None,
    ) -> list[KnowledgeMatch]:
        """Return the pages that bear on a question, best first."""
        scope = read_tags(tags, tags_match, tag_groups)
        with self._store.reading(check_bank_id(bank)) as reading:
            pages = {node.model.id: node for node in read_nodes(reading).values() if node.model is not None}
        matches = match_mental_models(
            self._components, bank, query, limit=limit, tags=scope, only=pages.keys()
        )
        return [
            KnowledgeMatch(replace(pages[match.model.id], model=match.model), match.score)
            for match in matches
        ]

    @verb(READ)
    def export(self, bank: str) -> list[KnowledgeFile]:
        """Return the knowledge base as Markdown files: an index, the pages, and a log of what each said before."""
        files: list[KnowledgeFile] = []
        lines = ["# Knowledge base", ""]

        def add(nodes: Sequence[KnowledgeNode], depth: int) -> None:
            for node in nodes:
                name = one_line(node.name).replace("[", r"\[").replace("]", r"\]")
                shown = name if node.model is None else f"[{name}]({node.id}.md)"
                lines.append(f"{'  ' * depth}- {shown}")
                if node.model is not None:
                    files.append(KnowledgeFile(f"{node.id}.md", page_markdown(node)))
                    if history := read_history(reading, node.model.id):
                        entries = [
                            f"## Until {one.changed_at.isoformat()}\n\n{one.content}" for one in history
                        ]
                        log = "\n\n".join([f"# {one_line(node.name)}: what it said before", *entries])
                        files.append(KnowledgeFile(f"{node.id}.log.md", log + "\n"))
                add(node.children, depth + 1)

        with self._store.reading(check_bank_id(bank)) as reading:
            add(tree(reading, self._clock()), 0)
        return [KnowledgeFile("index.md", "\n".join(lines).rstrip() + "\n"), *files]

    @verb(WRITE)
    def create_folder(self, bank: str, name: str, *, parent_id: str | None = None) -> KnowledgeNode:
        """Create a folder, at the root unless it has a parent."""
        now = self._clock()
        folder = KnowledgeNode(
            id=f"kf-{uuid4().hex}", bank=check_bank_id(bank), kind=NodeKind.FOLDER, name=name,
            parent_id=parent_id, created_at=now, updated_at=now,
        )  # fmt: skip
        with self._store.transaction(bank) as tx:
            _check_parent(read_nodes(tx), folder)
            _put_node(tx, folder)
        return folder

    @verb(WRITE)
    def create_page(
        self,
        bank: str,
        name: str,
        source_query: str,
        **options: Unpack[PageArguments],
    ) -> tuple[KnowledgeNode, Operation]:
        """Create a page that answers a question; the fields of `trigger` are merged into the default trigger of pages."""
        now = self._clock()
        given = PageOptions.read(options)
        fields = {
            "name": name, "source_query": source_query, "tags": given.tags, "max_tokens": given.max_tokens,
            "trigger": PAGE_TRIGGER.merged(given.trigger),
        }  # fmt: skip
        model = new_model(check_bank_id(bank), fields, now)
        page = KnowledgeNode(
            id=f"kp-{uuid4().hex}", bank=bank, kind=NodeKind.PAGE, name=name, parent_id=given.parent_id, model=model,
            created_at=now, updated_at=now,
        )  # fmt: skip
        with self._store.transaction(bank) as tx:
            nodes = read_nodes(tx)
            _check_parent(nodes, page)
            _check_name(nodes, page)
            insert_model(tx, model)
            _put_node(tx, page)
        return page, self._models.refresh(bank, model.id)

    @verb(WRITE)
    def update(self, bank: str, node_id: str, **changes: Unpack[KnowledgeChangeArguments]) -> KnowledgeNode:
        """Rename or move a node, or change a page's options; a new question submits a refresh.

        `parent_id=None` moves to the root; fields of a trigger are merged into the page's own.
        """
        fields = KnowledgeChanges.read_changes(changes)
        if not fields:
            raise InvalidInput("body", "at least one field to change")
        now = self._clock()
        with self._store.transaction(check_bank_id(bank)) as tx:
            nodes = read_nodes(tx)
            node = _require(nodes, node_id)
            changed = replace(
                node,
                name=fields.get("name", node.name),
                parent_id=fields.get("parent_id", node.parent_id),
                updated_at=now,
            )
            if changed.parent_id != node.parent_id:
                _check_parent(nodes, changed)
            if changed.kind is NodeKind.PAGE:
                _check_name(nodes, changed)
            changed = replace(changed, model=_changed_page(node, changed.name, fields, now))
            if changed.model is not None:
                put_model(tx, changed.model)
            _put_node(tx, changed)
        before, after = node.model, changed.model
        if before is not None and after is not None and before.source_query != after.source_query:
            self._models.refresh(bank, after.id)
        return changed

    @verb(WRITE)
    def delete(self, bank: str, node_id: str) -> None:
        """Delete a node with everything below it, and the models of its pages."""
        with self._store.transaction(check_bank_id(bank)) as tx:
            nodes = read_nodes(tx)
            below = [_require(nodes, node_id)]
            for node in below:
                below += [child for child in nodes.values() if child.parent_id == node.id]
            tx.delete_records(KNOWLEDGE_NODE, [node.id for node in below])
            delete_models(tx, [node.model.id for node in below if node.model is not None])


def read_nodes(rows: Rows) -> dict[str, KnowledgeNode]:
    """Return all nodes of a bank by id, oldest first, pages with their models."""
    models = {model.id: model for model in every_model(rows)}
    return {
        node.id: node
        for node in readable(rows.records(KNOWLEDGE_NODE), lambda record: read_node(record, models))
    }


def read_node(record: Record, models: Mapping[str, MentalModel]) -> KnowledgeNode:
    """Return a node from its record and the models by id."""
    body: Mapping[str, Any] = record.body
    return replace(from_record(KnowledgeNode, record), model=models.get(body["mental_model_id"]))


def _put_node(tx: Transaction, node: KnowledgeNode) -> None:
    record = to_record(KNOWLEDGE_NODE, replace(node, model=None, children=()))
    model_id = None if node.model is None else node.model.id
    tx.put_records([replace(record, body={**record.body, "mental_model_id": model_id})])


def _changed_page(
    node: KnowledgeNode, name: str, changes: Mapping[str, object], now: datetime
) -> MentalModel | None:
    options = {one: changes[one] for one in PAGE_FIELDS if one in changes}
    if node.model is None:
        if options:
            raise InvalidInput(next(iter(options)), "a page, as folders have no such field", node.id)
        return None
    trigger = options.pop("trigger", None)
    if isinstance(trigger, Mapping):
        options["trigger"] = node.model.trigger.merged(trigger)
    return changed_model(node.model, {**options, "name": name}, now)


def tree(reading: Reading, now: datetime, tags: Sequence[TagExpression] = ()) -> tuple[KnowledgeNode, ...]:
    """Return the nodes below the root, folders first, then by name; pages say whether they are stale, and must pass the tags."""
    nodes = [
        node if node.model is None else replace(node, is_stale=is_stale(reading, node.model, now))
        for node in read_nodes(reading).values()
        if node.model is None or all(one.admits(node.model.tags) for one in tags)
    ]
    below: dict[str | None, list[KnowledgeNode]] = {}
    for node in sorted(nodes, key=lambda one: (one.kind, one.name.casefold(), one.id)):
        below.setdefault(node.parent_id, []).append(node)

    def grown(parent: str | None) -> tuple[KnowledgeNode, ...]:
        return tuple(replace(node, children=grown(node.id)) for node in below.get(parent, ()))

    return grown(None)


# Markdown


def page_markdown(page: KnowledgeNode) -> str:
    """Return a page as a document: YAML front matter with every scalar in double quotes, then the body."""
    model = page.model
    if model is None:
        raise NotFound("knowledge page", page.id)
    moment = page.timestamp
    head = {
        "type": page.page_type,
        "title": page.name,
        "description": model.source_query,
        "tags": list(page.tags),
        "timestamp": "" if moment is None else moment.isoformat(),
    }
    lines = [
        "---",
        *(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items()),
        "---",
    ]
    body = render_sections(model.sections)
    return "\n".join([*lines, "", body]).rstrip() + "\n"


# Checks


def _require(nodes: Mapping[str, KnowledgeNode], node_id: str) -> KnowledgeNode:
    if node_id not in nodes:
        raise NotFound("knowledge node", node_id)
    return nodes[node_id]


def _check_parent(nodes: Mapping[str, KnowledgeNode], node: KnowledgeNode) -> None:
    """Raise unless the parent is a folder outside of the node itself."""
    at = node.parent_id
    if at is not None and (at not in nodes or nodes[at].kind is not NodeKind.FOLDER):
        raise InvalidInput("parent_id", "the id of a folder", at)
    while at is not None:
        if at == node.id:
            raise InvalidInput("parent_id", "a folder outside of the node that moves", node.parent_id)
        at = nodes[at].parent_id if at in nodes else None


def _check_name(nodes: Mapping[str, KnowledgeNode], page: KnowledgeNode) -> None:
    for other in nodes.values():
        same_place = other.kind is NodeKind.PAGE and other.parent_id == page.parent_id
        if same_place and other.name == page.name and other.id != page.id:
            raise Conflict(f"the folder has a page {page.name!r}")
