"""Facts that a person changes: what does not fit is refused, and what is given back is what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import InvalidInput

OPTIONS: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", **OPTIONS) as opened:
        yield opened


@pytest.mark.parametrize(
    "changes",
    [
        {"context": None}, {"tags": "home"}, {"tags": [1]}, {"tags": None}, {"tags": ["a\ud800"]},
        {"tags": [" "]},
        {"metadata": {"k": 1}}, {"metadata": 5}, {"classification": "x"}, {"classification": 1.5},
        {"confidence": "x"}, {"relevance": float("nan")}, {"subject": 7}, {"entities": ["Ann"]}, {"flags": 3},
    ],
)  # fmt: skip
def test_values_of_another_kind_are_refused(memory: Perdure, changes: dict[str, Any]) -> None:
    [ident] = memory.retain("b", "Ann lives in Oslo.").fact_ids
    before = memory.facts.get("b", ident)
    with pytest.raises(InvalidInput, match=next(iter(changes))):
        memory.facts.update("b", ident, **changes)
    assert memory.facts.get("b", ident) == before


def test_a_document_gets_no_blank_tag(memory: Perdure) -> None:
    memory.retain("b", "Ann lives in Oslo.", document_id="one", tags=["home"])
    with pytest.raises(InvalidInput, match="tags"):
        memory.documents.retag("b", "one", [""])
    assert memory.documents.list("b")[0].tags == {"home"}


def test_a_fact_changed_into_another_is_that_other(memory: Perdure) -> None:
    [first] = memory.retain("b", "Ann lives in Oslo.", document_id="one").fact_ids
    [second] = memory.retain("b", "Ben likes green tea.", document_id="two").fact_ids
    changed = memory.facts.update("b", second, text=memory.facts.get("b", first).text)
    assert memory.facts.get("b", changed.id) == changed


@pytest.mark.parametrize("page", [{"offset": -1}, {"limit": -1}])
def test_a_page_begins_and_ends_somewhere(memory: Perdure, page: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(page))):
        memory.facts.list("b", **page)


def test_settings_of_a_bank_are_json(memory: Perdure) -> None:
    with pytest.raises(InvalidInput, match="settings"):
        memory.banks.configure("b", settings={"a": object()})
    assert memory.banks.list() == []
