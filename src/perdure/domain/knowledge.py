"""The knowledge base: folders and pages; a page shows a mental model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum

from perdure.domain.item import check_text
from perdure.domain.mental_model import MAX_TOKENS, MIN_TOKENS, MentalModel, RefreshTrigger
from perdure.domain.options import NOT_MCP, Options, option
from perdure.errors import InvalidInput

KNOWLEDGE_NODE = "knowledge_node"
"""Kind of the records of nodes."""
PAGE_TYPE = "knowledge-page"
"""The type of a page without a tag `type:...`."""
TYPE_TAG = "type:"
PAGE_TOKENS = 4096


def _read_trigger(value: object, name: str) -> Mapping[str, object]:
    """Return the fields of a trigger to change."""
    if isinstance(value, RefreshTrigger):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if value is not None and not isinstance(value, Mapping):
        raise InvalidInput(name, "an object with fields of a trigger", value)
    return value or {}


class NodeKind(StrEnum):
    FOLDER = "folder"
    PAGE = "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions(Options):
    """Options of a page when it is created."""

    parent_id: str | None = option(
        None, "Id of the folder that it stands in; without one it stands at the root.", flag="--in"
    )
    tags: frozenset[str] = option(
        frozenset(), "Tags that its facts must all carry; also found by them.", flag="--tag"
    )
    max_tokens: int = option(
        PAGE_TOKENS, "Size of the page in tokens.", at_least=MIN_TOKENS, at_most=MAX_TOKENS
    )
    trigger: Mapping[str, object] = option(
        {}, "Fields of the trigger that are not as usual for pages.", on=NOT_MCP, read=_read_trigger,
        accepts=RefreshTrigger | Mapping[str, object] | None,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeChanges(PageOptions):
    """What may be changed of a node of the knowledge base; all but name and parent only of pages."""

    name: str = option("", "What it is called.", at_least=1)
    source_query: str = option("", "The question that it answers.", at_least=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeNode:
    """A folder, or a page with its model; without a parent it is at the root."""

    id: str
    bank: str
    kind: NodeKind
    name: str
    parent_id: str | None = None
    model: MentalModel | None = None
    is_stale: bool | None = None
    """Of pages in a tree."""
    children: tuple[KnowledgeNode, ...] = ()
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def __post_init__(self) -> None:
        check_text("name", self.name)
        if not self.name.strip():
            raise InvalidInput("name", "non-empty text", self.name)

    @property
    def tags(self) -> tuple[str, ...]:
        """Return the page's tags without those that give its type, sorted."""
        tags = () if self.model is None else self.model.tags
        return tuple(sorted(tag for tag in tags if not tag.startswith(TYPE_TAG)))

    @property
    def page_type(self) -> str:
        tags = () if self.model is None else self.model.tags
        types = sorted(tag.removeprefix(TYPE_TAG) for tag in tags if tag.startswith(TYPE_TAG))
        return next(filter(None, types), PAGE_TYPE)

    @property
    def timestamp(self) -> datetime | None:
        """Return when the page was last refreshed, or the folder changed."""
        if self.model is None:
            return self.updated_at or self.created_at
        return self.model.last_refreshed_at or self.model.created_at


@dataclass(frozen=True, slots=True)
class KnowledgeMatch:
    """A page that a search returned."""

    node: KnowledgeNode
    score: float


@dataclass(frozen=True, slots=True)
class KnowledgeFile:
    """A file of the knowledge base as Markdown."""

    path: str
    content: str
