"""The knowledge base: folders and pages over mental models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from fastapi import HTTPException, Query
from fastapi.responses import Response
from pydantic import BaseModel

from perdure.contrib.hindsight.bodies import Body, Deleted, Tags, TagsMatch, iso, sparse
from perdure.contrib.hindsight.clients import StrictClients
from perdure.contrib.hindsight.mental_models import LooseTrigger, trigger_view
from perdure.domain.knowledge import PAGE_TOKENS, KnowledgeMatch, KnowledgeNode
from perdure.domain.mental_model import render_sections
from perdure.domain.rendering import one_line
from perdure.errors import InvalidInput
from perdure.surfaces.plugins.rest import ReadBank, Resource, Serving, WriteBank, on_recall_worker, reply

router = Resource("Knowledge base", "/v1/default/banks/{bank_id}/knowledge-base")
SNIPPET = 280
NO_CONTENT = "No content yet."
TagGroupsJson = Annotated[str | None, Query(description="Tag groups as JSON")]
_IN_THE_WAY = ("parent_id", "body")
"""Fields whose faults are 400: the request is well formed, and does not fit the tree."""


class CreateFolderRequest(Body):
    """A folder."""

    name: str
    parent_id: str | None = None


class CreatePageRequest(Body):
    """A page and the question it answers."""

    name: str
    source_query: str
    parent_id: str | None = None
    tags: list[str] | None = None
    max_tokens: int | None = None
    trigger: LooseTrigger | None = None


class UpdateNodeRequest(Body):
    """What to change; `parent_id` null is the root, fields of the trigger are merged."""

    name: str | None = None
    parent_id: str | None = None
    source_query: str | None = None
    tags: list[str] | None = None
    max_tokens: int | None = None
    trigger: LooseTrigger | None = None


class KnowledgeNodeView(BaseModel):
    """A folder or page."""

    id: str
    kind: Literal["folder", "page"]
    name: str
    parent_id: str | None = None
    mental_model_id: str | None = None
    managed: bool = False
    description: str | None = None
    tags: list[str] = []
    timestamp: str | None = None
    is_stale: bool | None = None
    last_refresh_failed_at: str | None = None
    trigger: dict[str, Any] | None = None
    children: list[KnowledgeNodeView] = []


class KnowledgeTreeResponse(BaseModel):
    """The tree from the root down."""

    roots: list[KnowledgeNodeView]


class CreateKnowledgePageResponse(BaseModel):
    """A page, its model, and the operation that writes it."""

    page_id: str
    mental_model_id: str
    operation_id: str


class KnowledgePageResponse(BaseModel):
    """A page as a document."""

    id: str
    name: str
    type: str
    description: str | None = None
    tags: list[str] = []
    timestamp: str | None = None
    body: str | None = None
    markdown: str


class KnowledgePageSearchResult(BaseModel):
    """A page that a search returned."""

    id: str
    name: str
    mental_model_id: str | None = None
    source_query: str | None = None
    snippet: str
    score: float
    updated_at: str | None = None


class KnowledgePageSearchResponse(BaseModel):
    """Pages, best first."""

    results: list[KnowledgePageSearchResult]
    total: int


class KnowledgePageBundleFile(BaseModel):
    """A file of an export."""

    path: str
    content: str


class KnowledgePageBundleResponse(BaseModel):
    """The knowledge base as Markdown files."""

    files: list[KnowledgePageBundleFile]


@router.get(
    "/tree", operation_id="get_knowledge_base_tree", dependencies=[StrictClients],
    response_model=KnowledgeTreeResponse,
)  # fmt: skip
def get_tree(
    service: Serving,
    bank: ReadBank,
    tags: Tags = None,
    tags_match: TagsMatch = "any",
    tag_groups: TagGroupsJson = None,
) -> Mapping[str, object]:
    """Folders and pages from the root down."""
    roots = service.engine.knowledge.tree(
        bank, tags=tags or (), tags_match=tags_match, tag_groups=_groups(tag_groups)
    )
    return {"roots": [sparse(_node(node)) for node in roots]}


@router.post(
    "/folders", operation_id="create_knowledge_folder", status_code=201, response_model=KnowledgeNodeView
)
def create_folder(service: Serving, bank: WriteBank, body: CreateFolderRequest) -> Response:
    """Make a folder, and its bank if missing."""
    with _faults_of_the_tree():
        folder = service.engine.knowledge.create_folder(bank, body.name, parent_id=body.parent_id)
    return reply(sparse(_node(folder)), 201)


@router.post(
    "/pages",
    operation_id="create_knowledge_page",
    status_code=201,
    response_model=CreateKnowledgePageResponse,
)
def create_page(service: Serving, bank: WriteBank, body: CreatePageRequest) -> Response:
    """Make a page, and its bank if missing; the operation writes it."""
    with _faults_of_the_tree():
        page, operation = service.engine.knowledge.create_page(
            bank,
            body.name,
            body.source_query,
            parent_id=body.parent_id,
            tags=body.tags or (),
            max_tokens=PAGE_TOKENS if body.max_tokens is None else body.max_tokens,
            trigger={} if body.trigger is None else body.trigger.named(),
        )
    created = CreateKnowledgePageResponse(
        page_id=page.id, mental_model_id=page.model.id if page.model else "", operation_id=operation.id
    )
    return reply(created, 201)


@router.get("/export", operation_id="export_knowledge_base", dependencies=[StrictClients])
def export(service: Serving, bank: ReadBank) -> KnowledgePageBundleResponse:
    """Return the knowledge base as Markdown files."""
    files = service.engine.knowledge.export(bank)
    return KnowledgePageBundleResponse(
        files=[KnowledgePageBundleFile(path=one.path, content=one.content) for one in files]
    )


@router.get(
    "/search", operation_id="search_knowledge_base", dependencies=[StrictClients],
    response_model=KnowledgePageSearchResponse,
)  # fmt: skip
@on_recall_worker
def search(
    service: Serving,
    bank: ReadBank,
    q: Annotated[str, Query(min_length=1, description="What to look for")],
    limit: Annotated[int, Query(ge=1, le=50, description="Most pages to return")] = 10,
    tags: Tags = None,
    tags_match: TagsMatch = "any",
    tag_groups: TagGroupsJson = None,
) -> Mapping[str, object]:
    """Pages that bear on a question, best first."""
    matches = service.engine.knowledge.search(
        bank, q, limit=limit, tags=tags or (), tags_match=tags_match, tag_groups=_groups(tag_groups)
    )
    return {"results": [sparse(_result(match)) for match in matches], "total": len(matches)}


@router.get(
    "/pages/{page_id}", operation_id="get_knowledge_page", dependencies=[StrictClients],
    response_model=KnowledgePageResponse,
)  # fmt: skip
def get_page(service: Serving, bank: ReadBank, page_id: str) -> Mapping[str, object]:
    """Return a page as a document."""
    page = service.engine.knowledge.get(bank, page_id)
    markdown = service.engine.knowledge.markdown(bank, page_id)
    body = _body(page)
    return sparse(
        KnowledgePageResponse(
            id=page.id,
            name=page.name,
            type=page.page_type,
            description=page.model.source_query if page.model else None,
            tags=list(page.tags),
            timestamp=iso(page.timestamp),
            body=body,
            markdown=markdown if body else f"{markdown}\n{NO_CONTENT}\n",
        )
    )


@router.patch("/nodes/{node_id}", operation_id="update_knowledge_node", response_model=KnowledgeNodeView)
def update_node(
    service: Serving, bank: WriteBank, node_id: str, body: UpdateNodeRequest
) -> Mapping[str, object]:
    """Rename, move, or change a page's options; a new question queues a refresh."""
    changes: dict[str, Any] = {
        name: getattr(body, name)
        for name in body.model_fields_set
        if name == "parent_id" or getattr(body, name) is not None
    }
    if body.trigger is not None:
        changes["trigger"] = body.trigger.named()
    with _faults_of_the_tree():
        return sparse(_node(service.engine.knowledge.update(bank, node_id, **changes)))


