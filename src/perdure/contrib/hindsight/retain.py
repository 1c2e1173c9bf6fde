"""Retain: at once, in the background, or from uploaded files; the same call sent again with an Idempotency-Key does nothing."""

from __future__ import annotations

import hmac
import json
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import File, Form, Header, UploadFile
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from perdure import Perdure
from perdure.contrib.hindsight.bodies import Body, TokenUsage
from perdure.domain.item import FellBack, PassedOver
from perdure.domain.record import Record
from perdure.domain.time import parse_utc
from perdure.errors import Conflict, InvalidInput
from perdure.extending import as_message, read_content, read_file, read_item
from perdure.surfaces.plugins.rest import Resource, Service, Serving, WriteBank

router = Resource("Memory", "/v1/default/banks/{bank_id}")
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=256,
        description="The same key again is the same call",
    ),
]
_TIMES = ("timestamp", "expires_at", "valid_from", "valid_to")
_SAME_NAME = (
    "context", "metadata", "document_id", "speaker", "role", "origin", "title", "topic", "tier", "classification", "trust",
    "credibility", "observation_scopes", "relations",
)  # fmt: skip
TIMELESS = "unset"
KIND = "idempotency"
KEPT = timedelta(hours=24)
SWEEP = "00"
"""One call in 256 looks for answers that are too old."""
_STRIPES = tuple(threading.Lock() for _ in range(64))


class EntityInput(Body):
    """An entity that the content is about."""

    text: str = Field(min_length=1)
    type: str | None = None


class MemoryItem(Body):
    """One text to remember, or a chat message as an SDK has it: a `role`, and the fields of its own shape."""

    model_config = ConfigDict(extra="allow")

    content: str | list[str | dict[str, Any]] | dict[str, Any] | None = Field(
        None, description="Text; of a message also its parts, or null where it only calls tools"
    )
    timestamp: datetime | Literal["unset"] | str | None = Field(
        None,
        description="When it was said, ISO 8601; `unset` for timeless text; the present by default",
    )
    context: str | None = None
    metadata: dict[str, str] | None = None
    document_id: str | None = Field(None, min_length=1)
    entities: list[EntityInput] | None = None
    resolve_entities: bool = True
    tags: list[str] | None = None
    observation_scopes: (
        Literal["per_tag", "combined", "all_combinations", "shared"] | list[list[str]] | None
    ) = None
    strategy: str | None = None
    update_mode: Literal["replace", "append"] | None = None

    speaker: str | None = Field(None, description="Perdure: who said it")
    role: str | None = Field(None, description="Perdure: user, assistant, ...")
    origin: Literal["user", "assistant", "tool", "web", "import", "agent"] | None = Field(
        None, description="Perdure: where it comes from; by its role if left out"
    )
    title: str | None = Field(None, description="Perdure: title of the document")
    topic: str | None = Field(None, description="Perdure: what it is about")
    tier: Literal["core", "general"] | None = Field(None, description="Perdure: how central it is")
    classification: int | None = Field(None, ge=0, le=3, description="Perdure: 0 public to 3 secret")
    trust: int | None = Field(None, ge=0, le=3, description="Perdure")
    credibility: int | None = Field(None, ge=1, le=6, description="Perdure")
    expires_at: datetime | None = Field(None, description="Perdure: no longer recalled from then on")
    valid_from: datetime | None = Field(None, description="Perdure: true from then on")
    valid_to: datetime | None = Field(None, description="Perdure: true until then")
    relations: list[dict[str, Any]] | None = Field(
        None, description="Perdure: what it states; subject, relation, object, valid_from, valid_to"
    )


class RetainRequest(Body):
    """Texts to remember."""

    items: list[MemoryItem]
    later: bool = Field(
        False, validation_alias="async", description="Return at once and carry on in the background"
    )
    document_tags: list[str] | None = None
    operation_id: str | None = Field(
        None,
        min_length=1,
        max_length=128,
        pattern="^[^/]*$",
        description="Identity of background work: sent again, it is the same; without slashes, as paths name it",
    )


class TurnsFellBack(BaseModel):
    """Turns that were read without the language model, because asking it failed."""

    document_id: str
    chunk_ids: list[str]
    turns: int
    code: str
    reason: str


class RetainResponse(BaseModel):
    """What was taken in."""

    success: bool
    bank_id: str
    items_count: int
    later: bool = Field(serialization_alias="async")
    operation_id: str | None = None
    operation_ids: list[str] | None = None
    usage: TokenUsage | None = None
    document_ids: list[str] | None = Field(None, description="Perdure: the documents that were written")
    fact_ids: list[str] | None = Field(None, description="Perdure: the facts that are new")
    superseded: list[str] | None = Field(None, description="Perdure: facts that the new ones closed")
    warnings: list[str] = Field([], description="Perdure: what was given and had no effect")
    fell_back: list[TurnsFellBack] | None = Field(
        None, description="Perdure: turns that were read without the language model, and why"
    )


