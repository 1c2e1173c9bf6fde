"""The whole way from the command line with the models that users have."""

from __future__ import annotations

from typing import Any

import pytest

ANSWERS = {
    "by meaning": "landlord",
    "by name": "Halvorsen",
    "by time": "West Highland Way",
    "in two hops": "Tromsø",
}


def test_the_demo_is_right_with_the_real_models(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PERDURE_EMBEDDER", "PERDURE_RERANKER", "PERDURE_TAGGER", "PERDURE_TOKENS"):
        monkeypatch.delenv(name)
    ran = cli("demo", "--keep", "demo.db", "--json")
    assert ran.code == 0, ran.err
    questions = {question["kind"]: question for question in ran.json["questions"]}
    for kind, word in ANSWERS.items():
        assert word in questions[kind]["results"][0]["text"], kind
        assert questions[kind]["degraded"] == []
    assert questions["by time"]["understood"]["window"]["start"].startswith("2025-03-01")
    again = cli(
        "recall", "Who introduced moss to Imran?", "--database", "demo.db", "--bank", "demo", "--explain"
    )
    assert again.code == 0
    assert "rerank" in again.out