@router.delete("/nodes/{node_id}", operation_id="delete_knowledge_node")
def delete_node(service: Serving, bank: WriteBank, node_id: str) -> Deleted:
    """Delete a node with everything below it, and the models of its pages."""
    service.engine.knowledge.delete(bank, node_id)
    return Deleted()


@contextmanager
def _faults_of_the_tree() -> Iterator[None]:
    try:
        yield
    except InvalidInput as error:
        if error.field not in _IN_THE_WAY:
            raise
        raise HTTPException(400, str(error)) from error


def _groups(text: str | None) -> list[dict[str, Any]] | None:
    if text is None:
        return None
    try:
        groups = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput("tag_groups", "a JSON list of tag groups", text) from error
    if not isinstance(groups, list):
        raise InvalidInput("tag_groups", "a JSON list of tag groups", text)
    return groups


def _node(node: KnowledgeNode) -> KnowledgeNodeView:
    model = node.model
    return KnowledgeNodeView(
        id=node.id,
        kind=node.kind.value,
        name=node.name,
        parent_id=node.parent_id,
        mental_model_id=None if model is None else model.id,
        description=None if model is None else model.source_query,
        tags=list(node.tags),
        timestamp=iso(node.timestamp),
        is_stale=node.is_stale,
        last_refresh_failed_at=None if model is None else iso(model.last_refresh_failed_at),
        trigger=None if model is None else trigger_view(model.trigger),
        children=[_node(child) for child in node.children],
    )


def _result(match: KnowledgeMatch) -> KnowledgePageSearchResult:
    node = match.node
    return KnowledgePageSearchResult(
        id=node.id,
        name=node.name,
        mental_model_id=node.model.id if node.model else None,
        source_query=node.model.source_query if node.model else None,
        snippet=one_line(_body(node))[:SNIPPET] or NO_CONTENT,
        score=match.score,
        updated_at=iso(node.timestamp),
    )


def _body(page: KnowledgeNode) -> str:
    return "" if page.model is None else render_sections(page.model.sections)
