"""Making, changing and listing the webhooks of a bank and their deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from perdure.domain.webhook import (
    DELIVERY,
    DUE,
    WEBHOOK,
    Webhook,
    WebhookDelivery,
    WebhookHttp,
    read_delivery,
    read_webhook,
)
from perdure.errors import InvalidInput, NotFound
from perdure.ports.store import Rows, Store

CHANGEABLE = ("url", "secret", "event_types", "enabled", "http")


def new_webhook(bank: str, url: str, fields: Mapping[str, object], now: datetime) -> Webhook:
    """A webhook that is not stored yet."""
    return replace(
        Webhook(id=str(uuid4()), bank=bank, url=url, created_at=now),
        updated_at=now,
        **_read_fields(fields),  # type: ignore[arg-type]
    )


def update_webhook(
    store: Store, bank: str, webhook_id: str, changes: Mapping[str, object], now: datetime
) -> Webhook:
    """Change fields of a webhook."""
    if not changes:
        raise InvalidInput("webhook", "at least one field to change")
    with store.transaction(bank) as tx:
        changed = replace(find_webhook(tx, webhook_id), updated_at=now, **_read_fields(changes))  # type: ignore[arg-type]
        tx.put_records([changed.to_record()])
    return changed


def delete_webhook(store: Store, bank: str, webhook_id: str) -> None:
    """Delete a webhook with its deliveries; what was not sent yet is not sent."""
    with store.transaction(bank) as tx:
        find_webhook(tx, webhook_id)
        ids = [one.id for one in deliveries_of(tx, webhook_id)]
        tx.delete_records(DUE, ids)
        tx.delete_records(DELIVERY, ids)
        tx.delete_records(WEBHOOK, [webhook_id])


def find_webhook(rows: Rows, webhook_id: str) -> Webhook:
    """The webhook of an id."""
    records = rows.records(WEBHOOK, [webhook_id])
    if not records:
        raise NotFound("webhook", webhook_id)
    return read_webhook(records[0])


def list_webhooks(rows: Rows) -> list[Webhook]:
    """The bank's webhooks, oldest first."""
    return [read_webhook(record) for record in rows.records(WEBHOOK)]


def deliveries_of(rows: Rows, webhook_id: str) -> list[WebhookDelivery]:
    """The deliveries of a webhook, newest first."""
    every = [read_delivery(record) for record in rows.records(DELIVERY)]
    return [one for one in reversed(every) if one.webhook_id == webhook_id]


def _read_fields(fields: Mapping[str, object]) -> dict[str, object]:
    unknown = sorted(fields.keys() - set(CHANGEABLE))
    if unknown:
        raise InvalidInput(unknown[0], "one of " + ", ".join(CHANGEABLE))
    read = dict(fields)
    events = read.get("event_types")
    if "event_types" in read:
        if isinstance(events, str) or not isinstance(events, list | tuple):
            raise InvalidInput("event_types", "a list of events", events)
        read["event_types"] = tuple(events)
    http = read.get("http")
    if "http" in read and not isinstance(http, WebhookHttp):
        raise InvalidInput("http", "a WebhookHttp", http)
    return read
