"""The outbox of webhooks: deliveries are written with what they report, and sent afterwards.

They are sent on separate threads: an address that does not answer must not delay other work.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol
from uuid import uuid4

from perdure.domain.plain import from_record, readable, to_record
from perdure.domain.record import Record
from perdure.domain.webhook import (
    DELIVERY,
    DUE,
    WEBHOOK,
    Webhook,
    WebhookDelivery,
    due_mark,
    wants,
)
from perdure.errors import PerdureError
from perdure.jobs.records import ReadRecords, Records
from perdure.jobs.rota import Rota, Turn
from perdure.jobs.send import Sent
from perdure.ports.clock import Clock
from perdure.ports.store import Store

log = logging.getLogger(__name__)

RETRY_AFTER = tuple(timedelta(seconds=seconds) for seconds in (5, 300, 1800, 7200, 18000))
"""Delay after each failed attempt; after the last one the delivery has failed."""
CLAIM = timedelta(seconds=30)
"""How much longer than an attempt may take a process keeps a delivery for itself."""
KEPT = 500
"""Ended deliveries kept per bank, the newest."""
THREADS = 2
LOOK_AGAIN = 5.0
LONGEST_WAIT = 60.0
CLOSING_SECONDS = 2.0
"""How long to wait for a thread when the outbox closes; a name lookup cannot be interrupted."""


class Sender(Protocol):
    """Makes one attempt."""

    def send(self, webhook: Webhook, delivery: WebhookDelivery) -> Sent: ...

    def close(self) -> None:
        """Abort running attempts."""


class Outbox:
    """Sends due deliveries, bank by bank, on threads that start when needed."""

    def __init__(self, store: Store, clock: Clock, sender: Sender) -> None:
        self._store, self._clock, self._sender = store, clock, sender
        self._closing = False
        self._rota = Rota(self._take_turn, threads=THREADS, look_again=LOOK_AGAIN)

    def announce(
        self,
        tx: Records,
        bank: str,
        event_type: str,
        data: Mapping[str, object],
        *,
        operation_id: str | None = None,
        status: str = "completed",
    ) -> int:
        """Write a delivery for each webhook of the event, and return their number.

        A turn begins with a transaction of the bank, so that it waits for this one to end.
        """
        webhooks = wants(list(readable(tx.records(WEBHOOK), partial(from_record, Webhook))), event_type)
        if not webhooks:
            return 0
        now = self._clock()
        payload = {
            "event": event_type, "bank_id": bank, "operation_id": operation_id, "status": status,
            "timestamp": now.isoformat(), "data": {name: one for name, one in data.items() if one is not None},
        }  # fmt: skip
        payload = {name: value for name, value in payload.items() if value is not None}
        deliveries = [
            WebhookDelivery(
                id=str(uuid4()), bank=bank, webhook_id=webhook.id, url=webhook.url, event_type=event_type,
                payload=payload, next_retry_at=now, created_at=now, updated_at=now,
            )
            for webhook in webhooks
        ]  # fmt: skip
        tx.put_records(
            [to_record(DELIVERY, one) for one in deliveries] + [due_mark(one) for one in deliveries]
        )
        self._rota.offer([bank])
        return len(deliveries)

    def resume(self) -> None:
        """Send what earlier processes left."""
        self._rota.offer(self._store.banks_with_records(DUE))

    def close(self) -> None:
        """Abort running attempts, which then do not count; the next opening continues."""
        self._closing = True
        self._sender.close()
        self._rota.close(CLOSING_SECONDS)

    def _take_turn(self, bank: str) -> Turn | float:
        try:
            claimed = self._claim(bank)
            if not isinstance(claimed, tuple):
                return claimed
            webhook, delivery = claimed
            sent = self._sender.send(webhook, delivery)
            with self._store.transaction(bank) as tx:
                if tx.records(DUE, [delivery.id]):
                    broken_off = self._closing and not sent.is_accepted
                    _put(tx, given_back(delivery) if broken_off else concluded(delivery, sent, self._clock()))
                    _prune(tx)
        except PerdureError as error:
            log.warning("webhooks of bank %r have to wait: %s", bank, error)
            return Turn.LATER
        except Exception:
            log.exception("webhooks of bank %r have to wait", bank)
            return Turn.LATER
        return Turn.MORE

    def _claim(self, bank: str) -> tuple[Webhook, WebhookDelivery] | Turn | float:
        """Return a due delivery, claimed for this process, or the seconds to wait if all are due later."""
        now = self._clock()
        with self._store.transaction(bank) as tx:
            due = pending_deliveries(tx)
            webhooks = {record.id: from_record(Webhook, record) for record in tx.records(WEBHOOK)}
            for delivery in due:
                if _ready_at(delivery, now) > now:
                    continue
                webhook = webhooks.get(delivery.webhook_id)
                if webhook is None or not webhook.enabled:
                    gone = "the webhook was deleted" if webhook is None else "the webhook is switched off"
                    _put(tx, concluded(delivery, Sent(error=gone, refused=True), now))
                    continue
                until = now + timedelta(seconds=webhook.http.timeout_seconds) + CLAIM
                claimed = replace(
                    delivery,
                    attempts=delivery.attempts + 1,
                    claimed_until=until,
                    last_attempt_at=now,
                    updated_at=now,
                )
                tx.put_records([to_record(DELIVERY, claimed)])
                return webhook, claimed
        if not due:
            return Turn.IDLE
        wait = min((_ready_at(one, now) - now).total_seconds() for one in due)
        return min(max(wait, 0.05), LONGEST_WAIT)


def concluded(delivery: WebhookDelivery, sent: Sent, now: datetime) -> WebhookDelivery:
    """Return a delivery after an attempt: completed, to be retried, or failed."""
    error = sent.error
    if error is None and not sent.is_accepted:
        error = f"the other side answered {sent.status}"
    after = replace(
        delivery, claimed_until=None, next_retry_at=None, last_error=error, last_response_status=sent.status,
        updated_at=now,
    )  # fmt: skip
    if sent.is_accepted:
        return replace(after, status="completed", payload=None)
    if sent.refused or delivery.attempts > len(RETRY_AFTER):
        return replace(after, status="failed", payload=None)
    return replace(after, next_retry_at=now + RETRY_AFTER[max(delivery.attempts - 1, 0)])


def given_back(delivery: WebhookDelivery) -> WebhookDelivery:
    """Return a delivery as if its last attempt had not begun."""
    return replace(delivery, attempts=delivery.attempts - 1, claimed_until=None)


def read_delivery(record: Record) -> WebhookDelivery:
    return from_record(WebhookDelivery, record)


def pending_deliveries(rows: ReadRecords) -> list[WebhookDelivery]:
    """Return the deliveries that have not ended, oldest first."""
    marks = [record.id for record in rows.records(DUE)]
    return list(readable(rows.records(DELIVERY, marks), read_delivery)) if marks else []


def scrub_deliveries(tx: Records, document_ids: Collection[str]) -> bool:
    """Remove names and tags of erased documents from pending deliveries; return whether there were any."""
    scrubbed: list[WebhookDelivery] = []
    for delivery in pending_deliveries(tx):
        payload = dict(delivery.payload or {})
        data = payload.get("data")
        if isinstance(data, Mapping) and data.get("document_id") in document_ids:
            payload["data"] = {name: one for name, one in data.items() if name not in ("document_id", "tags")}
            scrubbed.append(replace(delivery, payload=payload))
    tx.put_records([to_record(DELIVERY, one) for one in scrubbed])
    return bool(scrubbed)


def _ready_at(delivery: WebhookDelivery, now: datetime) -> datetime:
    return max(delivery.next_retry_at or now, delivery.claimed_until or now)


def _put(tx: Records, delivery: WebhookDelivery) -> None:
    tx.put_records([to_record(DELIVERY, delivery)])
    if delivery.status != "pending":
        tx.delete_records(DUE, [delivery.id])


def _prune(tx: Records) -> None:
    """Delete the oldest ended deliveries above the number to keep."""
    records = list(readable(tx.records(DELIVERY), read_delivery))
    ended = [one.id for one in records if one.status != "pending"]
    if len(ended) > KEPT:
        tx.delete_records(DELIVERY, ended[: len(ended) - KEPT])
