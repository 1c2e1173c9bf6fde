"""The knowledge base: folders and pages over mental models; tree, search, and export as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from perdure.domain.filter import TagExpression
from perdure.domain.knowledge import PAGE_TOKENS, KnowledgeFile, KnowledgeMatch, KnowledgeNode, NodeKind
from perdure.domain.mental_model import MentalModel, RefreshMode, RefreshTrigger, render_sections
from perdure.domain.record import Record
from perdure.domain.rendering import one_line
from perdure.errors import Conflict, InvalidInput, NotFound
from perdure.ports.store import Reading, Rows, Store, Transaction
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.manage import changed_model, insert_model, new_model
from perdure.reflect.mental_models.record import (
    delete_models,
    every_model,
    put_model,
    read_history,
)
from perdure.reflect.mental_models.scope import is_stale
from perdure.reflect.mental_models.search import match_mental_models

KNOWLEDGE_NODE = "knowledge_node"
PAGE_TRIGGER = RefreshTrigger(
    mode=RefreshMode.DELTA,
    refresh_after_consolidation=True,
    fact_types=("observation",),  # type: ignore[arg-type]
    exclude_mental_models=True,
)
"""How a page is refreshed unless it says otherwise."""
PAGE_FIELDS = ("source_query", "tags", "max_tokens", "trigger")


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node that was changed, and whether its document answers another question now."""

    node: KnowledgeNode
    asks_anew: bool


def read_nodes(rows: Rows) -> dict[str, KnowledgeNode]:
    """All nodes of a bank by id, oldest first, pages with their models."""
    models = {model.id: model for model in every_model(rows)}
    return {record.id: read_node(record, models) for record in rows.records(KNOWLEDGE_NODE)}


def read_node(record: Record, models: Mapping[str, MentalModel]) -> KnowledgeNode:
    """A node from its record and the models by id."""
    body: Mapping[str, Any] = record.body
    return KnowledgeNode(
        id=record.id,
        bank=record.bank,
        kind=NodeKind(body["kind"]),
        name=body["name"],
        parent_id=body["parent_id"],
        model=models.get(body["mental_model_id"]),
        created_at=record.created_at,
        updated_at=record.updated_at,
    )


def _put_node(tx: Transaction, node: KnowledgeNode) -> None:
    body = {
        "kind": node.kind.value,
        "name": node.name,
        "parent_id": node.parent_id,
        "mental_model_id": None if node.model is None else node.model.id,
    }
    tx.put_records(
        [
            Record(
                kind=KNOWLEDGE_NODE,
                id=node.id,
                bank=node.bank,
                body=body,
                created_at=node.created_at,
                updated_at=node.updated_at,
            )
        ]
    )


def create_folder(store: Store, bank: str, name: str, parent_id: str | None, now: datetime) -> KnowledgeNode:
    """Make a folder."""
    folder = KnowledgeNode(
        id=f"kf-{uuid4().hex}", bank=bank, kind=NodeKind.FOLDER, name=name, parent_id=parent_id,
        created_at=now, updated_at=now,
    )  # fmt: skip
    with store.transaction(bank) as tx:
        _check_parent(read_nodes(tx), folder)
        _put_node(tx, folder)
    return folder


def create_page(
    store: Store, bank: str, name: str, parent_id: str | None, fields: Mapping[str, object], now: datetime
) -> KnowledgeNode:
    """Make a page with a model of its own; its trigger is the default one with the given fields."""
    chosen: dict[str, Any] = {"max_tokens": PAGE_TOKENS, **fields, "name": name}
    trigger = chosen.pop("trigger", None) or {}
    changes = (
        trigger if isinstance(trigger, Mapping) else {one: getattr(trigger, one) for one in trigger.__slots__}
    )
    model = new_model(bank, {**chosen, "trigger": PAGE_TRIGGER.merged(changes)}, now)
    page = KnowledgeNode(
        id=f"kp-{uuid4().hex}", bank=bank, kind=NodeKind.PAGE, name=name, parent_id=parent_id, model=model,
        created_at=now, updated_at=now,
    )  # fmt: skip
    with store.transaction(bank) as tx:
        nodes = read_nodes(tx)
        _check_parent(nodes, page)
        _check_name(nodes, page)
        insert_model(tx, model)
        _put_node(tx, page)
    return page


