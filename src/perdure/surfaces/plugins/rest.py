"""What routes are built with: the service around the memory, banks that the caller may use, and answers."""

from __future__ import annotations

from perdure.surfaces.access import KeyRing
from perdure.surfaces.audit import ACTION, TRANSPORT
from perdure.surfaces.gate import plain_error
from perdure.surfaces.keys import Scope
from perdure.surfaces.plain import plain_candidate, plain_recall, total_milliseconds
from perdure.surfaces.rest.audit import Audited
from perdure.surfaces.rest.service import (
    AdminBank,
    Departure,
    Known,
    ReadBank,
    Resource,
    Service,
    Serving,
    WriteBank,
    identify,
    on_recall_worker,
    reply,
    require,
)
from perdure.surfaces.workers import CLIENT, Workers

__all__ = [
    "ACTION", "CLIENT", "TRANSPORT", "AdminBank", "Audited", "Departure", "KeyRing", "Known", "ReadBank", "Resource", "Scope",
    "Service", "Serving", "Workers", "WriteBank", "identify", "on_recall_worker", "plain_candidate", "plain_error",
    "plain_recall", "reply", "require", "total_milliseconds",
]  # fmt: skip
