"""The audit log and the log of language models' requests: reading them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel

from perdure.contrib.hindsight.bodies import Offset, Page, fields_of, iso
from perdure.domain.audit import AuditEntry
from perdure.domain.llm_call import LlmCall
from perdure.domain.time import parse_instant
from perdure.errors import NotFound
from perdure.surfaces.plugins.rest import AdminBank, Resource, Serving

router = Resource("Logs", "/v1/default/banks/{bank_id}")
LogLimit = Annotated[int, Query(ge=1, le=500, description="Most entries to return")]
StartDate = Annotated[str | None, Query(description="From this ISO 8601 time on, included")]
EndDate = Annotated[str | None, Query(description="Before this ISO 8601 time")]
Period = Annotated[Literal["1d", "7d", "30d"], Query(description="The last so many days")]
_DAYS = {"1d": 1, "7d": 7, "30d": 30}


class AuditLogEntry(BaseModel):
    """One call."""

    id: str
    action: str
    transport: str
    bank_id: str | None
    started_at: str | None
    ended_at: str | None
    duration_ms: int | None = None
    request: dict[str, Any] | None
    response: dict[str, Any] | None
    metadata: dict[str, Any]


class AuditLogListResponse(Page[AuditLogEntry]):
    """A page of entries, newest first."""

    bank_id: str


class AuditLogStatsBucket(BaseModel):
    """The entries of a day."""

    time: str
    actions: dict[str, int]
    total: int


class DayStats(BaseModel):
    """Counts by day; only days that have some."""

    bank_id: str
    period: str
    trunc: str = "day"
    start: str


class AuditLogStatsResponse(DayStats):
    """Entries by day."""

    buckets: list[AuditLogStatsBucket]


class LLMRequestEntry(BaseModel):
    """A call of a language model."""

    id: str
    bank_id: str | None
    operation: str | None
    scope: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    provider: str | None = None
    model: str | None
    status: str
    started_at: str | None
    ended_at: str | None
    duration_ms: int | None = None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None = None
    total_tokens: int | None
    input: Any = None
    output: Any = None
    error: str | None
    llm_info: dict[str, Any] = {}
    metadata: dict[str, Any] = {}


class LLMRequestListResponse(Page[LLMRequestEntry]):
    """A page of calls, newest first."""

    bank_id: str


class LLMRequestTokenSums(BaseModel):
    """Tokens of a day."""

    input: int
    output: int
    cached: int = 0
    total: int


class LLMRequestStatsBucket(BaseModel):
    """The calls of a day."""

    time: str
    statuses: dict[str, int]
    total: int
    tokens: LLMRequestTokenSums


class LLMRequestStatsResponse(DayStats):
    """Calls by day."""

    buckets: list[LLMRequestStatsBucket]


@router.get("/audit-logs", operation_id="list_audit_logs")
def list_audit_logs(
    service: Serving,
    bank: AdminBank,
    action: Annotated[str | None, Query(description="Only this action")] = None,
    transport: Annotated[str | None, Query(description="http, mcp or system")] = None,
    start_date: StartDate = None,
    end_date: EndDate = None,
    limit: LogLimit = 50,
    offset: Offset = 0,
) -> AuditLogListResponse:
    """Return what was done with the bank over the servers, while its setting `audit_log_enabled` was on."""
    service.engine.banks.get(bank)
    every = service.engine.audit.list(
        bank, action=action, transport=transport,
        since=parse_instant(start_date, "start_date"), until=parse_instant(end_date, "end_date"),
    )  # fmt: skip
    return AuditLogListResponse.cut(every, offset, limit, _audit, bank_id=bank)


@router.get("/audit-logs/stats", operation_id="audit_log_stats")
def audit_log_stats(
    service: Serving,
    bank: AdminBank,
    action: Annotated[str | None, Query(description="Only this action")] = None,
    period: Period = "7d",
) -> AuditLogStatsResponse:
    """How many calls there were on each day."""
    service.engine.banks.get(bank)
    start = _start(service.engine.clock(), period)
    days: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in service.engine.audit.list(bank, action=action, since=start):
        days[_day(entry.started_at)][entry.action] += 1
    buckets = [
        AuditLogStatsBucket(time=day, actions=dict(actions), total=actions.total())
        for day, actions in sorted(days.items())
    ]
    return AuditLogStatsResponse(bank_id=bank, period=period, start=start.isoformat(), buckets=buckets)


@router.get("/audit-logs/{log_id}", operation_id="get_audit_log")
def get_audit_log(service: Serving, bank: AdminBank, log_id: str) -> AuditLogEntry:
    """One entry."""
    service.engine.banks.get(bank)
    entry = next((one for one in service.engine.audit.list(bank) if one.id == log_id), None)
    if entry is None:
        raise NotFound("audit entry", log_id)
    return _audit(entry)


@router.get("/llm-requests", operation_id="list_llm_requests")
def list_llm_requests(
    service: Serving,
    bank: AdminBank,
    status: Annotated[str | None, Query(description="success or error")] = None,
    operation: Annotated[str | None, Query(description="retain, reflect or consolidation")] = None,
    scope: Annotated[str | None, Query(description="Not kept: a scope matches no call")] = None,
    provider: Annotated[str | None, Query(description="Not kept: a provider matches no call")] = None,
    trace_id: Annotated[
        str | None, Query(description="The id of a call, each being a run of its own")
    ] = None,
    document_id: Annotated[str | None, Query(description="Not kept: a document matches no call")] = None,
    memory_id: Annotated[str | None, Query(description="Not kept: a memory matches no call")] = None,
    group: Annotated[bool, Query(description="Page by run; each call is one")] = False,
    start_date: StartDate = None,
    end_date: EndDate = None,
    limit: LogLimit = 50,
    offset: Offset = 0,
) -> LLMRequestListResponse:
    """Return calls of language models for this bank."""
    del group
    service.engine.banks.get(bank)
    since, until = parse_instant(start_date, "start_date"), parse_instant(end_date, "end_date")
    unkept = any(asked is not None for asked in (scope, provider, document_id, memory_id))
    every = [
        one
        for one in ([] if unkept else service.engine.llm.calls(bank))
        if status in (None, one.status)
        and operation in (None, one.operation)
        and trace_id in (None, one.id)
        and (since is None or one.at >= since)
        and (until is None or one.at < until)
    ]
    return LLMRequestListResponse.cut(every, offset, limit, _llm, bank_id=bank)


@router.get("/llm-requests/stats", operation_id="llm_request_stats")
def llm_request_stats(
    service: Serving,
    bank: AdminBank,
    operation: Annotated[str | None, Query(description="Only of this operation")] = None,
    period: Period = "7d",
) -> LLMRequestStatsResponse:
    """Return calls and tokens of each day."""
    service.engine.banks.get(bank)
    start = _start(service.engine.clock(), period)
    days: dict[str, list[LlmCall]] = defaultdict(list)
    for call in service.engine.llm.calls(bank):
        if call.at >= start and operation in (None, call.operation):
            days[_day(call.at)].append(call)
    buckets = [
        LLMRequestStatsBucket(
            time=day,
            statuses=dict(Counter(call.status for call in calls)),
            total=len(calls),
            tokens=_sums(calls),
        )
        for day, calls in sorted(days.items())
    ]
    return LLMRequestStatsResponse(bank_id=bank, period=period, start=start.isoformat(), buckets=buckets)


def _start(now: datetime, period: str) -> datetime:
    return now - timedelta(days=_DAYS[period])


def _day(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0).isoformat()


def _sums(calls: Iterable[LlmCall]) -> LLMRequestTokenSums:
    counted: Sequence[LlmCall] = list(calls)
    read, written = sum(one.input_tokens for one in counted), sum(one.output_tokens for one in counted)
    return LLMRequestTokenSums(input=read, output=written, total=read + written)


def _audit(entry: AuditEntry) -> AuditLogEntry:
    own = {"bank_id": entry.bank, "duration_ms": entry.milliseconds}
    return AuditLogEntry(**fields_of(entry, AuditLogEntry.model_fields) | own)


def _llm(call: LlmCall) -> LLMRequestEntry:
    return LLMRequestEntry(
        **fields_of(call, ("id", "operation", "model", "status", "input_tokens", "output_tokens", "error")),
        bank_id=call.bank,
        trace_id=call.id,
        started_at=iso(call.at),
        ended_at=iso(call.at + timedelta(seconds=call.seconds)),
        duration_ms=round(call.seconds * 1000),
        total_tokens=call.input_tokens + call.output_tokens,
        input=call.request,
        output=call.response,
    )
