"""The audit log: who did what with a bank over a server, when, and how it ended, without texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

AUDIT = "audit"
"""Kind of the records."""
ENABLED = "audit_log_enabled"
"""The bank's setting; off unless it is true."""
_KEPT_WORDS = frozenset(
    """
    action async budget detail direction enabled event_types fact_type fact_types is_active kind mode precision recipe role state
    tags_match tier transport type types update_mode
    """.split()
)
"""Fields whose values are one of a few choices, not free text."""
_MAX_DEPTH, _MAX_LISTED = 4, 20


class Transport(StrEnum):
    """The way in which a call arrived."""

    HTTP = "http"
    MCP = "mcp"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One call over a server."""

    id: str
    bank: str
    action: str
    transport: Transport
    started_at: datetime
    ended_at: datetime | None = None
    request: Mapping[str, object] = field(default_factory=dict)
    response: Mapping[str, object] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def milliseconds(self) -> int | None:
        if self.ended_at is None:
            return None
        return round((self.ended_at - self.started_at).total_seconds() * 1000)


def outline(value: object, name: str = "", depth: int = 0) -> object:
    """Replace each text of a request by its length, so that erasing a memory need not touch the log."""
    if isinstance(value, str):
        return value if name in _KEPT_WORDS and len(value) <= 40 else {"characters": len(value)}
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth >= _MAX_DEPTH:
        return {"of": type(value).__name__}
    if isinstance(value, Mapping):
        fields = {key: one for key, one in value.items() if isinstance(key, str) and key.isidentifier()}
        told = {key: outline(one, key, depth + 1) for key, one in list(fields.items())[:_MAX_LISTED]}
        return told if len(told) == len(value) else {**told, "other_fields": len(value) - len(told)}
    if isinstance(value, list | tuple):
        listed = [outline(one, name, depth + 1) for one in value[:_MAX_LISTED]]
        return listed if len(listed) == len(value) else [*listed, {"more": len(value) - len(listed)}]
    return {"of": type(value).__name__}
