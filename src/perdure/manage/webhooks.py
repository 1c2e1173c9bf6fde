"""The webhooks of a bank and their deliveries."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Unpack
from uuid import uuid4

from perdure.arguments import WebhookArguments, WebhookChangeArguments
from perdure.domain.bank import check_bank_id
from perdure.domain.plain import from_record, readable, to_record
from perdure.domain.verb import ADMIN, verb
from perdure.domain.webhook import (
    DELIVERY,
    DUE,
    WEBHOOK,
    Webhook,
    WebhookChanges,
    WebhookDelivery,
    WebhookOptions,
)
from perdure.errors import InvalidInput, NotFound
from perdure.jobs.send import AddressRefused, HttpSender
from perdure.ports.clock import Clock
from perdure.ports.store import Rows, Store


class Webhooks:
    """The webhooks of a memory: `memory.webhooks`."""

    def __init__(self, store: Store, clock: Clock, sender: HttpSender) -> None:
        self._store, self._clock, self._sender = store, clock, sender

    @verb(ADMIN)
    def create(self, bank: str, url: str, **options: Unpack[WebhookArguments]) -> Webhook:
        """Send events of the bank to an address, signed with `secret`. Private addresses are refused."""
        now = self._clock()
        webhook = Webhook(
            id=str(uuid4()), bank=check_bank_id(bank), url=url, created_at=now, updated_at=now,
            **WebhookOptions.read(options).given(),
        )  # fmt: skip
        self._check_address(webhook.url)
        with self._store.transaction(bank) as tx:
            tx.put_records([to_record(WEBHOOK, webhook)])
        return webhook

    @verb(ADMIN)
    def update(self, bank: str, webhook_id: str, **changes: Unpack[WebhookChangeArguments]) -> Webhook:
        """Change fields of a webhook; with `secret=None` it sends without a signature from then on."""
        fields = WebhookChanges.read_changes(changes)
        if not fields:
            raise InvalidInput("webhook", "at least one field to change")
        if "url" in fields:
            self._check_address(fields["url"])
        with self._store.transaction(check_bank_id(bank)) as tx:
            changed = replace(_find_webhook(tx, webhook_id), updated_at=self._clock(), **fields)
            tx.put_records([to_record(WEBHOOK, changed)])
        return changed

    @verb(ADMIN)
    def delete(self, bank: str, webhook_id: str) -> None:
        """Delete a webhook with its deliveries; those not sent yet are not sent."""
        with self._store.transaction(check_bank_id(bank)) as tx:
            _find_webhook(tx, webhook_id)
            ids = [delivery.id for delivery in _deliveries_of(tx, webhook_id)]
            tx.delete_records(DUE, ids)
            tx.delete_records(DELIVERY, ids)
            tx.delete_records(WEBHOOK, [webhook_id])

    @verb(ADMIN, "read")
    def deliveries(self, bank: str, webhook_id: str) -> list[WebhookDelivery]:
        """Return what was sent, or is still to be sent, to a webhook, newest first."""
        with self._store.reading(check_bank_id(bank)) as reading:
            _find_webhook(reading, webhook_id)
            return _deliveries_of(reading, webhook_id)

    @verb(ADMIN, "read")
    def list(self, bank: str) -> list[Webhook]:
        """Return the webhooks of a bank, oldest first."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return list(readable(reading.records(WEBHOOK), partial(from_record, Webhook)))

    def _check_address(self, url: str) -> None:
        try:
            self._sender.check(url)
        except AddressRefused as error:
            raise InvalidInput("url", "an address that is public (setting webhook_allow_private)") from error


def _find_webhook(rows: Rows, webhook_id: str) -> Webhook:
    records = rows.records(WEBHOOK, [webhook_id])
    if not records:
        raise NotFound("webhook", webhook_id)
    return from_record(Webhook, records[0])


def _deliveries_of(rows: Rows, webhook_id: str) -> list[WebhookDelivery]:
    """Return the deliveries of a webhook, newest first."""
    every = [from_record(WebhookDelivery, record) for record in rows.records(DELIVERY)]
    return [one for one in reversed(every) if one.webhook_id == webhook_id]
