"""`perdure eval`: a labelled file is retained, asked, measured, written out and found again in the cache."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ITEMS = [
    {
        "id": "t1",
        "session": "s1",
        "date": "2023-05-08",
        "speaker": "Ann",
        "text": "I adopted a grey cat called Miso.",
    },
    {
        "id": "t2",
        "session": "s1",
        "date": "2023-05-08",
        "speaker": "Ben",
        "text": "The bakery sells rye bread.",
    },
    {
        "id": "t3",
        "session": "s2",
        "date": "2023-06-01",
        "speaker": "Ann",
        "text": "I ran the Lisbon marathon.",
    },
]
QUERIES = [
    {
        "id": "q1",
        "query": "What is Ann's cat called?",
        "type": "single-hop",
        "evidence": ["t1"],
        "date": "2023-07-01",
    },
    {"id": "q2", "query": "Which marathon did Ann run?", "type": "single-hop", "evidence": ["t3"]},
    {"id": "q3", "query": "What does the bakery sell?", "type": "open", "evidence": ["t2"]},
]


@pytest.fixture
def labelled(cli: Any) -> Any:
    body = [{"bank": "b", "items": ITEMS, "queries": QUERIES}]
    (cli.folder / "data.json").write_text(json.dumps(body), encoding="utf-8")
    return cli


def test_figures_rankings_and_cache(labelled: Any) -> None:
    ran = labelled("eval", "data.json", "--out", "rankings.jsonl", "--cache", "kept", "--json")
    assert ran.code == 0
    assert ran.json["items"]["all"]["recall@1"] == 1.0
    assert ran.json["sessions"]["single-hop"]["queries"] == 2
    lines = [json.loads(line) for line in (labelled.folder / "rankings.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["q1", "q2", "q3"]
    assert [line["ranked"][0] for line in lines] == ["t1", "t3", "t2"]
    assert all(line["ms"] > 0 for line in lines)
    kept = kept_files(labelled.folder / "kept")
    again = labelled("eval", "data.json", "--cache", "kept", "--json")
    assert again.json == ran.json
    assert kept_files(labelled.folder / "kept") == kept
    body = [{"bank": "b", "items": ITEMS, "queries": [{**query, "type": "mended"} for query in QUERIES]}]
    (labelled.folder / "data.json").write_text(json.dumps(body), encoding="utf-8")
    assert labelled("eval", "data.json", "--cache", "kept", "--json").json["items"]["mended"]["queries"] == 3


def kept_files(folder: Path) -> list[str]:
    """Databases and results; a database's log goes when the last thread that read it has ended."""
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".db", ".json"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "data: expected at least one bank"),
        ([{"bank": "b", "items": ITEMS, "queries": [{**QUERIES[0], "evidence": 5}]}], "queries[0].evidence"),
        (
            [{"bank": "b", "items": ITEMS, "queries": [{**QUERIES[0], "evidence_sessions": "s"}]}],
            "evidence_sessions",
        ),
    ],
)
def test_data_that_labels_nothing_is_refused_by_its_place(cli: Any, data: object, said: str) -> None:
    (cli.folder / "data.json").write_text(json.dumps(data))
    ran = cli("eval", "data.json", "--no-cache")
    assert ran.code == 2, ran.err
    assert said in ran.err


@pytest.mark.parametrize("options", [("--out", "no/such/file"), ("--out", "."), ("--cache", "data.json/x")])
def test_a_place_that_cannot_be_written_is_named_before_the_work(
    labelled: Any, options: tuple[str, str]
) -> None:
    ran = labelled("eval", "data.json", *options)
    assert ran.code == 2, ran.err
    assert ran.err.startswith(f"perdure: error: {options[0]}: expected")
