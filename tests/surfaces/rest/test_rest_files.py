"""Files over HTTP: read by their kind, remembered in the background, with their tags."""

from __future__ import annotations

from pathlib import Path

from fastapi.testclient import TestClient

from perdure import Perdure
from perdure.surfaces.rest.app import create_app


def test_a_file_is_remembered_under_its_name_and_a_binary_one_is_refused(tmp_path: Path) -> None:
    with (
        Perdure.open(
            tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules", require_keys=False
        ) as engine,
        TestClient(create_app(engine), base_url="http://127.0.0.1") as client,
    ):
        path = "/v1/perdure/banks/b/files"
        answer = client.post(f"{path}/letter.md?tag=post&tag=home", content=b"Rita bought a blue boat.")
        assert answer.status_code == 200
        engine.operations.get("b", answer.json()["id"], wait=60)
        (document,) = engine.documents.list("b")
        assert (document.title, document.tags) == ("letter.md", {"post", "home"})
        assert [fact.text for fact in engine.facts.list("b").facts] == ["Rita bought a blue boat."]
        refused = client.post(f"{path}/film.mp4", content=b"\x00\x01")
        assert refused.status_code == 422
        assert "film.mp4" in refused.text
