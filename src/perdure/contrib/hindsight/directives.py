"""Directives: rules that a bank sets for every reflect, or for those within some tags."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel

from perdure.contrib.hindsight.bodies import Body, Deleted, ListLimit, Offset, Page, Tags, fields_of
from perdure.contrib.hindsight.clients import StrictClients
from perdure.domain.directive import Directive
from perdure.surfaces.plugins.rest import ReadBank, Resource, Serving, WriteBank

router = Resource("Directives", "/v1/default/banks/{bank_id}/directives")
ListMatch = Literal["any", "all", "exact"]


class CreateDirectiveRequest(Body):
    """A new rule."""

    name: str
    content: str
    priority: int = 0
    is_active: bool = True
    tags: list[str] | None = None


class UpdateDirectiveRequest(Body):
    """Fields to change; an empty list of tags makes a rule hold everywhere."""

    name: str | None = None
    content: str | None = None
    priority: int | None = None
    is_active: bool | None = None
    tags: list[str] | None = None


class DirectiveResponse(BaseModel):
    """A rule."""

    id: str
    bank_id: str
    name: str
    content: str
    priority: int = 0
    is_active: bool = True
    tags: list[str] = []
    created_at: str | None = None
    updated_at: str | None = None


class DirectiveListResponse(Page[DirectiveResponse]):
    """A page of rules."""


@router.get("", operation_id="list_directives", dependencies=[StrictClients])
def list_directives(
    service: Serving,
    bank: ReadBank,
    tags: Tags = None,
    tags_match: ListMatch = "any",
    active_only: Annotated[bool, Query(description="Leave out rules that are switched off")] = True,
    limit: ListLimit = 100,
    offset: Offset = 0,
) -> DirectiveListResponse:
    """Rules, highest priority first, then newest; with tags those that match them, and those without tags."""
    every = service.engine.directives.list(
        bank, tags=tags or (), tags_match=tags_match, active_only=active_only
    )
    return DirectiveListResponse.cut(every, offset, limit, view)


@router.post("", operation_id="create_directive")
def create_directive(service: Serving, bank: WriteBank, body: CreateDirectiveRequest) -> DirectiveResponse:
    """Make a rule."""
    directive = service.engine.directives.create(
        bank, body.name, body.content, priority=body.priority, is_active=body.is_active, tags=body.tags or ()
    )
    return view(directive)


@router.get("/{directive_id}", operation_id="get_directive", dependencies=[StrictClients])
def get_directive(service: Serving, bank: ReadBank, directive_id: str) -> DirectiveResponse:
    """One rule."""
    return view(service.engine.directives.get(bank, directive_id))


@router.patch("/{directive_id}", operation_id="update_directive")
def update_directive(
    service: Serving, bank: WriteBank, directive_id: str, body: UpdateDirectiveRequest
) -> DirectiveResponse:
    """Change fields of a rule."""
    changes = body.model_dump(exclude_none=True)
    return view(service.engine.directives.update(bank, directive_id, **changes))


@router.delete("/{directive_id}", operation_id="delete_directive")
def delete_directive(service: Serving, bank: WriteBank, directive_id: str) -> Deleted:
    """Drop a rule."""
    service.engine.directives.delete(bank, directive_id)
    return Deleted()


def view(directive: Directive) -> DirectiveResponse:
    """Return a rule as the API shows it."""
    return DirectiveResponse(bank_id=directive.bank, **fields_of(directive, DirectiveResponse.model_fields))
