"""A directive's history: what it was before each change, in its bank, in exports and in copies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure import Perdure
from tests.support.rest_server import open_quick

BANK = "house"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        engine.retain(BANK, "Ann plays the violin.")
        yield engine


def test_a_changed_directive_tells_what_it_was_and_since_when(memory: Perdure) -> None:
    rule = memory.directives.create(BANK, "Tone", "Answer in one sentence.", tags=["mail"])
    assert memory.directives.history(BANK, rule.id) == []
    second = memory.directives.update(BANK, rule.id, content="Answer in two sentences.")
    memory.directives.update(BANK, rule.id, is_active=False)
    assert memory.directives.history(BANK, rule.id) == [second, rule]


def test_the_history_goes_along_with_an_export_and_a_copy_of_the_settings(memory: Perdure) -> None:
    rule = memory.directives.create(BANK, "Tone", "Answer in one sentence.")
    memory.directives.update(BANK, rule.id, content="Answer in two sentences.")
    memory.banks.restore("again", memory.banks.export(BANK))
    memory.banks.clone(BANK, "copy", include_data=False)
    for bank in ("again", "copy"):
        (earlier,) = memory.directives.history(bank, memory.directives.list(bank)[0].id)
        assert earlier.content == "Answer in one sentence."