class FileRetainResponse(BaseModel):
    """One operation a file."""

    operation_ids: list[str]


@router.post("/memories", operation_id="retain_memories", response_model=RetainResponse)
def retain(
    service: Serving, bank: WriteBank, body: RetainRequest, idempotency_key: IdempotencyKey = None
) -> RetainResponse | Response:
    """Remember texts; with `async` the answer names an operation to ask about."""
    if not body.items:
        raise InvalidInput("items", "at least one item")
    work = _retain_later if body.later else _retain_now
    if idempotency_key is None:
        return work(service, bank, body)
    answer = _once(service.engine, bank, idempotency_key, body, lambda: work(service, bank, body))
    return Response(answer, media_type="application/json")


def _retain_now(service: Service, bank: str, body: RetainRequest) -> RetainResponse:
    groups = _split_by_mode(body.items, body.document_tags)
    done = [service.engine.retain(bank, group.items, update_mode=group.mode) for group in groups]
    fact_ids = [fact_id for result in done for fact_id in result.fact_ids]
    service.metrics.facts.inc(len(fact_ids))
    return RetainResponse(
        success=True,
        bank_id=bank,
        items_count=len(body.items),
        later=False,
        usage=TokenUsage(),
        document_ids=[document_id for result in done for document_id in result.document_ids],
        fact_ids=fact_ids,
        superseded=[closed.fact_id for result in done for closed in result.superseded],
        warnings=[
            *_warnings(body.items),
            *(
                line
                for group, result in zip(groups, done, strict=True)
                for line in group.told(result.passed_over)
            ),
        ],
        fell_back=[_fell_back(one) for result in done for one in result.fell_back] or None,
    )


def _fell_back(one: FellBack) -> TurnsFellBack:
    return TurnsFellBack(
        document_id=one.document_id, chunk_ids=list(one.chunk_ids), turns=one.turns, code=one.code,
        reason=one.reason,
    )  # fmt: skip


def _retain_later(service: Service, bank: str, body: RetainRequest) -> RetainResponse:
    groups = _split_by_mode(body.items, body.document_tags)
    _ensure_bank(service.engine, bank)
    first = body.operation_id or str(uuid4())
    names = [first, *(f"{first}-{group.mode}" for group in groups[1:])]
    passed_over = [line for group in groups for line in group.told(read_content(group.items, {}).passed_over)]
    for name, group in zip(names, groups, strict=True):
        service.engine.retain_later(bank, group.items, update_mode=group.mode, operation_id=name)
    return RetainResponse(
        success=True,
        bank_id=bank,
        items_count=len(body.items),
        later=True,
        operation_id=first,
        operation_ids=names if len(names) > 1 else None,
        warnings=[*_warnings(body.items), *passed_over],
    )


def _ensure_bank(engine: Perdure, bank: str) -> None:
    """Background work is found again after a crash by its bank, which must exist for that."""
    if engine.banks.find(bank) is None:
        engine.banks.configure(bank)


