"""What surfaces look up by id or name."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure import Perdure
from perdure.errors import NotFound


def test_banks_documents_and_entities_are_found_or_named(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as engine:
        engine.retain("b", "Maya Silva plays the cello.", document_id="d")
        assert engine.banks.find("b") is not None
        assert engine.banks.find("c") is None
        assert engine.documents.get("b", "d").id == "d"
        maya = engine.entities.get("b", "maya silva")
        assert engine.entities.get("b", maya.id) == maya
        with pytest.raises(NotFound, match="document 'e'"):
            engine.documents.get("b", "e")
        with pytest.raises(NotFound, match="entity 'Nobody'"):
            engine.entities.get("b", "Nobody")
