"""Random faults of a real server over retain, consolidation and reflect: memory stays whole, and every call is accounted for."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure import Fact, FactType, Filter, Perdure
from tests.support.llm_server import (  # fmt: skip
    Answer,
    CutBody,
    Failure,
    Hang,
    LlmServer,
    RawBody,
    ServerRequest,
    ServerStep,
)

MONDAY = datetime(2026, 5, 4, 10, tzinfo=UTC)
EVERYTHING = Filter(include_closed=True, include_expired=True)
PLACES = ("Oslo", "Lisbon", "Graz", "Turin", "Ghent")
CAP = 9_000
"""Tokens a day for each operation."""
USED = (100, 20)
WORDS = ("F1", "F2", "F9", "M1", "P1", "T1", "O1", "S1", "Zorro owns 77 llamas.", "Ann lives in Oslo.", "supporting", "", "x" * 500)  # fmt: skip
FAULTS: Sequence[ServerStep] = (
    Failure(400, "no such thing"),
    Failure(401, "no key"),
    Failure(402, "no money"),
    Failure(429, "slow down", retry_after="0"),
    Failure(500),
    Failure(503),
    CutBody(),
    RawBody("<html>"),
    RawBody("{}"),
    Answer(text="No.", usage=USED),
    Answer(text='{"facts": [{"turn": 1, "text": "Ann', finish="length", usage=USED),
    Answer(text="", finish="content_filter", usage=USED),
    Hang(),
)
WEIGHTS = (2, 1, 1, 3, 3, 3, 2, 1, 1, 3, 3, 2, 1)


class ChaoticModel:
    """A fault for some requests, for the others any value of the schema or arguments of a tool that were asked for."""

    def __init__(self, seed: int, share: float) -> None:
        self._chance, self._share = random.Random(seed), share
        self.steps: list[ServerStep] = []

    def __call__(self, request: ServerRequest) -> ServerStep:
        step = self._step(request)
        self.steps.append(step)
        return step

    def _step(self, request: ServerRequest) -> ServerStep:
        chance = self._chance
        if chance.random() < self._share:
            return chance.choices(FAULTS, WEIGHTS)[0]
        tools = request.body.get("tools")
        if tools:
            function = chance.choice(tools)["function"]
            return Answer(calls=[(function["name"], self._value(function["parameters"]))], usage=USED)
        asked = request.body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        return Answer(value=self._value(asked), usage=USED)

    def _value(self, schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> object:
        """Any value that a JSON schema admits, of strings that may be anything."""
        chance, root = self._chance, root or schema
        if "$ref" in schema:
            return self._value(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
        for union in ("anyOf", "oneOf"):
            if union in schema:
                return self._value(chance.choice(schema[union]), root)
        if "enum" in schema:
            return chance.choice(schema["enum"])
        kind = schema.get("type")
        match chance.choice(kind) if isinstance(kind, list) else kind:
            case "object":
                needed = schema.get("required", ())
                return {
                    name: self._value(part, root)
                    for name, part in schema.get("properties", {}).items()
                    if name in needed or chance.random() < 0.7
                }
            case "array":
                return [self._value(schema.get("items", {}), root) for _ in range(chance.randrange(4))]
            case "integer" | "number":
                return chance.choice((0, 1, 2, 99, -1))
            case "boolean":
                return chance.random() < 0.5
            case "null":
                return None
            case _:
                return chance.choice(WORDS)


def closed(facts: Mapping[str, Fact]) -> set[str]:
    return {fact.id for fact in facts.values() if not fact.is_open}


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 504))]


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_a_server_does_nothing_is_lost_and_everything_is_accounted_for(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perdure.llm.caller.back_off", lambda rules, attempt: 0.0)
    chance = random.Random(1_000 + seed)
    model = ChaoticModel(seed, share=chance.choice((0.2, 0.5, 0.9)))
    marks: list[str] = []
    gone: set[str] = set()
    now = [MONDAY]
    with (
        LlmServer(model) as server,
        Perdure.open(
            tmp_path / "m.db", clock=lambda: now[0], llm="openai:chaos", llm_url=server.url, llm_key="k",
            llm_timeout=0.5, llm_tokens_a_day=CAP, llm_reflect_seconds=20.0, extractor="llm",
            embedder="hashing", reranker="none", tagger="rules", tokens="approximate",
        ) as memory,
    ):  # fmt: skip
        for day in range(3):
            now[0] = MONDAY + timedelta(days=day)
            turns = []
            for _ in range(chance.randrange(1, 4)):
                marks.append(f"gadget{len(marks)}")
                home = f" I live in {chance.choice(PLACES)} now." if chance.random() < 0.4 else ""
                turns.append(
                    {"speaker": "Ann", "content": f"I love my {marks[-1]}, which I repaired at home.{home}"}
                )
            memory.retain("b", turns, timestamp=now[0], document_id=f"d{day}")
            memory.operations.get("b", memory.consolidate("b").id, wait=60)
            reflection = memory.reflect("b", "What did Ann repair?", budget="low")
            ids = {fact.id for fact in memory.facts.iterate("b", where=EVERYTHING)}
            assert all(set(sentence.fact_ids) <= ids for sentence in reflection.sentences)

            facts = {
                fact.id: fact
                for fact in memory.facts.iterate("b", where=EVERYTHING)
                if fact.type in (FactType.WORLD, FactType.EXPERIENCE)
            }
            assert gone <= closed(facts)
            gone = closed(facts)
            current = Counter(fact.text for fact in facts.values() if fact.is_open)
            assert not [text for text, times in current.items() if times > 1]
            told = " ".join(f"{fact.source_text} {fact.text}" for fact in facts.values())
            assert not set(marks) - set(re.findall(r"gadget\d+", told))
            everything = json.dumps(
                [fact.text for fact in memory.facts.iterate("b", where=EVERYTHING)] + [reflection.text]
            )
            assert "Zorro" not in everything
            assert "llamas" not in everything

        rows = memory.llm.costs("b")
        calls = memory.llm.calls("b")
    # A call that ran out of its half second may not have reached the server.
    assert len(model.steps) <= sum(row.calls for row in rows) == len(calls)
    counted = sum(isinstance(step, Answer) for step in model.steps) * sum(USED)
    assert sum(row.input_tokens + row.output_tokens for row in rows) >= counted
    by_day: dict[tuple[object, str], list[int]] = {}
    for call in reversed(calls):
        by_day.setdefault((call.at.date(), call.operation), []).append(call.input_tokens + call.output_tokens)
    assert all(sum(spent[:-1]) < CAP for spent in by_day.values())