@dataclass(slots=True)
class _Group:
    """Items that are retained in one transaction, with their places in the request."""

    mode: str
    items: list[dict[str, Any]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def told(self, passed_over: Iterable[PassedOver]) -> list[str]:
        """Return what was passed over, under the names that the request has for it."""
        return [f"{_IN_GROUP.sub(self._in_request, one.path)}: {one.reason}" for one in passed_over]

    def _in_request(self, place: re.Match[str]) -> str:
        return f"items[{self.places[int(place[1])]}]"


_IN_GROUP = re.compile(r"^content\[(\d+)\]")


def _split_by_mode(items: Sequence[MemoryItem], document_tags: Sequence[str] | None) -> list[_Group]:
    """Return the items that replace and those that append, in that order; each group is one transaction."""
    groups = {mode: _Group(mode) for mode in ("replace", "append")}
    for index, item in enumerate(items):
        group = groups[item.update_mode or "replace"]
        group.items.append(_item(item, index, document_tags or ()))
        group.places.append(index)
    return [group for group in groups.values() if group.items]


def _item(item: MemoryItem, index: int, more_tags: Iterable[str]) -> dict[str, Any]:
    """Return the fields that were given, under the engine's names; what retain would refuse is refused before any item is stored."""
    fields = {name: value for name in _SAME_NAME if (value := getattr(item, name)) is not None}
    fields["content"] = item.content
    own = item.model_extra or {}
    if as_message({**own, **fields}) is not None:
        fields = {**own, **fields}
    for name in _TIMES:
        value = getattr(item, name)
        if value is not None:
            fields[name] = TIMELESS if value == TIMELESS else parse_utc(value, f"items[{index}].{name}")
    tags = {*(item.tags or ()), *more_tags}
    if tags:
        fields["tags"] = sorted(tags)
    if item.entities:
        fields["entities"] = [{"text": entity.text, "type": entity.type} for entity in item.entities]
    try:
        if as_message(fields) is None:
            read_item(fields, {}, f"items[{index}]")
    except InvalidInput as error:
        raise InvalidInput(f"items[{index}].{error.field}", error.expected) from error
    return fields


def _warnings(items: Sequence[MemoryItem]) -> list[str]:
    """Return what was asked for and has no effect here."""
    warnings = []
    if any(item.strategy is not None for item in items):
        warnings.append("strategy has no effect: there is one way of extraction")
    if any(item.entities and not item.resolve_entities for item in items):
        warnings.append("resolve_entities=false has no effect: given names are always resolved")
    return warnings


def _once(engine: Perdure, bank: str, key: str, body: BaseModel, work: Callable[[], BaseModel]) -> str:
    """Return the answer as JSON: of this call, or of the first one with the key; raises Conflict for another body."""
    record_id = sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
    # Under the key, which is not stored, so that a short text cannot be guessed from it.
    request = hmac.new(
        key.encode("utf-8", "surrogateescape"), body.model_dump_json().encode(), sha256
    ).hexdigest()
    with _STRIPES[int(record_id[:4], 16) % len(_STRIPES)]:
        now = datetime.now(UTC)
        for record in engine.records.list(KIND, bank=bank, ids=[record_id]):
            if record.created_at is not None and now - record.created_at < KEPT:
                if record.body["request"] != request:
                    raise Conflict("this Idempotency-Key was used with another request")
                return str(record.body["answer"])
        answer = work().model_dump_json(by_alias=True)
        kept = {"request": request, "answer": answer}
        record = Record(kind=KIND, id=record_id, bank=bank, body=kept, created_at=now, updated_at=now)
        engine.records.save_own(record)
        if record_id.startswith(SWEEP):
            _drop_old(engine, bank, now)
        return answer


def _drop_old(engine: Perdure, bank: str, now: datetime) -> None:
    for record in engine.records.list(KIND, bank=bank):
        if record.created_at is None or now - record.created_at < KEPT:
            return
        engine.records.delete_own(KIND, record.id, bank=bank)


@router.post("/files/retain", operation_id="file_retain", tags=["Files"])
def retain_files(
    service: Serving,
    bank: WriteBank,
    files: Annotated[
        list[UploadFile], File(description="Text in UTF-8, HTML, PDF, DOCX, EML, CSV, SVG, source code")
    ],
    request: Annotated[str, Form(description='JSON: {"files_metadata": [{"context", "document_id", ...}]}')],
) -> FileRetainResponse:
    """Remember files in the background, one operation a file."""
    described = _files_metadata(request, len(files))
    items = [
        _file_item(index, upload.filename or f"file {index + 1}", upload.file.read(), described[index])
        for index, upload in enumerate(files)
    ]
    _ensure_bank(service.engine, bank)
    operations = [service.engine.retain_later(bank, item, operation_id=str(uuid4())) for item in items]
    return FileRetainResponse(operation_ids=[operation.id for operation in operations])


def _files_metadata(request: str, count: int) -> list[dict[str, Any]]:
    try:
        described = json.loads(request)["files_metadata"] if request.strip() not in ("", "{}") else None
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput("request", 'a JSON object with "files_metadata"') from error
    if described is None:
        return [{} for _ in range(count)]
    if (
        not isinstance(described, list)
        or len(described) != count
        or not all(isinstance(part, dict) for part in described)
    ):
        raise InvalidInput("files_metadata", f"a list of {count} objects, one a file")
    return described


def _file_item(index: int, filename: str, data: bytes, described: dict[str, Any]) -> dict[str, Any]:
    try:
        read = read_file(data, filename)
    except InvalidInput as error:
        raise InvalidInput(f"files[{index}]", error.expected) from error
    own: dict[str, Any] = {"title": read.title or filename}
    if read.written_at is not None:
        own["timestamp"] = read.written_at
    if read.speaker:
        own["speaker"] = read.speaker
    metadata = {name: value for name, value in described.items() if name in MemoryItem.model_fields}
    try:
        item = MemoryItem.model_validate({**own, **metadata, "content": read.text})
    except ValidationError as error:
        raise InvalidInput(f"files_metadata[{index}]", error.errors()[0]["msg"]) from error
    fields = _item(item, index, ())
    fields.setdefault("document_id", f"{filename}-{uuid4().hex[:12]}")
    return fields
