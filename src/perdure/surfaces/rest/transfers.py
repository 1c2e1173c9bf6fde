"""Transfers: a bank's documents as a ZIP archive, made and read in the background."""

from __future__ import annotations

import json
import logging
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from io import BytesIO, TextIOWrapper
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from perdure.domain.operation import Operation, OperationStatus
from perdure.domain.record import Record
from perdure.engine import Perdure
from perdure.errors import InvalidInput, PerdureError
from perdure.surfaces.rest.bank_config import find_bank

if TYPE_CHECKING:
    from perdure.surfaces.rest.service import Service

log = logging.getLogger("perdure.rest")

TRANSFER = "transfer"
MEMBER = "bank.jsonl"
LOST = "the server stopped before the work ended"
_LARGEST_MEMBER = 4_000_000_000


def submit(service: Service, bank: str, kind: str, work: Callable[[str], dict[str, Any]]) -> Operation:
    """Start background work on a bank; `work` gets the operation's id and returns its result."""
    now = datetime.now(UTC)
    operation = Operation(id=str(uuid4()), bank=bank, kind=kind, total=1, created_at=now, updated_at=now)
    _save(service.engine, operation)
    service.transfers.add(operation.id)
    Thread(target=_carry_out, args=(service, operation, work), name="perdure-transfer", daemon=True).start()
    return operation


def _carry_out(service: Service, operation: Operation, work: Callable[[str], dict[str, Any]]) -> None:
    try:
        result = work(operation.id)
        _finish(service, operation, OperationStatus.COMPLETED, result=result)
    except PerdureError as error:
        _finish(service, operation, OperationStatus.FAILED, error=str(error))
    except Exception:
        log.exception("transfer %s of bank %s failed", operation.id, operation.bank)
        _finish(service, operation, OperationStatus.FAILED, error="damaged archive or internal error")


def _finish(
    service: Service,
    operation: Operation,
    status: OperationStatus,
    *,
    result: dict[str, Any] | None = None,
    error: str | None = None,
) -> None:
    ended = Operation(
        id=operation.id,
        bank=operation.bank,
        kind=operation.kind,
        status=status,
        done=int(status is OperationStatus.COMPLETED),
        total=1,
        error=error,
        result=result,
        created_at=operation.created_at,
        updated_at=datetime.now(UTC),
    )
    _save(service.engine, ended)
    service.transfers.discard(operation.id)


def _save(engine: Perdure, operation: Operation) -> None:
    body = {
        "kind": operation.kind,
        "status": operation.status.value,
        "done": operation.done,
        "error": operation.error,
        "result": operation.result,
    }
    engine.save_record(
        Record(
            kind=TRANSFER,
            id=operation.id,
            bank=operation.bank,
            body=body,
            created_at=operation.created_at,
            updated_at=operation.updated_at,
        )
    )


def list_transfers(service: Service, bank: str) -> list[Operation]:
    """All transfers of a bank."""
    return [_read(service, record) for record in service.engine.records(TRANSFER, bank=bank)]


def find_transfer(service: Service, bank: str, operation_id: str) -> Operation | None:
    """One transfer."""
    found = service.engine.records(TRANSFER, bank=bank, ids=[operation_id])
    return _read(service, found[0]) if found else None


def _read(service: Service, record: Record) -> Operation:
    body: dict[str, Any] = dict(record.body)
    status = OperationStatus(body["status"])
    error = body["error"]
    if status is OperationStatus.PENDING and record.id not in service.transfers:
        status, error = OperationStatus.FAILED, LOST
    return Operation(
        id=record.id,
        bank=record.bank,
        kind=body["kind"],
        status=status,
        done=body["done"],
        total=1,
        error=error,
        result=body["result"],
        created_at=record.created_at,
        updated_at=record.updated_at,
    )


def export_documents(
    service: Service, bank: str, operation_id: str, documents: frozenset[str] | None, observations: bool
) -> dict[str, Any]:
    """Write the archive and say where it can be had."""
    key = f"banks/{bank}/exports/{operation_id}/transfer.zip"

    def write(path: Path) -> None:
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open(MEMBER, "w", force_zip64=True) as member,
        ):
            for line in _chosen(service.engine.export_bank(bank), documents, observations):
                member.write(line.encode("utf-8") + b"\n")

    size = service.spool.make(key, write)
    return {
        "download_url": f"/v1/default/files/download/{key}",
        "storage_key": key,
        "byte_size": size,
        "filename": f"{bank}-transfer.zip",
    }


