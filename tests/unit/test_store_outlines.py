"""Names behind the hashes of an index: read once, and right also when they are forgotten."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from perdure.domain.ranking import ranking_fields
from perdure.ports.probe import KeywordProbe
from perdure.stores.sqlite import outlines
from perdure.stores.sqlite import queries as catalog
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.making import BANK, CURRENT, make_fact, new, put

FACTS = [
    make_fact(f"f{n}", document_id=f"d{n}" if n % 5 else None, speaker=f"Speaker {n % 7}") for n in range(40)
]


@pytest.mark.parametrize("remembered", [0, 3, 1000])
def test_names_that_were_forgotten_are_told_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remembered: int
) -> None:
    monkeypatch.setattr(outlines, "_REMEMBERED", remembered)
    with closing(SqliteStore.open(str(tmp_path / "bank.db"))) as store:
        put(store, *(new(fact, words="cat") for fact in FACTS))
        store.search(BANK, KeywordProbe({"cat": 1.0}), CURRENT, 1)
        for start in (0, 5, 12, 20, 0):
            some = FACTS[start : start + 20]
            assert store.outlines(BANK, [fact.id for fact in some]) == {
                fact.id: ranking_fields(fact) for fact in some
            }


def test_a_name_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    ids_of = catalog.document_ids

    def counted(db: object, numbers: list[int]) -> list[str]:
        read.append(len(numbers))
        return ids_of(db, numbers)  # type: ignore[arg-type]

    monkeypatch.setattr(catalog, "document_ids", counted)
    with closing(SqliteStore.open(str(tmp_path / "bank.db"))) as store:
        put(store, *(new(fact, words="cat") for fact in FACTS))
        store.search(BANK, KeywordProbe({"cat": 1.0}), CURRENT, 1)
        for count in (10, 10, 20):
            store.outlines(BANK, [fact.id for fact in FACTS[:count]])
    assert read == [8, 8]
