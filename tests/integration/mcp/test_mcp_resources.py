"""Mental models as resources, read by a real MCP client."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from mcp import McpError
from pydantic import AnyUrl

from perdure import Perdure
from perdure.surfaces.keys import create_key
from perdure.surfaces.mcp.http import create_app
from tests.integration.mcp.test_mcp_http import connected, serving
from tests.integration.mcp.test_mcp_stdio import connected as connected_by_stdio

QUICK = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
    "require_keys": False,
}


def fill(engine: Perdure, bank: str, text: str) -> str:
    engine.retain(bank, text)
    model, operation = engine.create_mental_model(bank, f"About {bank}", "What is known?")
    engine.operation(bank, operation.id, wait=20)
    return model.id


def test_a_client_over_stdio_lists_and_reads_models(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "memory.db", **QUICK) as engine:  # type: ignore[arg-type]
        model_id = fill(engine, "my team", "Ann Lee paints houses.")

    async def talk() -> None:
        async with connected_by_stdio(tmp_path) as session:
            (template,) = (await session.list_resource_templates()).resourceTemplates
            assert template.uriTemplate == "perdure://banks/{bank}/mental-models/{id}"
            (resource,) = (await session.list_resources()).resources
            assert str(resource.uri) == f"perdure://banks/my%20team/mental-models/{model_id}"
            assert (resource.name, resource.mimeType) == ("About my team", "text/markdown")
            (content,) = (await session.read_resource(resource.uri)).contents
            assert "- Ann Lee paints houses." in content.text  # type: ignore[union-attr]
            assert "Memory has changed" not in content.text  # type: ignore[union-attr]
            await session.call_tool("retain", {"content": "Ann Lee owns a boat.", "bank": "my team"})
            (content,) = (await session.read_resource(resource.uri)).contents
            assert "Memory has changed" in content.text  # type: ignore[union-attr]
            for wrong in ("perdure://banks/my%20team/mental-models/nothing", "perdure://elsewhere/x"):
                with pytest.raises(McpError, match="not_found"):
                    await session.read_resource(AnyUrl(wrong))

    asyncio.run(talk())


def test_a_key_reads_the_models_of_its_banks_alone(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "memory.db", **QUICK) as engine:  # type: ignore[arg-type]
        mine = fill(engine, "mine", "Ann Lee paints houses.")
        other = fill(engine, "other", "Bo Kay sings.")
        _, key = create_key(engine, banks=["mine"], scopes=["read"])

        async def talk(url: str) -> None:
            async with connected(f"{url}/mcp", key) as session:
                (resource,) = (await session.list_resources()).resources
                assert str(resource.uri).endswith(mine)
                with pytest.raises(McpError, match="unauthorised"):
                    await session.read_resource(AnyUrl(f"perdure://banks/other/mental-models/{other}"))
            async with connected(f"{url}/mcp/mine", key) as session:
                assert len((await session.list_resources()).resources) == 1
                with pytest.raises(McpError, match="invalid_input"):
                    await session.read_resource(AnyUrl(f"perdure://banks/other/mental-models/{other}"))

        with serving(create_app(engine)) as url:
            asyncio.run(talk(url))