def update_node(
    store: Store, bank: str, node_id: str, changes: Mapping[str, object], now: datetime
) -> NodeChange:
    """Rename or move a node, or change a page's options; fields of a trigger are merged into the page's own."""
    if not changes:
        raise InvalidInput("body", "at least one field to change")
    with store.transaction(bank) as tx:
        nodes = read_nodes(tx)
        node = _require(nodes, node_id)
        changed = replace(
            node,
            name=changes.get("name", node.name),  # type: ignore[arg-type]
            parent_id=changes.get("parent_id", node.parent_id),  # type: ignore[arg-type]
            updated_at=now,
        )
        if changed.parent_id != node.parent_id:
            _check_parent(nodes, changed)
        if changed.kind is NodeKind.PAGE:
            _check_name(nodes, changed)
        changed = replace(changed, model=_changed_page(node, changed.name, changes, now))
        if changed.model is not None:
            put_model(tx, changed.model)
        _put_node(tx, changed)
    before, after = node.model, changed.model
    asks_anew = before is not None and after is not None and before.source_query != after.source_query
    return NodeChange(changed, asks_anew)


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


def delete_node(store: Store, bank: str, node_id: str) -> None:
    """Delete a node with everything below it, and the models of its pages."""
    with store.transaction(bank) as tx:
        nodes = read_nodes(tx)
        below = [_require(nodes, node_id)]
        for node in below:
            below += [child for child in nodes.values() if child.parent_id == node.id]
        tx.delete_records(KNOWLEDGE_NODE, [node.id for node in below])
        delete_models(tx, [node.model.id for node in below if node.model is not None])


def delete_pages_of(tx: Transaction, model_id: str) -> None:
    """Delete the pages that show a model that goes."""
    shown = [record.id for record in tx.records(KNOWLEDGE_NODE) if record.body["mental_model_id"] == model_id]
    tx.delete_records(KNOWLEDGE_NODE, shown)


def find_page(rows: Rows, page_id: str) -> KnowledgeNode:
    """The page of an id; a folder is none."""
    node = read_nodes(rows).get(page_id)
    if node is None or node.kind is not NodeKind.PAGE or node.model is None:
        raise NotFound("knowledge page", page_id)
    return node


def page_model_ids(rows: Rows) -> frozenset[str]:
    """The models that pages show."""
    return frozenset(node.model.id for node in read_nodes(rows).values() if node.model is not None)


def tree(reading: Reading, now: datetime, tags: Sequence[TagExpression] = ()) -> tuple[KnowledgeNode, ...]:
    """The nodes below the root, folders first, then by name; pages say whether they are stale, and must pass the tags."""
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


def search_pages(
    components: ReflectComponents, bank: str, query: str, limit: int = 10, tags: Sequence[TagExpression] = ()
) -> list[KnowledgeMatch]:
    """The pages that bear on a question, best first."""
    with components.store.reading(bank) as reading:
        pages = {node.model.id: node for node in read_nodes(reading).values() if node.model is not None}
    matches = match_mental_models(components, bank, query, limit=limit, tags=tags, only=pages.keys())
    return [KnowledgeMatch(replace(pages[one.model.id], model=one.model), one.score) for one in matches]


# Markdown


def page_markdown(page: KnowledgeNode) -> str:
    """A page as a document: YAML front matter with every scalar in double quotes, then the body."""
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


def export_pages(reading: Reading, now: datetime) -> list[KnowledgeFile]:
    """`index.md`, then each page, and a log of what it said before where it has a history."""
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
                    entries = [f"## Until {one.changed_at.isoformat()}\n\n{one.content}" for one in history]
                    log = "\n\n".join([f"# {one_line(node.name)}: what it said before", *entries])
                    files.append(KnowledgeFile(f"{node.id}.log.md", log + "\n"))
            add(node.children, depth + 1)

    add(tree(reading, now), 0)
    return [KnowledgeFile("index.md", "\n".join(lines).rstrip() + "\n"), *files]


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
