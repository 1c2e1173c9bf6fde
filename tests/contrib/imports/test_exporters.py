"""Exports for other programs: whole, true, and readable by what they are for."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from perdure import Filter, InvalidInput, NotFound, Perdure
from perdure.contrib.imports.markdown import read_note
from perdure.manage.exports.vault import page_names
from tests.support.import_samples import SAMPLES

PLAIN: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
EVERYTHING = Filter(include_closed=True, include_expired=True)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "memory.db", **PLAIN) as engine:
        for name in ("graphiti", "hindsight", "server-memory"):
            (tmp_path / name).mkdir()
            engine.banks.import_from("b", SAMPLES[name](tmp_path / name))
        engine.retain(
            "b",
            'He said "stop" & left <at once>.\x0b Then \\ he ran.',
            document_id="odd",
            timestamp="2024-01-01",
        )
        yield engine


def test_a_line_of_jsonl_is_a_fact_with_the_same_keys_in_each(memory: Perdure, tmp_path: Path) -> None:
    report = memory.banks.export_to("b", tmp_path / "facts.jsonl")
    assert report.path.stat().st_mode & 0o777 == 0o600
    rows = [json.loads(line) for line in (tmp_path / "facts.jsonl").read_text().splitlines()]
    assert report.written == len(rows) == len(list(memory.facts.iterate("b", where=EVERYTHING)))
    assert len({tuple(row) for row in rows}) == 1
    (works,) = [row for row in rows if row["text"] == "Kendra works at Nimbus"]
    assert works["state"] == "ended"
    assert works["valid_to"] == "2024-08-01T00:00:00+00:00"
    assert (works["subject"], works["relation"], works["object"]) == ("Kendra", "works_at", "Nimbus")


def test_an_existing_file_is_replaced_only_by_force_and_never_in_part(
    memory: Perdure, tmp_path: Path
) -> None:
    target = tmp_path / "x.dot"
    target.write_text("mine")
    with pytest.raises(InvalidInput, match="force"):
        memory.banks.export_to("b", target, format="dot")
    assert target.read_text() == "mine"
    memory.banks.export_to("b", target, format="dot", force=True)
    assert target.read_text().startswith("digraph")
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(InvalidInput, match="one of perdure, jsonl"):
        memory.banks.export_to("b", tmp_path / "y", format="csv")
    with pytest.raises(NotFound):
        memory.banks.export_to("b", tmp_path / "none" / "y")
    with pytest.raises(NotFound):
        memory.banks.export_to("c", tmp_path / "y")


def test_graphml_is_a_graph_in_which_every_edge_has_its_nodes(memory: Perdure, tmp_path: Path) -> None:
    memory.banks.export_to("b", tmp_path / "b.graphml", format="graphml")
    root = ElementTree.parse(tmp_path / "b.graphml").getroot()
    keys = {key.get("id") for key in root.iter(f"{GRAPHML}key")}
    assert {data.get("key") for data in root.iter(f"{GRAPHML}data")} <= keys
    ids = [node.get("id") for node in root.iter(f"{GRAPHML}node")]
    assert len(ids) == len(set(ids))
    edges = list(root.iter(f"{GRAPHML}edge"))
    assert all({edge.get("source"), edge.get("target")} <= set(ids) for edge in edges)
    labels = {tuple(data.text for data in edge if data.get("key") in ("e_kind", "e_label")) for edge in edges}
    assert {("relation", "works_at"), ("cause", "causes"), ("mention", "mentions")} <= labels


def test_a_vault_has_a_page_per_entity_and_every_link_leads_to_one(memory: Perdure, tmp_path: Path) -> None:
    report = memory.banks.export_to("b", tmp_path / "vault", format="markdown")
    pages = {path.stem: path.read_text() for path in (tmp_path / "vault").rglob("*.md")}
    assert report.written == len(pages)
    assert set(page_names(memory.entities.list("b")).values()) <= pages.keys()
    for text in pages.values():
        assert set(read_note(text.replace("\\|", "|")).links) <= pages.keys()
    kendra = pages["Kendra"]
    assert "## Earlier" in kendra
    assert "works at [[Nimbus]]" in kendra
    assert "until 2024-08-01" in kendra
    assert read_note(kendra).text("type") == "person"
    assert "[[Kendra]]" in pages["Nimbus"]


def test_a_vault_is_replaced_by_force_and_a_strangers_folder_never(memory: Perdure, tmp_path: Path) -> None:
    memory.banks.export_to("b", tmp_path / "vault", format="markdown")
    (tmp_path / "vault" / "Entities" / "stale.md").write_text("old")
    with pytest.raises(InvalidInput):
        memory.banks.export_to("b", tmp_path / "vault", format="markdown")
    memory.banks.export_to("b", tmp_path / "vault", format="markdown", force=True)
    assert not (tmp_path / "vault" / "Entities" / "stale.md").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.md").write_text("mine")
    with pytest.raises(InvalidInput, match="exported before"):
        memory.banks.export_to("b", tmp_path / "mine", format="markdown", force=True)
    assert (tmp_path / "mine" / "note.md").read_text() == "mine"


def test_hindsights_archive_and_back_is_the_same_bank(memory: Perdure, tmp_path: Path) -> None:
    report = memory.banks.export_to("b", tmp_path / "b.zip", format="hindsight")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        documents = [
            json.loads(archive.read(name)) for name in archive.namelist() if name.startswith("documents/")
        ]
    assert manifest["schema_version"] == 1
    assert manifest["fact_count"] == report.written == sum(len(document["facts"]) for document in documents)
    memory.banks.import_from("again", tmp_path / "b.zip")

    def told(bank: str) -> set[tuple[object, ...]]:
        return {
            (
                fact.text, fact.type, fact.document_id, fact.mentioned_at, fact.occurred, fact.valid_from, fact.valid_to,
                fact.subject, fact.relation, fact.object, fact.tags, frozenset(fact.metadata.items()), fact.speaker, fact.context,
            )
            for fact in memory.facts.iterate(bank, where=EVERYTHING)
        }  # fmt: skip

    assert told("again") == told("b")
    names = [{entity.name for entity in memory.entities.list(bank)} for bank in ("b", "again")]
    assert names[0] == names[1]
    texts = [
        {
            chunk.text
            for one in memory.documents.list(bank)
            for chunk in memory.documents.chunks(bank, document_id=one.id)
        }
        for bank in ("b", "again")
    ]
    assert texts[0] == texts[1]
    memory.banks.export_to("again", tmp_path / "again.zip", format="hindsight")
    assert memory.banks.import_from("again", tmp_path / "again.zip").retired == 0
