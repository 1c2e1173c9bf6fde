"""Files over HTTP: the one input that does not fit into the JSON of a verb."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request
from fastapi.responses import Response

from perdure.documents.reader import read_file
from perdure.domain.operation import Operation
from perdure.remote.wire import PATH, encode_result
from perdure.surfaces.rest.service import Resource, Service, Serving, WriteBank

router = Resource("Perdure", PATH)


@router.post("/banks/{bank_id}/files/{name}", operation_id="retain_file")
async def retain_file(
    request: Request,
    service: Serving,
    bank: WriteBank,
    name: Annotated[str, Path(description="File name, which tells its kind")],
    tag: Annotated[list[str], Query(description="Tags of its facts")] = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    """Remember a file in the background: text, HTML, PDF, DOCX, mail, CSV, SVG or source code, as the body of the request."""
    operation = await service.workers.retain(_retain, service, bank, name, tag, await request.body())
    return Response(encode_result(operation), media_type="application/json")


def _retain(service: Service, bank: str, name: str, tags: list[str], data: bytes) -> Operation:
    read = read_file(data, name)
    item: dict[str, Any] = {"content": read.text, "title": read.title or name, "tags": tags}
    item |= {"timestamp": read.written_at} if read.written_at is not None else {}
    item |= {"speaker": read.speaker} if read.speaker else {}
    return service.engine.retain_later(bank, item)
