"""Whole banks from server to server and beside each other: clone, export, import; all in the background."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from fastapi import File, Query, UploadFile
from fastapi.responses import Response

from perdure import Perdure
from perdure.contrib.hindsight.bodies import SubmitResponse
from perdure.contrib.hindsight.transfer import (
    Spool,
    documents_of,
    merge_archive,
    read_archive,
    submit,
    write_archive,
)
from perdure.domain.bank import check_bank_id
from perdure.errors import Conflict, InvalidInput
from perdure.extending import chosen_lines
from perdure.surfaces.plugins.rest import AdminBank, Known, Resource, Scope, Service, Serving, require

router = Resource("Transfer", "/v1/default/banks/{bank_id}")
CLONE, EXPORT_BANK, IMPORT_BANK = "clone_bank", "export_bank", "import_bank"
WithData = Annotated[bool, Query(description="The memories, and what was thought on them")]
WithConfig = Annotated[bool, Query(description="Name, mission, disposition, settings and directives")]
WithHistory = Annotated[bool, Query(description="The audit log and the calls of language models")]
NO_HISTORY = "false: archives hold no logs; clone copies them"


@router.post("/clone", operation_id="clone_bank", status_code=202, response_model=SubmitResponse)
def clone(
    service: Serving,
    bank: AdminBank,
    caller: Known,
    target_bank_id: Annotated[str, Query(description="The bank to make; it must not exist")],
    include_data: WithData = True,
    include_bank_config: WithConfig = True,
    include_history: WithHistory = False,
) -> Response:
    """Copy a bank, webhooks included with its configuration; the caller needs admin access to both."""
    service.engine.banks.get(bank)
    body = {
        "target": _target(service, caller, target_bank_id), "data": include_data,
        "config": include_bank_config, "history": include_history,
    }  # fmt: skip
    return submit(service, bank, CLONE, body)


@router.post(
    "/transfer/export", operation_id="export_bank_transfer", status_code=202, response_model=SubmitResponse
)
def export_bank(
    service: Serving,
    bank: AdminBank,
    include_data: WithData = True,
    include_bank_config: WithConfig = True,
    include_history: WithHistory = False,
    document_id: Annotated[list[str] | None, Query(description="Only these documents")] = None,
) -> Response:
    """Make an archive of the bank; the operation says where to get it. Webhooks, which hold secrets, are not in it."""
    service.engine.banks.get(bank)
    if include_history:
        raise InvalidInput("include_history", NO_HISTORY, include_history)
    body = {"documents": document_id or None, "data": include_data, "config": include_bank_config}
    return submit(service, bank, EXPORT_BANK, body)


@router.post(
    "/transfer/import", operation_id="import_bank_transfer", status_code=202, response_model=SubmitResponse
)
def import_bank(
    service: Serving,
    bank: AdminBank,
    caller: Known,
    file: Annotated[UploadFile, File(description="An archive that the export made")],
    mode: Annotated[
        Literal["restore", "merge"], Query(description="A new bank, or into this one")
    ] = "restore",
    target_bank_id: Annotated[
        str | None, Query(description="restore: the bank to make; the archive's own unless given")
    ] = None,
    document_conflict: Annotated[Literal["skip", "replace", "new-id"], Query()] = "skip",
    include_data: WithData = True,
    include_bank_config: WithConfig = True,
    include_history: WithHistory = False,
) -> Response:
    """Take an archive in: `restore` into a bank that does not exist, `merge` by reading its documents anew into this one."""
    if include_history:
        raise InvalidInput("include_history", NO_HISTORY, include_history)
    archive = file.file.read()
    body: dict[str, object] = {
        "archive": b64encode(archive).decode(),
        "on_conflict": document_conflict,
        "target": None,
    }
    if mode == "merge":
        service.engine.banks.get(bank)
    else:
        target = target_bank_id or _source_of(archive)
        body |= {
            "target": _target(service, caller, target),
            "data": include_data,
            "config": include_bank_config,
        }
    return submit(service, bank, IMPORT_BANK, body)


def add_jobs(engine: Perdure, spool: Spool) -> None:
    """Register the background work that copies banks and writes and reads archives of them."""

    def chosen(lines: Iterator[str], body: Mapping[str, object]) -> Iterator[str]:
        return chosen_lines(lines, include_data=bool(body["data"]), include_config=bool(body["config"]))

    def copy(bank: str, _: str, body: Mapping[str, object]) -> Mapping[str, object]:
        facts = engine.banks.clone(
            bank, str(body["target"]), include_data=bool(body["data"]),
            include_config=bool(body["config"]), include_history=bool(body["history"]),
        )  # fmt: skip
        return {"target_bank_id": body["target"], "facts_imported": facts}

    def export(bank: str, operation_id: str, body: Mapping[str, object]) -> Mapping[str, object]:
        lines = chosen(engine.banks.export(bank), body)
        return write_archive(spool, bank, operation_id, lines, documents_of(body), observations=True)

    def restore(bank: str, _: str, body: Mapping[str, object]) -> Mapping[str, object]:
        archive = b64decode(str(body["archive"]))
        target = body["target"]
        if target is None:
            return merge_archive(engine, bank, archive, str(body["on_conflict"]))
        facts = engine.banks.restore(str(target), chosen(read_archive(archive), body))
        documents = len(engine.documents.list(str(target)))
        return {"target_bank_id": target, "facts_imported": facts, "documents_imported": documents}

    engine.jobs.add(CLONE, copy)
    engine.jobs.add(EXPORT_BANK, export)
    engine.jobs.add(IMPORT_BANK, restore)


def _source_of(archive: bytes) -> str:
    """Return the bank that an archive was made of."""
    head = next(read_archive(archive), "")
    try:
        return str(json.loads(head)["id"])
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput("file", "an archive that names its bank; or give target_bank_id") from error


def _target(service: Service, caller: Known, bank: str) -> str:
    """Return the id of the bank to make, which the caller must have admin access to and no bank has."""
    check_bank_id(bank)
    require(caller, Scope.ADMIN, bank)
    if service.engine.banks.find(bank) is not None:
        raise Conflict(f"bank {bank!r} exists already")
    return bank