def _chosen(lines: Iterable[str], documents: frozenset[str] | None, observations: bool) -> Iterator[str]:
    """The lines of the wanted documents and facts; links last, when it is known which facts there are."""
    facts: set[str] = set()
    links: list[tuple[str, dict[str, Any]]] = []
    for line in lines:
        part = json.loads(line)
        kind = part["kind"]
        if kind == "link":
            links.append((line, part))
            continue
        owner = {
            "document": part.get("id"),
            "chunk": part.get("document_id"),
            "fact": part.get("document_id"),
        }
        if documents is not None and kind in owner and owner[kind] not in documents:
            continue
        if kind == "fact":
            if part["type"] == "observation" and not observations:
                continue
            facts.add(part["id"])
        yield line
    yield from (line for line, link in links if link["source"] in facts and link["target"] in facts)


def import_documents(service: Service, bank: str, data: bytes, on_conflict: str) -> dict[str, Any]:
    """Into an empty bank exactly as exported; into another one by reading the documents anew."""
    engine = service.engine
    before = find_bank(engine, bank)
    if not engine.stats(bank).facts and not engine.documents(bank):
        facts = engine.import_bank(bank, _lines(data))
        if before is not None:
            engine.configure_bank(
                bank,
                name=before.name,
                mission=before.mission,
                disposition=before.disposition,
                settings=before.settings,
            )
        count = len(engine.documents(bank))
        return {"documents_imported": count, "documents_skipped": 0, "facts_imported": facts}
    return _merge(engine, bank, _lines(data), on_conflict)


def _lines(data: bytes) -> Iterator[str]:
    try:
        archive = zipfile.ZipFile(BytesIO(data))
        size = archive.getinfo(MEMBER).file_size
    except (zipfile.BadZipFile, KeyError) as error:
        raise InvalidInput("file", f"a ZIP archive with {MEMBER}, as the export makes it") from error
    if size > _LARGEST_MEMBER:
        raise InvalidInput("file", f"an archive of at most {_LARGEST_MEMBER} bytes unpacked")
    try:
        with archive, archive.open(MEMBER) as member:
            yield from TextIOWrapper(member, encoding="utf-8")
    except (zipfile.BadZipFile, zlib.error, UnicodeDecodeError) as error:
        raise InvalidInput("file", f"an archive that is not damaged ({error})") from error


def _merge(engine: Perdure, bank: str, lines: Iterable[str], on_conflict: str) -> dict[str, Any]:
    documents: dict[str, dict[str, Any]] = {}
    turns: dict[str, list[dict[str, Any]]] = {}
    number = 0
    for number, line in enumerate(lines, start=1):
        try:
            part = json.loads(line)
            if part["kind"] == "document":
                documents[part["id"]] = {
                    name: part[name] for name in ("title", "context", "tags", "metadata")
                }
            elif part["kind"] == "chunk":
                turns.setdefault(part["document_id"], []).extend(_turns(part))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"line {number} of {MEMBER}", "a line as the export writes it") from error
    if not number:
        raise InvalidInput("file", f"an archive with a bank in {MEMBER}")
    known = {document.id for document in engine.documents(bank)}
    skipped = facts = 0
    for document_id, document in documents.items():
        if document_id in known and on_conflict == "skip":
            skipped += 1
            continue
        name = (
            f"{document_id}-{uuid4().hex[:8]}"
            if document_id in known and on_conflict == "new-id"
            else document_id
        )
        shared = {"document_id": name, **document}
        items = [{**shared, **turn} for turn in turns.get(document_id, ())]
        if items:
            facts += len(engine.retain(bank, items).fact_ids)
    imported = len(documents) - skipped
    return {"documents_imported": imported, "documents_skipped": skipped, "facts_imported": facts}


def _turns(chunk: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for span in chunk["spans"] or [{"start": 0, "end": len(chunk["text"])}]:
        text = chunk["text"][span["start"] : span["end"]]
        if text.strip():
            yield {
                "content": text,
                "speaker": span.get("speaker") or "",
                "role": "assistant" if span.get("is_agent") else "",
                "timestamp": span.get("said_at") or "unset",
            }
