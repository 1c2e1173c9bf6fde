"""Telemetry of a served memory's calls: which verbs are memory operations, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from perdure.domain.item import RetainResult
from perdure.domain.recall import RecallResult
from perdure.forget.target import Forgotten
from perdure.ports.telemetry import MemoryOperation, Observed, RecordText
from perdure.reflect.reflection import Reflection

if TYPE_CHECKING:
    from perdure.telemetry.otel import OpenTelemetry

OPERATIONS: Mapping[str, MemoryOperation] = {
    "retain": MemoryOperation.RETAIN,
    "retain_later": MemoryOperation.RETAIN,
    "banks.restore": MemoryOperation.RETAIN,
    "facts.update": MemoryOperation.UPDATE,
    "facts.invalidate": MemoryOperation.UPDATE,
    "facts.restore": MemoryOperation.UPDATE,
    "recall": MemoryOperation.RECALL,
    "prompt": MemoryOperation.RECALL,
    "reflect": MemoryOperation.REFLECT,
    "forget": MemoryOperation.FORGET,
}


def observed_call(
    telemetry: OpenTelemetry | None, url: str, verb: str, arguments: Mapping[str, object]
) -> AbstractContextManager[Observed | None]:
    """Report the enclosed call of a verb if it is a memory operation and there is telemetry."""
    operation = OPERATIONS.get(verb)
    if telemetry is None or operation is None:
        return nullcontext()
    if arguments.get("everything") is True:
        operation = MemoryOperation.FORGET_BANK
    record_id = next((arguments[name] for name in _IDS if arguments.get(name)), None)
    query = arguments.get("query")
    parts = urlsplit(url)
    return telemetry.remote_memory(
        operation,
        str(arguments.get("bank", "")),
        (parts.hostname or "", parts.port),
        record_id=None if record_id is None else str(record_id),
        query=query if isinstance(query, str) else None,
    )


def tell_result(observed: Observed | None, result: object) -> None:
    """Report the number of records in a call's result."""
    if observed is None:
        return
    if isinstance(result, RecallResult):
        observed.records(len(result), (RecordText(one.fact.id, one.text, one.score) for one in result))
    elif isinstance(result, RetainResult):
        observed.records(len(result.fact_ids))
    elif isinstance(result, Reflection):
        observed.records(len(result.based_on))
    elif isinstance(result, Forgotten):
        observed.records(result.facts)


_IDS = ("fact_id", "document_id", "entity_id")
