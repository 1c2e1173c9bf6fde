"""Labelled data files: what is read, and what is refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.evaluation.data import load_banks

ITEM = {"id": "i1", "session": "s1", "date": "2023-05-08", "speaker": "Ann", "text": "I like rye."}
QUERY = {"id": "q1", "query": "What does Ann like?", "type": "single-hop", "evidence": ["i1"]}


def write(path: Path, body: object) -> Path:
    path.write_text(json.dumps(body), encoding="utf-8")
    return path


def test_evidence_sessions_follow_from_the_items(tmp_path: Path) -> None:
    bank = load_banks(write(tmp_path / "d.json", [{"bank": "b", "items": [ITEM], "queries": [QUERY]}]))[0]
    assert bank.queries[0].evidence == {"i1"}
    assert bank.queries[0].evidence_sessions == {"s1"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"bank": "b"}, "data"),
        ([{"bank": "b", "items": []}], "banks[0].queries"),
        ([{"bank": "b", "items": {}, "queries": []}], "banks[0].items"),
        ([{"bank": "b", "items": [3], "queries": []}], "banks[0].items[0]"),
        ([{"bank": "b", "items": [ITEM], "queries": [{"id": "q"}]}], "banks[0].queries[0]"),
    ],
)
def test_a_malformed_file_is_refused_with_its_place(tmp_path: Path, body: object, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        load_banks(write(tmp_path / "d.json", body))
    assert refused.value.field == field


def test_a_missing_file_and_one_that_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        load_banks(tmp_path / "none.json")
    (tmp_path / "x.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="UTF-8"):
        load_banks(tmp_path / "x.json")
