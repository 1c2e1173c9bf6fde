"""Documents from bank to bank, as ZIP archives that are made and read in the background."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO, TextIOWrapper
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal, NamedTuple
from uuid import uuid4

from fastapi import File, Query, Request, UploadFile
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

from perdure import Perdure
from perdure.contrib.hindsight.bodies import SubmitResponse
from perdure.contrib.hindsight.config import restore_profile
from perdure.errors import InvalidInput, NotFound
from perdure.extending import bounded_lines
from perdure.surfaces.plugins.rest import (
    AdminBank,
    Known,
    ReadBank,
    Resource,
    Scope,
    Service,
    Serving,
    reply,
    require,
)

router = Resource("Transfer", "/v1/default")
_TRANSFER = "/banks/{bank_id}/document-transfer"
EXPORT, IMPORT = "export", "import"
MEMBER = "bank.jsonl"
_OF_DOCUMENT = ("title", "context", "tags", "metadata")
_LARGEST_MEMBER = 2_000_000_000
"""Bytes of an unpacked archive."""
_LARGEST_RATIO, _SMALL_MEMBER = 100, 50_000_000
"""How many times its packed size an archive may unpack to, above so many bytes; an export packs about 3 to 1."""


class SpooledFile(NamedTuple):
    """A file and when its making began."""

    path: Path
    made_at: datetime


class Spool:
    """Archives in a folder of the server's own, deleted when it stops: keys such as `banks/<bank>/exports/<operation>/transfer.zip` and the files behind them."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._files: dict[str, SpooledFile] = {}
        self._numbers = count()
        self._lock = Lock()

    def make(self, key: str, write: Callable[[Path], None]) -> int:
        """Have a file written, keep it under the key and return its size."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="perdure-spool-"))
            path = self._folder / f"{next(self._numbers)}.bin"
            self._files[key] = SpooledFile(path, datetime.now(UTC))
        write(path)
        return path.stat().st_size

    def find(self, key: str) -> SpooledFile:
        """Return the file of a key; raise NotFound if it is gone."""
        file = self._files.get(key)
        if file is None or not file.path.exists():
            raise NotFound("file", key)
        return file

    def drop_bank(self, bank: str) -> None:
        """Delete the files that were made of a bank."""
        with self._lock:
            for key in [key for key in self._files if key.startswith(f"banks/{bank}/")]:
                self._files.pop(key).path.unlink(missing_ok=True)

    def close(self) -> None:
        """Delete all files."""
        with self._lock:
            self._files.clear()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None


@router.get(_TRANSFER, operation_id="export_documents_sync_removed", status_code=410, response_model=None)
async def removed(bank: ReadBank) -> Any:
    """Gone: exports run in the background."""
    raise HTTPException(410, "post to document-transfer/export instead")


@router.post(
    _TRANSFER + "/export", operation_id="export_documents", status_code=202, response_model=SubmitResponse
)
def export(
    service: Serving,
    bank: AdminBank,
    document_id: Annotated[list[str] | None, Query(description="Only these documents")] = None,
    include_observations: Annotated[bool, Query(description="Observations too")] = False,
) -> Response:
    """Make an archive of the documents and the facts drawn from them; the operation says where to get it."""
    service.engine.banks.get(bank)
    return submit(
        service, bank, EXPORT, {"documents": document_id or None, "observations": include_observations}
    )


@router.post(_TRANSFER, operation_id="import_documents", status_code=202, response_model=SubmitResponse)
def import_archive(
    service: Serving,
    bank: AdminBank,
    file: Annotated[UploadFile, File(description="An archive that the export made")],
    on_conflict: Annotated[Literal["skip", "replace", "new-id"], Query()] = "skip",
) -> Response:
    """Take an archive in: exactly into an empty bank, else by reading its documents anew."""
    data = file.file.read()
    _check_archive(data)
    body = {"archive": b64encode(data).decode(), "on_conflict": on_conflict}
    return submit(service, bank, IMPORT, body)


@router.get("/files/download/{key:path}", operation_id="download_file", response_class=Response)
async def download(request: Request, service: Serving, caller: Known, key: str) -> Response:
    """Return a file that an operation made; the caller needs admin access to the bank it came from."""
    parts = key.split("/")
    if len(parts) < 3 or parts[0] != "banks":
        raise NotFound("file", key)
    require(caller, Scope.ADMIN, parts[1])
    path = await service.workers.run(_archive, service, request.app.state.spool, parts[1], key)
    return FileResponse(path, media_type="application/zip", filename=f"{parts[1]}-transfer.zip")


def _archive(service: Service, spool: Spool, bank: str, key: str) -> Path:
    """Return the file, unless something of the bank was erased since it was made."""
    file = spool.find(key)
    erased_at = service.engine.banks.erased_at(bank)
    if service.engine.banks.find(bank) is None or (erased_at is not None and file.made_at <= erased_at):
        spool.drop_bank(bank)
        raise NotFound("file", key)
    return file.path


def add_jobs(engine: Perdure, spool: Spool) -> None:
    """Register the background work that writes and reads archives."""

    def export(bank: str, operation_id: str, body: Mapping[str, object]) -> Mapping[str, object]:
        observations = bool(body["observations"])
        return write_archive(
            spool, bank, operation_id, engine.banks.export(bank), documents_of(body), observations
        )

    def restore(bank: str, _: str, body: Mapping[str, object]) -> Mapping[str, object]:
        return _import(engine, bank, b64decode(str(body["archive"])), str(body["on_conflict"]))

    engine.jobs.add(EXPORT, export)
    engine.jobs.add(IMPORT, restore)


def documents_of(body: Mapping[str, object]) -> frozenset[str] | None:
    """Return the documents that an export was asked for, or None for all of them."""
    documents = body["documents"]
    return frozenset(map(str, documents)) if isinstance(documents, list) else None


def submit(service: Service, bank: str, kind: str, body: Mapping[str, object]) -> Response:
    """Submit work on archives and answer with its operation."""
    return reply(SubmitResponse(operation_id=service.engine.jobs.start(bank, kind, body).id), 202)


def write_archive(
    spool: Spool,
    bank: str,
    operation_id: str,
    lines: Iterable[str],
    documents: frozenset[str] | None,
    observations: bool,
) -> dict[str, object]:
    """Write an archive of lines of an export, and say where it can be had."""
    key = f"banks/{bank}/exports/{operation_id}/transfer.zip"

    def write(path: Path) -> None:
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open(MEMBER, "w", force_zip64=True) as member,
        ):
            for line in _chosen(lines, documents, observations):
                member.write(line.encode("utf-8") + b"\n")

    size = spool.make(key, write)
    return {
        "download_url": f"/v1/default/files/download/{key}",
        "storage_key": key,
        "byte_size": size,
        "filename": f"{bank}-transfer.zip",
    }


def _chosen(lines: Iterable[str], documents: frozenset[str] | None, observations: bool) -> Iterator[str]:
    """Yield the lines of the chosen documents and facts; links last, when it is known which facts there are."""
    facts: set[str] = set()
    links: list[tuple[str, dict[str, Any]]] = []
    for line in lines:
        part = json.loads(line)
        kind = part["kind"]
        if kind == "link":
            links.append((line, part))
            continue
        owner = part.get("id") if kind == "document" else part.get("document_id")
        if documents is not None and kind in ("document", "chunk", "fact") and owner not in documents:
            continue
        if kind == "fact":
            if part["type"] == "observation" and not observations:
                continue
            facts.add(part["id"])
        yield line
    yield from (line for line, link in links if link["source"] in facts and link["target"] in facts)


def _import(engine: Perdure, bank: str, data: bytes, on_conflict: str) -> dict[str, object]:
    """Into an empty bank exactly as exported; into another one by reading the documents anew."""
    before = engine.banks.find(bank)
    if not engine.banks.stats(bank).facts and not engine.documents.list(bank):
        facts = engine.banks.restore(bank, read_archive(data))
        if before is not None:
            restore_profile(engine, before)
        count = len(engine.documents.list(bank))
        return {"documents_imported": count, "documents_skipped": 0, "facts_imported": facts}
    return merge_archive(engine, bank, data, on_conflict)


def _check_archive(data: bytes) -> zipfile.ZipFile:
    """Return the archive, if it may be unpacked: before a bank is made for it, and again when it is read."""
    try:
        archive = zipfile.ZipFile(BytesIO(data))
        member = archive.getinfo(MEMBER)
    except (zipfile.BadZipFile, KeyError) as error:
        raise InvalidInput("file", f"a ZIP archive with {MEMBER}, as the export makes it") from error
    largest = min(_LARGEST_MEMBER, max(_SMALL_MEMBER, _LARGEST_RATIO * member.compress_size))
    if member.file_size > largest:
        raise InvalidInput("file", f"an archive of at most {largest} bytes unpacked", member.file_size)
    return archive


def read_archive(data: bytes) -> Iterator[str]:
    try:
        with _check_archive(data) as archive, archive.open(MEMBER) as member:
            yield from bounded_lines(TextIOWrapper(member, encoding="utf-8"))
    except (zipfile.BadZipFile, zlib.error, UnicodeDecodeError) as error:
        raise InvalidInput("file", f"an archive that is not damaged ({error})") from error


def merge_archive(engine: Perdure, bank: str, data: bytes, on_conflict: str) -> dict[str, object]:
    """Read the documents of an archive anew, one at a time; the whole archive is checked before the first."""
    lines = 0
    for _ in _documents(data):
        lines += 1
    if not lines:
        raise InvalidInput("file", f"an archive with a bank in {MEMBER}")
    stored = {document.id for document in engine.documents.list(bank)}
    imported = skipped = facts = 0
    for document in _documents(data):
        if document is None:
            continue
        document_id, fields, turns = document
        if document_id in stored and on_conflict == "skip":
            skipped += 1
            continue
        imported += 1
        renamed = document_id in stored and on_conflict == "new-id"
        name = f"{document_id}-{uuid4().hex[:8]}" if renamed else document_id
        items = [{"document_id": name, **fields, **turn} for turn in turns]
        if items:
            facts += len(engine.retain(bank, items).fact_ids)
    return {"documents_imported": imported, "documents_skipped": skipped, "facts_imported": facts}


_ArchivedDocument = tuple[str, dict[str, Any], list[dict[str, Any]]]


def _documents(data: bytes) -> Iterator[_ArchivedDocument | None]:
    """Documents with their turns as their chunks end, and None for each line before; chunks of one stand together."""
    documents: dict[str, dict[str, Any]] = {}
    current: _ArchivedDocument | None = None
    for number, line in enumerate(read_archive(data), start=1):
        yield None
        try:
            part = json.loads(line)
            if part["kind"] == "document":
                documents[part["id"]] = {name: part[name] for name in _OF_DOCUMENT}
            elif part["kind"] == "chunk":
                document_id, turns = part["document_id"], list(_turns(part))
                if current is not None and current[0] == document_id:
                    current[2].extend(turns)
                    continue
                if current is not None:
                    yield current
                current = document_id, documents.pop(document_id), turns
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(f"line {number} of {MEMBER}", "a line as the export writes it") from error
    if current is not None:
        yield current
    for document_id, fields in documents.items():
        yield document_id, fields, []


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
