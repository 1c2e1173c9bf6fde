"""Retain, recall, context, reflect and forget from the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

CELLO = "Tomás plays the cello in Lisbon."
CHOIR = "Maya sings in the harbour choir."


def test_what_is_retained_is_recalled(cli: Any) -> None:
    retained = cli.remembered(CELLO, CHOIR)
    assert retained.code == 0
    assert retained.json["facts"] == 2
    found = cli("recall", "Who plays the cello?", "--json")
    assert found.code == 0
    assert "cello" in found.json["results"][0]["text"]
    assert found.json["results"][0]["explain"] is None


def test_explain_names_channels_ranks_and_cuts(cli: Any) -> None:
    cli.remembered(CELLO, CHOIR)
    found = cli("recall", "Who plays the cello?", "--explain", "--limit", "1", "--json").json
    explained = found["results"][0]["explain"]
    assert explained["channels"]["keyword"]["rank"] == 1
    assert explained["score"] == pytest.approx(found["results"][0]["score"])
    assert [cut["cut"] for cut in found["cut"]] == ["beyond the limit of 1"] * len(found["cut"])
    assert found["cut"]
    drawn = cli("recall", "Who plays the cello?", "--explain", "--limit", "1").out
    for word in ("sem", "key", "graph", "fused", "score", "left out: ", "beyond the limit of 1", "search"):
        assert word in drawn


def test_recall_of_nothing_has_an_exit_code_of_its_own(cli: Any) -> None:
    cli.remembered(CELLO)
    asked = cli("recall", "Who plays the cello?", "--since", "2030-01-01", "--json")
    assert asked.code == 4
    assert asked.json["results"] == []
    assert cli("context", "Who plays the cello?", "--since", "2030-01-01").code == 4


def test_context_is_fenced_and_cited(cli: Any) -> None:
    cli.remembered(CELLO)
    shown = cli("context", "Who plays the cello?")
    assert shown.out.startswith("<recalled_memory>")
    assert "[1] " in shown.out
    assert cli("context", "cello", "--json").json["context"].startswith("<recalled_memory>")


def test_context_without_anything_that_helps_is_empty_and_says_why(cli: Any) -> None:
    cli.remembered(CELLO)
    asked = ("context", "Which lattice did quantum chromodynamics need?")
    silent = cli(*asked)
    assert (silent.code, silent.out) == (4, "")
    assert "below the floor" in silent.err
    assert cli(*asked, "--json").json["abstained"] is True
    assert cli(*asked, "--precision", "search").out.startswith("<recalled_memory>")
    assert cli("recall", *asked[1:], "--precision", "inject", "--json").json["abstained"] is True


def test_reflect_cites_its_facts(cli: Any) -> None:
    cli.remembered(CELLO)
    answer = cli("reflect", "Who plays the cello?", "--json").json
    assert "[1]" in answer["text"]
    assert "cello" in answer["based_on"][0]["text"]
    assert "[1]" in cli("reflect", "Who plays the cello?").out


def test_question_and_text_come_from_standard_input(cli: Any) -> None:
    assert cli("retain", "--json", stdin=CELLO).json["facts"] == 1
    assert cli("recall", "-", "--json", stdin="Who plays the cello?").json["query"] == "Who plays the cello?"


def test_forget_erases_only_what_was_named(cli: Any) -> None:
    cli.remembered(CELLO, CHOIR)
    facts = cli("facts", "list", "--json").json["facts"]
    cello = next(fact for fact in facts if "cello" in fact["text"])
    assert cli("forget", "--fact", cello["id"], "--yes", "--json").json["forgotten_facts"] == 1
    assert [fact["text"] for fact in cli("facts", "list", "--json").json["facts"]] == [
        fact["text"] for fact in facts if fact["id"] != cello["id"]
    ]


def test_forget_does_nothing_when_nobody_can_be_asked(cli: Any) -> None:
    cli.remembered(CELLO)
    refused = cli("forget", "--everything", stdin="y\n")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert cli("facts", "list", "--json").json["total"] == 1


def test_forget_wants_exactly_one_target(cli: Any) -> None:
    cli.remembered(CELLO)
    assert cli("forget", "--yes").code == 2
    assert cli("forget", "--everything", "--document", "d", "--yes").code == 2


def test_json_is_one_document_and_nothing_else(cli: Any) -> None:
    retained = cli.remembered(CELLO)
    assert retained.err == ""
    assert len(retained.out.splitlines()) == 1
    json.loads(retained.out)
