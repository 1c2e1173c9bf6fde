"""An import streams: memory holds a batch of lines, a bank comes whole or not at all, and what is too large is refused."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator

import pytest

from perdure.contrib.hindsight import transfer as archives
from perdure.errors import InvalidInput
from perdure.manage import transfer
from perdure.manage.transfer import export_bank, import_bank
from tests.manage.memory import Memory
from tests.support.memory_store import MemoryStore


def many(memory: Memory, count: int) -> Iterator[str]:
    """The lines of an export, its fact repeated."""
    memory.retain("Ann moved from Oslo to Lisbon.", document_id="first")
    for line in export_bank(memory.store, "b", memory.moment):
        body = json.loads(line)
        if body["kind"] != "fact":
            yield line
            continue
        for number in range(count):
            yield json.dumps({**body, "id": f"x{number}"})


def test_more_facts_than_a_batch_come_whole() -> None:
    copy = MemoryStore()
    count = 2 * transfer.PAGE + 3
    assert import_bank(copy, "b", many(Memory(), count)) == count
    with copy.reading("b") as reading:
        assert reading.stats().facts == count
        assert len(reading.documents()) == 1


def test_a_line_that_is_wrong_at_the_end_leaves_no_bank() -> None:
    copy = MemoryStore()
    lines = [*many(Memory(), transfer.PAGE + 1), '{"kind": "fact"}']
    with pytest.raises(InvalidInput, match=f"line {len(lines)}"):
        import_bank(copy, "b", lines)
    assert copy.banks() == []


@pytest.mark.parametrize(
    "line", ["[" * 100_000, '{"kind": ' + "9" * 10_000 + "}"], ids=["deep", "long number"]
)
def test_a_hostile_line_is_an_error_of_that_line(line: str) -> None:
    lines = [*many(Memory(), 1), line]
    with pytest.raises(InvalidInput, match=f"line {len(lines)}"):
        import_bank(MemoryStore(), "b", lines)


def archive_of(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(archives.MEMBER, content)
    return packed.getvalue()


def test_an_archive_that_unpacks_to_many_times_its_size_is_refused() -> None:
    bomb = archive_of(b"\n" * (archives._SMALL_MEMBER + 1))
    assert len(bomb) < archives._SMALL_MEMBER // 500
    with pytest.raises(InvalidInput, match="bytes unpacked"):
        next(archives.read_archive(bomb))
    assert list(archives.read_archive(archive_of(b"a\nb\n"))) == ["a\n", "b\n"]
