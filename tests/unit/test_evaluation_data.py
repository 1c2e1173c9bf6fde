"""Labelled data files: what is read, and what is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from perdure.errors import InvalidInput, NotFound
from perdure.evaluation.data import load_banks
from perdure.evaluation.measures import Ranking, Report

ITEM = {"id": "i1", "session": "s1", "date": "2023-05-08", "speaker": "Ann", "text": "I like rye."}
QUERY = {"id": "q1", "query": "What does Ann like?", "type": "single-hop", "evidence": ["i1"]}


def write(path: Path, body: object) -> Path:
    path.write_text(json.dumps(body), encoding="utf-8")
    return path


def test_evidence_sessions_follow_from_the_items(tmp_path: Path) -> None:
    bank = load_banks(write(tmp_path / "d.json", [{"bank": "b", "items": [ITEM], "queries": [QUERY]}]))[0]
    assert bank.queries[0].evidence == {"i1"}
    assert bank.queries[0].evidence_sessions == {"s1"}


def figures_of(folder: Path, *types: str | None) -> dict[str, Any]:
    """The figures over items of questions of these types, of which the first alone is answered."""
    queries = [{**QUERY, "id": f"q{i}", "type": kind} for i, kind in enumerate(types)]
    (bank,) = load_banks(write(folder / "d.json", [{"bank": "b", "items": [ITEM], "queries": queries}]))
    rankings = [
        Ranking(
            query_id=query.id, type=query.type, items=("i1",) if query.id == "q0" else (), sessions=(),
            evidence=query.evidence, evidence_sessions=query.evidence_sessions, milliseconds=1.0,
        )
        for query in bank.queries
    ]  # fmt: skip
    return Report("default", "local", rankings).figures()["items"]


def test_questions_without_a_type_do_not_stand_for_all(tmp_path: Path) -> None:
    found = figures_of(tmp_path, "single-hop", None, None, None)
    assert {kind: (row["queries"], row["recall@1"]) for kind, row in found.items()} == {
        "all": (4, 0.25), "single-hop": (1, 1.0), "untyped": (3, 0.0),
    }  # fmt: skip


def test_a_type_of_the_name_of_the_total_does_not_take_its_place(tmp_path: Path) -> None:
    found = figures_of(tmp_path, "open", "all")
    assert {kind: row["queries"] for kind, row in found.items()} == {"all": 2, "open": 1}


def test_without_any_type_there_is_only_the_total(tmp_path: Path) -> None:
    assert list(figures_of(tmp_path, None, None)) == ["all"]


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
