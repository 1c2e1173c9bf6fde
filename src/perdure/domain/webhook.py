"""Webhooks and their deliveries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from urllib.parse import urlsplit

from perdure.domain.item import check_text
from perdure.domain.options import Options, option
from perdure.domain.record import Record
from perdure.errors import InvalidInput

WEBHOOK, DELIVERY, DUE = "webhook", "webhook_delivery", "webhook_due"
"""Kinds of records: a webhook, a delivery (ended or not), and the mark of a delivery that has not ended."""
RETAIN_COMPLETED, CONSOLIDATION_COMPLETED = "retain.completed", "consolidation.completed"
EVENT_TYPES = (RETAIN_COMPLETED, CONSOLIDATION_COMPLETED, "memory_defense.triggered")
"""The last one is accepted for compatibility with Hindsight; nothing triggers it."""
MAX_URL, MAX_TIMEOUT, MAX_FIELDS = 2048, 60, 50
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")
_OWN_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookHttp:
    """How an event is sent."""

    method: str = "POST"
    timeout_seconds: int = 30
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.method not in ("GET", "POST"):
            raise InvalidInput("http_config.method", "GET or POST", self.method)
        seconds = self.timeout_seconds
        if isinstance(seconds, bool) or not isinstance(seconds, int) or not 1 <= seconds <= MAX_TIMEOUT:
            raise InvalidInput("http_config.timeout_seconds", f"1 to {MAX_TIMEOUT} seconds", seconds)
        if len(self.headers) > MAX_FIELDS or len(self.params) > MAX_FIELDS:
            raise InvalidInput("http_config", f"at most {MAX_FIELDS} headers and parameters")
        for name, value in self.headers.items():
            if not _TOKEN.fullmatch(name) or name.lower() in _OWN_HEADERS or _UNPRINTABLE.search(value):
                raise InvalidInput(
                    "http_config.headers", "plain headers other than the connection's own", name
                )
        for name, value in self.params.items():
            check_text("http_config.params", f"{name}{value}")


def _read_http(value: object, name: str) -> WebhookHttp:
    if isinstance(value, Mapping) and set(value) <= {one.name for one in fields(WebhookHttp)}:
        return WebhookHttp(**value)
    if not isinstance(value, WebhookHttp):
        raise InvalidInput(name, "a WebhookHttp", value)
    return value


def _read_url(value: object, name: str) -> str:
    return check_url(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookOptions(Options):
    """Options of a webhook when it is created."""

    secret: str | None = option(None, "Signs what is sent; without it nothing is signed.")
    event_types: tuple[str, ...] = option((CONSOLIDATION_COMPLETED,), "Events to send.")
    enabled: bool = option(True, "Whether events are sent.")
    http: WebhookHttp = option(
        WebhookHttp(), "How events are sent.", read=_read_http, accepts=WebhookHttp | Mapping[str, object]
    )

    def _complete(self) -> None:
        if not set(self.event_types) <= set(EVENT_TYPES):
            raise InvalidInput("event_types", "some of " + ", ".join(EVENT_TYPES), self.event_types)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookChanges(WebhookOptions):
    """What may be changed of a webhook."""

    url: str = option("", "Address to which events are sent.", read=_read_url, accepts=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook(WebhookChanges):
    """An address that receives events of a bank."""

    id: str
    bank: str
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def __repr__(self) -> str:
        return f"Webhook(id={self.id!r}, bank={self.bank!r}, url={self.url!r}, enabled={self.enabled})"


def check_url(url: object) -> str:
    """Return the address. Raise `InvalidInput` unless it is http or https, without credentials."""
    wrong = InvalidInput("url", "an http or https address with a host and without credentials")
    if not isinstance(url, str) or not url or len(url) > MAX_URL or _UNPRINTABLE.search(url) or " " in url:
        raise wrong
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise wrong from error
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or port == 0:
        raise wrong
    return url


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDelivery:
    """An event on its way to a webhook, or its outcome."""

    id: str
    bank: str
    webhook_id: str
    url: str
    event_type: str
    payload: Mapping[str, object] | None = None
    """What is sent; dropped when the delivery has ended."""
    status: str = "pending"
    """pending, completed or failed."""
    attempts: int = 0
    next_retry_at: datetime | None = None
    claimed_until: datetime | None = None
    """Until then one process has the delivery for itself."""
    last_error: str | None = None
    last_response_status: int | None = None
    last_attempt_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


def due_mark(delivery: WebhookDelivery) -> Record:
    """Return the record that exists while a delivery has not ended."""
    return Record(kind=DUE, id=delivery.id, bank=delivery.bank, created_at=delivery.created_at)


def wants(webhooks: Sequence[Webhook], event_type: str) -> list[Webhook]:
    """Return the webhooks that receive an event."""
    return [one for one in webhooks if one.enabled and event_type in one.event_types]
