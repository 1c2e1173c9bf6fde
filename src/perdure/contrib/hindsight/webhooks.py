"""Webhooks of a bank, and what was sent to them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import HTTPException, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from perdure.contrib.hindsight.bodies import Body, DeleteResponse, ListLimit, Offset, Page, fields_of
from perdure.contrib.hindsight.clients import StrictClients
from perdure.domain.webhook import CONSOLIDATION_COMPLETED, Webhook, WebhookDelivery, WebhookHttp
from perdure.errors import InvalidInput
from perdure.surfaces.plugins.rest import AdminBank, Resource, Serving, reply

router = Resource("Webhooks", "/v1/default/banks/{bank_id}/webhooks")


class WebhookHttpConfig(Body):
    """How an event is sent."""

    method: str = "POST"
    timeout_seconds: int = 30
    headers: dict[str, str] = Field(default_factory=dict)
    params: dict[str, str] = Field(default_factory=dict)

    def read(self) -> WebhookHttp:
        """As the memory keeps it."""
        return WebhookHttp(**self.model_dump())


class CreateWebhookRequest(Body):
    """An address to tell of events."""

    url: str
    secret: str | None = None
    event_types: list[str] = Field(default_factory=lambda: [CONSOLIDATION_COMPLETED])
    enabled: bool = True
    http_config: WebhookHttpConfig = Field(default_factory=WebhookHttpConfig)


class UpdateWebhookRequest(Body):
    """Fields to change; a secret of null sends without a signature."""

    url: str | None = None
    secret: str | None = None
    event_types: list[str] | None = None
    enabled: bool | None = None
    http_config: WebhookHttpConfig | None = None


class WebhookResponse(BaseModel):
    """A webhook, without its secret."""

    id: str
    bank_id: str | None
    url: str
    secret: str | None = Field(None, description="Never shown")
    event_types: list[str]
    enabled: bool
    http_config: WebhookHttpConfig
    created_at: str | None = None
    updated_at: str | None = None


class WebhookListResponse(Page[WebhookResponse]):
    """A page of webhooks, oldest first."""


class WebhookDeliveryResponse(BaseModel):
    """An event on its way to a webhook, or how that ended."""

    id: str
    webhook_id: str | None
    url: str
    event_type: str
    status: str = Field(description="pending, completed or failed")
    attempts: int
    next_retry_at: str | None = None
    last_error: str | None = None
    last_response_status: int | None = None
    last_response_body: str | None = Field(None, description="Not kept")
    last_attempt_at: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class WebhookDeliveryListResponse(BaseModel):
    """A page of deliveries, newest first."""

    items: list[WebhookDeliveryResponse]
    next_cursor: str | None = None


@router.post("", operation_id="create_webhook", status_code=201, response_model=WebhookResponse)
def create_webhook(service: Serving, bank: AdminBank, body: CreateWebhookRequest) -> Response:
    """Tell an address of events; private addresses and other schemes are 400."""
    try:
        webhook = service.engine.webhooks.create(
            bank, body.url, secret=body.secret, event_types=body.event_types, enabled=body.enabled,
            http=body.http_config.read(),
        )  # fmt: skip
    except InvalidInput as error:
        raise HTTPException(400, str(error)) from error
    return reply(_view(webhook), 201)


@router.get("", operation_id="list_webhooks", dependencies=[StrictClients])
def list_webhooks(
    service: Serving, bank: AdminBank, limit: ListLimit = 100, offset: Offset = 0
) -> WebhookListResponse:
    """Return the webhooks of the bank."""
    return WebhookListResponse.cut(service.engine.webhooks.list(bank), offset, limit, _view)


@router.patch("/{webhook_id}", operation_id="update_webhook")
def update_webhook(
    service: Serving, bank: AdminBank, webhook_id: str, body: UpdateWebhookRequest
) -> WebhookResponse:
    """Change the fields that are sent."""
    sent = body.model_fields_set
    changes: dict[str, Any] = {}
    if body.url is not None:
        changes["url"] = body.url
    if "secret" in sent:
        changes["secret"] = body.secret
    if body.event_types is not None:
        changes["event_types"] = body.event_types
    if body.enabled is not None:
        changes["enabled"] = body.enabled
    if not changes and body.http_config is None:
        raise InvalidInput("webhook", "at least one field to change")
    try:
        if body.http_config is not None:
            changes["http"] = body.http_config.read()
        return _view(service.engine.webhooks.update(bank, webhook_id, **changes))
    except InvalidInput as error:
        raise HTTPException(400, str(error)) from error


@router.delete("/{webhook_id}", operation_id="delete_webhook")
def delete_webhook(service: Serving, bank: AdminBank, webhook_id: str) -> DeleteResponse:
    """Delete a webhook with its deliveries."""
    service.engine.webhooks.delete(bank, webhook_id)
    return DeleteResponse(success=True)


@router.get("/{webhook_id}/deliveries", operation_id="list_webhook_deliveries", dependencies=[StrictClients])
def list_webhook_deliveries(
    service: Serving,
    bank: AdminBank,
    webhook_id: str,
    limit: Annotated[int, Query(ge=1, le=200, description="Most deliveries to return")] = 50,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before")] = None,
) -> WebhookDeliveryListResponse:
    """Return what a webhook was told, newest first."""
    every = service.engine.webhooks.deliveries(bank, webhook_id)
    if cursor is not None:
        before = _moment(cursor)
        every = [one for one in every if one.created_at is not None and one.created_at < before]
    page = every[:limit]
    more = len(every) > limit and page[-1].created_at is not None
    return WebhookDeliveryListResponse(
        items=[_delivery(one) for one in page],
        next_cursor=page[-1].created_at.isoformat() if more and page[-1].created_at is not None else None,
    )


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError as error:
        raise InvalidInput("cursor", "the next_cursor of the page before", text) from error
    if moment.tzinfo is None:
        raise InvalidInput("cursor", "the next_cursor of the page before", text)
    return moment


def _view(webhook: Webhook) -> WebhookResponse:
    http = WebhookHttpConfig(**fields_of(webhook.http, WebhookHttpConfig.model_fields))
    fields = fields_of(webhook, WebhookResponse.model_fields)
    return WebhookResponse(**{**fields, "bank_id": webhook.bank, "secret": None, "http_config": http})


def _delivery(delivery: WebhookDelivery) -> WebhookDeliveryResponse:
    return WebhookDeliveryResponse(**fields_of(delivery, WebhookDeliveryResponse.model_fields))
