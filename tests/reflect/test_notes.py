"""Notes: their format, what they tell, and that erased content leaves them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure import InvalidInput, OperationStatus, Perdure
from perdure.domain.note import (
    CHANGED,
    HAPPENED,
    Note,
    NoteLine,
    note_names,
    note_window,
)
from perdure.forget.options import Target
from perdure.forget.pipeline import forget
from perdure.reflect.erasure import scrub_records
from perdure.reflect.notes.write import NOTE_PENDING
from perdure.stores.notes_folder import NotesFolder
from tests.support.ending import end_fact

GOLDEN = Path(__file__).parents[1] / "golden" / "note_1.md"
DAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
BANK = "b"


def golden_note() -> Note:
    return Note(
        bank=BANK,
        name="daily/2026-11-16",
        sections=(
            (
                HAPPENED,
                (NoteLine("Ann moved to Lisbon.", ("f1",)), NoteLine("Ann likes <!-- tea -->.", ("f2",))),
            ),
            (CHANGED, (NoteLine("Ann lives in Berlin. Until 2026-11-16, then: Lisbon", ("f0", "f1")),)),
        ),
    )


def test_a_note_is_written_as_the_golden_file_has_it() -> None:
    assert str(golden_note()) == GOLDEN.read_text(encoding="utf-8")


@given(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)))
def test_a_moment_lies_in_the_notes_that_are_named_for_it(moment: datetime) -> None:
    for name in note_names(moment.replace(tzinfo=UTC)):
        window = note_window(name)
        assert window is not None
        assert window.start is not None
        assert window.end is not None
        assert window.start <= moment.replace(tzinfo=UTC) < window.end


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with open_memory(tmp_path) as engine:
        yield engine


def open_memory(folder: Path, **options: Any) -> Perdure:
    return Perdure.open(
        folder / "m.db", embedder="hashing", reranker="none", tagger="rules", notes_folder=folder / "notes",
        clock=lambda: DAY + timedelta(days=3), **options,
    )  # fmt: skip


def consolidate(memory: Perdure) -> None:
    done = memory.operations.get(BANK, memory.consolidate(BANK).id, wait=60)
    assert done.status is OperationStatus.COMPLETED, done.error


def fill(memory: Perdure) -> list[str]:
    ids = [
        fact_id
        for text in ("I live in Berlin.", "I like tea.")
        for fact_id in memory.retain(BANK, text, speaker="Ann", timestamp=DAY).fact_ids
    ]
    moved = memory.retain(BANK, "I live in Lisbon now.", speaker="Ann", timestamp=DAY + timedelta(days=1))
    end_fact(memory, BANK, ids[0], moved.fact_ids[0], DAY + timedelta(days=1))
    consolidate(memory)
    return [*ids, *moved.fact_ids]


def test_a_day_tells_what_happened_and_what_changed(memory: Perdure) -> None:
    fill(memory)
    assert set(memory.notes.list(BANK, "daily")) == {"daily/2026-11-16", "daily/2026-11-17"}
    assert {"weekly/2026-W47", "quarterly/2026-Q4"} <= set(memory.notes.list(BANK))
    told = {
        heading: [line.text for line in lines]
        for heading, lines in memory.notes.get(BANK, "daily/2026-11-17").sections
    }
    assert told[HAPPENED] == ['2026-11-17 Ann: "I live in Lisbon now."']
    assert told[CHANGED] == ["I live in Berlin. Until 2026-11-17, then: I live in Lisbon now."]


def test_a_note_is_made_anew_when_a_fact_in_it_changes(memory: Perdure) -> None:
    _, tea, _ = fill(memory)
    memory.facts.update(BANK, tea, text="Ann likes coffee.")
    consolidate(memory)
    texts = [line.text for name in memory.notes.list(BANK) for line in memory.notes.get(BANK, name).lines]
    assert any("Ann likes coffee." in text for text in texts)
    assert not any("I like tea" in text or "Ann likes tea" in text for text in texts if "then:" not in text)


def test_erased_content_leaves_the_files_at_once(memory: Perdure, tmp_path: Path) -> None:
    _, tea, _ = fill(memory)
    memory.forget(BANK, fact_id=tea)
    files = list((tmp_path / "notes").rglob("*.md"))
    assert files
    assert not any("tea" in path.read_text() for path in files)


def test_a_forgotten_bank_leaves_no_notes(memory: Perdure, tmp_path: Path) -> None:
    fill(memory)
    memory.forget(BANK, everything=True)
    assert list((tmp_path / "notes").rglob("*.md")) == []


def test_a_crash_between_the_erasure_and_the_files_is_repaired_by_the_next_open(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        _, tea, _ = fill(memory)
        forget(memory._store, BANK, Target(fact_id=tea), records=scrub_records)
        assert "tea" in (tmp_path / "notes" / BANK / "daily" / "2026-11-16.md").read_text()
        shown = [line.text for name in memory.notes.list(BANK) for line in memory.notes.get(BANK, name).lines]
        assert "Ann likes tea." not in shown
        recalled = memory.recall(BANK, "tea", recipe="abmind", track=False)
        assert not any("tea" in one.text for one in recalled)
    with open_memory(tmp_path) as memory:
        assert memory.records.list(NOTE_PENDING, bank=BANK) == []
    assert not any("tea" in path.read_text() for path in (tmp_path / "notes").rglob("*.md"))


def test_notes_are_found_by_the_notes_channel_with_their_facts(memory: Perdure) -> None:
    fill(memory)
    result = memory.recall(BANK, "tea", recipe="abmind", track=False)
    lines = [one.fact for one in result if one.fact.id.startswith("note:")]
    assert lines
    assert all(line.source_fact_ids for line in lines)


def test_a_note_that_somebody_wrote_is_never_changed(memory: Perdure, tmp_path: Path) -> None:
    own = tmp_path / "notes" / BANK / "daily" / "2026-11-16.md"
    own.parent.mkdir(parents=True)
    own.write_text("My own words.\n")
    fill(memory)
    memory.forget(BANK, everything=True)
    assert own.read_text() == "My own words.\n"


@pytest.mark.parametrize("name", ["daily/2026-13-01", "../x", "weekly/2026-W60", "yearly/2026", ""])
def test_what_is_no_name_of_a_note_is_refused(memory: Perdure, name: str) -> None:
    with pytest.raises(InvalidInput):
        memory.notes.get(BANK, name)


@pytest.mark.parametrize("bank", [".", ".."])
def test_no_bank_leads_out_of_the_folder(tmp_path: Path, bank: str) -> None:
    with pytest.raises(InvalidInput, match="bank"):
        NotesFolder(tmp_path / "notes").write_note(bank, "daily/2026-11-16", str(golden_note()))
    assert not list(tmp_path.rglob("*.md"))
