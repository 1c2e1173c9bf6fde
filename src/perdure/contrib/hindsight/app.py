"""Adding Hindsight's API to the HTTP app and its tools beside MCP: what the entry points of this package name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.applications import Starlette

from perdure import __version__
from perdure.contrib.hindsight import (
    aliases,
    bank_transfer,
    banks,
    config,
    consolidation,
    directives,
    documents,
    entities,
    knowledge_base,
    logs,
    memories,
    mental_models,
    operations,
    previews,
    recall,
    reflect,
    retain,
    stats,
    templates,
    transfer,
    webhooks,
)
from perdure.surfaces.plugins.rest import Audited, KeyRing, Service, reply

if TYPE_CHECKING:
    from perdure.surfaces.plugins.mcp import McpEndpoint

HINDSIGHT_API = "0.9.1"
"""The version of Hindsight's API whose paths and bodies this server speaks."""
ROUTERS = (
    recall, reflect, retain, banks, config, previews, consolidation, memories, entities, documents, operations,
    stats, transfer, directives, mental_models, knowledge_base, templates, webhooks, logs, aliases, bank_transfer,
)  # fmt: skip
"""In the order in which a request is compared with them."""
ACTIONS = {
    "recall_memories": "recall",
    "retain_memories": "retain",
    "create_or_update_bank": "create_bank",
    "clear_bank_memories": "clear_memories",
    "trigger_consolidation": "consolidation",
}
"""Operation -> the name that Hindsight's audit log gives the action; the others have their own."""
CONFIGURING = (
    "create_bank",
    "update_bank",
    "update_bank_config",
    "reset_bank_config",
    "import_bank_template",
)
"""Actions that may switch a bank's audit log on."""
router = APIRouter(tags=["Monitoring"])


class FeaturesInfo(BaseModel):
    """What is switched on."""

    observations: bool = True
    mcp: bool = False
    worker: bool = True
    bank_config_api: bool = True
    bank_llm_health: bool = True
    file_upload_api: bool = True
    document_export_api: bool = True
    document_import_api: bool = True
    audit_log: bool = True
    llm_trace: bool = True
    store_document_text: bool = True


class VersionResponse(BaseModel):
    """Which API this is, and whose server."""

    api_version: str = HINDSIGHT_API
    features: FeaturesInfo = FeaturesInfo()
    server: str = "perdure"
    server_version: str = __version__


@router.get("/version", operation_id="get_version", response_model=VersionResponse)
async def version(request: Request) -> Response:
    """Return the API's version and the features that are on."""
    with_mcp = any(getattr(route, "path", "").startswith("/mcp") for route in request.app.routes)
    return reply(VersionResponse(features=FeaturesInfo(mcp=with_mcp)))


def mcp_endpoint(app: Starlette, keys: KeyRing, max_request_bytes: int) -> McpEndpoint:
    """Return the endpoint of Hindsight's tools, which are calls of the app's own routes."""
    from perdure.contrib.hindsight.mcp_server import PATH, create_server
    from perdure.surfaces.plugins.mcp import McpEndpoint

    rest = Audited(aliases.Aliased(app.router, app.state.aliases), app.state.service.trail)
    servers = create_server(rest, with_bank=True), create_server(rest, with_bank=False)
    return McpEndpoint(PATH, servers, keys, max_request_bytes)


def install(app: FastAPI) -> None:
    """Add the routes of Hindsight's API to an app that has not started."""
    service: Service = app.state.service
    spool = transfer.Spool()
    service.closing.callback(spool.close)
    service.on_forget.append(spool.drop_bank)
    service.trail.names.update(ACTIONS)
    service.trail.configuring.update(CONFIGURING)
    engine = service.engine
    transfer.add_jobs(engine, spool)
    bank_transfer.add_jobs(engine, spool)
    app.state.spool = spool
    app.state.aliases = aliases.AliasTable(engine, service.workers)
    app.add_middleware(aliases.Aliased, table=app.state.aliases)
    for module in ROUTERS:
        app.include_router(module.router)
    app.include_router(router)
