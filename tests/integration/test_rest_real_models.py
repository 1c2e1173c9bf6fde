"""The whole way with the real models: a server, a client, and the right answers."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from perdure import Perdure
from perdure.errors import ModelMissing
from tests.integration.rest_server import running

BANK = "/v1/default/banks/team"
TEXTS = [
    "Alice Johnson works at Google as a software engineer.",
    "Bob Smith enjoys hiking in the mountains on weekends.",
    "The quarterly budget was approved by the board in May 2024.",
]


def test_retain_and_recall_with_real_models(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "memory.db", require_keys=False) as engine:
        try:
            engine.retain("warm", "Carol Brown likes tea.")
        except ModelMissing as error:
            pytest.skip(str(error))
        with running(engine) as url, httpx.Client(base_url=url, timeout=120) as client:
            body = {"items": [{"content": text} for text in TEXTS]}
            assert client.post(f"{BANK}/memories", json=body).status_code == 200
            for question, expected in (
                ("Who is employed by a search engine company?", "Google"),
                ("Which colleague likes the outdoors?", "hiking"),
                ("When did the board agree to the spending plan?", "budget"),
            ):
                answer = client.post(f"{BANK}/memories/recall", json={"query": question}).json()
                assert expected in answer["results"][0]["text"], question
                assert answer["degraded"] == []
                assert answer["results"][0]["scores"]["reranker"] is not None
            reflected = client.post(
                f"{BANK}/reflect", json={"query": "Where does Alice Johnson work?"}
            ).json()
            assert "Google" in reflected["text"]
