"""Small JSON objects that surfaces and background work store next to the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

LAST_ERASURE = "last_erasure"
"""Kind and id of the record whose `updated_at` says when something was last erased from a bank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A JSON object of a kind (job, api_key, directive, ...); `bank` is empty if it belongs to none."""

    kind: str
    id: str
    bank: str = ""
    body: Mapping[str, object] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None
