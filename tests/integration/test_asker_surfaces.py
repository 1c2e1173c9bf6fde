"""`asker` says whom "I" means, in Python, REST, MCP and the command line alike."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from perdure import AsyncPerdure, Item, Perdure
from perdure.recall.options import PromptOptions
from perdure.reflect.options import ReflectOptions
from perdure.surfaces.cli.main import main
from perdure.surfaces.mcp.tools import Tools
from tests.integration.rest_server import QUICK, open_quick, running

QUESTION = "Where do I live?"
BANK = "default"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path, tokens="approximate") as opened:
        for day, (name, home) in enumerate({"Kim": "Lisbon", "Bo": "Rome"}.items(), start=1):
            said_at = datetime(2025, 3, day, tzinfo=UTC)
            opened.retain(
                BANK,
                [Item(content=f"I live in {home}.", speaker=name, timestamp=said_at, document_id=name)],
            )
        yield opened


@pytest.mark.parametrize(("asker", "home"), [("Kim", "Lisbon"), ("Bo", "Rome")])
def test_python(engine: Perdure, asker: str, home: str) -> None:
    assert home in engine.recall(BANK, QUESTION, asker=asker).recollections[0].text
    assert home in engine.prompt(BANK, QUESTION, asker=asker, limit=1)
    assert home in engine.reflect(BANK, QUESTION, asker=asker, limit=1).text


@pytest.mark.parametrize(("asker", "home"), [("Kim", "Lisbon"), ("Bo", "Rome")])
def test_asynchronous_python(engine: Perdure, asker: str, home: str) -> None:
    async def ask() -> list[str]:
        memory = AsyncPerdure(engine)
        recalled = await memory.recall(BANK, QUESTION, asker=asker)
        reflection = await memory.reflect(BANK, QUESTION, asker=asker, limit=1)
        prompt = await memory.prompt(BANK, QUESTION, asker=asker, limit=1)
        return [recalled.recollections[0].text, reflection.text, prompt]

    assert all(home in answer for answer in asyncio.run(ask()))


def test_rest(engine: Perdure) -> None:
    with running(engine) as url, httpx.Client(base_url=f"{url}/v1/default/banks/{BANK}") as client:
        for asker, home in {"Kim": "Lisbon", "Bo": "Rome"}.items():
            asked = {"query": QUESTION, "asker": asker}
            recalled = client.post(
                "/memories/recall", json={**asked, "context_string": True, "limit": 1}
            ).json()
            assert home in recalled["results"][0]["text"]
            assert home in recalled["context"]
            reflected = client.post("/reflect", json={**asked, "include": {"facts": {}}}).json()
            assert home in reflected["based_on"]["memories"][0]["text"]


@pytest.mark.parametrize(("asker", "home"), [("Kim", "Lisbon"), ("Bo", "Rome")])
def test_mcp(engine: Perdure, asker: str, home: str) -> None:
    tools = Tools(engine)
    for answer in (
        tools.recall(QUESTION, PromptOptions(asker=asker)),
        tools.reflect(QUESTION, ReflectOptions(asker=asker)),
    ):
        text = answer.text
        other = "Rome" if home == "Lisbon" else "Lisbon"
        assert home in text
        assert text.index(home) < (text.index(other) if other in text else len(text))


@pytest.mark.parametrize("command", ["recall", "context", "reflect"])
@pytest.mark.parametrize(("asker", "home"), [("Kim", "Lisbon"), ("Bo", "Rome")])
def test_command_line(
    engine: Perdure,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    asker: str,
    home: str,
) -> None:
    for name, value in {**QUICK, "tokens": "approximate"}.items():
        monkeypatch.setenv(f"PERDURE_{name.upper()}", str(value))
    engine.close()
    arguments = [command, QUESTION, "--asker", asker, "--database", str(tmp_path / "memory.db"), "--json"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    other = "Rome" if home == "Lisbon" else "Lisbon"
    assert out.index(home) < (out.index(other) if other in out else len(out))
