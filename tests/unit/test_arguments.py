"""What surfaces look up by id or name."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure import Perdure
from perdure.errors import NotFound
from perdure.surfaces.arguments import find_bank, find_document, find_entity


def test_banks_documents_and_entities_are_found_or_named(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as engine:
        engine.retain("b", "Maya Silva plays the cello.", document_id="d")
        assert find_bank(engine, "b") is not None
        assert find_bank(engine, "c") is None
        assert find_document(engine, "b", "d").id == "d"
        maya = find_entity(engine, "b", "maya silva")
        assert find_entity(engine, "b", maya.id) == maya
        with pytest.raises(NotFound, match="document 'e'"):
            find_document(engine, "b", "e")
        with pytest.raises(NotFound, match="entity 'Nobody'"):
            find_entity(engine, "b", "Nobody")
