"""Documents from bank to bank, as archives."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Query, UploadFile
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

from perdure.errors import NotFound
from perdure.surfaces.keys import Scope
from perdure.surfaces.rest.auth import AdminBank, Known, ReadBank
from perdure.surfaces.rest.schemas.retain import SubmitResponse
from perdure.surfaces.rest.schemas.shared import ERRORS
from perdure.surfaces.rest.service import Serving, exists, reply
from perdure.surfaces.rest.transfers import export_documents, import_documents, submit

router = APIRouter(prefix="/v1/default", tags=["Transfer"], responses=ERRORS)
_TRANSFER = "/banks/{bank_id}/document-transfer"


@router.get(_TRANSFER, operation_id="export_documents_sync_removed", status_code=410, response_model=None)
async def removed(bank: ReadBank) -> Any:
    """Gone: exports run in the background."""
    raise HTTPException(410, "post to document-transfer/export instead")


@router.post(
    _TRANSFER + "/export", operation_id="export_documents", status_code=202, response_model=SubmitResponse
)
async def export(
    service: Serving,
    bank: AdminBank,
    document_id: Annotated[list[str] | None, Query(description="Only these documents")] = None,
    include_observations: Annotated[bool, Query(description="Observations too")] = False,
) -> Response:
    """Make an archive of the documents and the facts drawn from them; the operation says where to get it."""
    if not await service.workers.run(exists, service.engine, bank):
        raise NotFound("bank", bank)
    chosen = frozenset(document_id) if document_id else None
    operation = await service.workers.run(
        submit,
        service,
        bank,
        "export",
        lambda ident: export_documents(service, bank, ident, chosen, include_observations),
    )
    return reply(SubmitResponse(operation_id=operation.id), 202)


@router.post(_TRANSFER, operation_id="import_documents", status_code=202, response_model=SubmitResponse)
async def import_archive(
    service: Serving,
    bank: AdminBank,
    file: Annotated[UploadFile, File(description="An archive that the export made")],
    on_conflict: Annotated[Literal["skip", "replace", "new-id"], Query()] = "skip",
) -> Response:
    """Take an archive in: exactly into an empty bank, else by reading its documents anew."""
    data = await file.read()
    if not await service.workers.run(exists, service.engine, bank):
        await service.workers.run(service.engine.configure_bank, bank)
    operation = await service.workers.run(
        submit, service, bank, "import", lambda _: import_documents(service, bank, data, on_conflict)
    )
    return reply(SubmitResponse(operation_id=operation.id), 202)


@router.get("/files/download/{key:path}", operation_id="download_file", response_class=Response)
async def download(service: Serving, caller: Known, key: str) -> Response:
    """A file that an operation made; the caller needs admin access to the bank it came from."""
    parts = key.split("/")
    if len(parts) < 3 or parts[0] != "banks":
        raise NotFound("file", key)
    caller.require(Scope.ADMIN, parts[1])
    path = service.spool.find(key)
    return FileResponse(path, media_type="application/zip", filename=f"{parts[1]}-transfer.zip")
