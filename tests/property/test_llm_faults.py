"""Models that answer anything at all: no text is lost, no fact doubled, no closed fact opened again."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from perdure import Fact, Filter, LlmBusy, LlmCapReached, LlmCut, LlmInvalid, LlmRefused, LlmRequest, Perdure
from tests.support.memory_store import MemoryStore
from tests.support.scripted_llm import ScriptedLlm, Step

MONDAY = datetime(2026, 5, 4, 10, tzinfo=UTC)
EVERYTHING = Filter(include_closed=True, include_expired=True)
PLACES = ("Oslo", "Lisbon", "Graz", "Turin", "Ghent")
ERRORS = (
    LlmBusy("busy", status=503),
    LlmRefused("refused", status=400),
    LlmRefused("no key", status=401),
    LlmCut("cut"),
    LlmInvalid("invalid"),
    LlmCapReached("calls", "cap"),
)


class Chaos:
    """Answers by chance: errors, rubbish, facts of wrong turns, with wrong labels, names and dates, or good ones."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def __call__(self, request: LlmRequest) -> Step:
        chance = self._chance
        roll = chance.random()
        if roll < 0.2:
            return chance.choice(ERRORS)
        if roll < 0.3:
            return chance.choice(["", "[]", '{"facts": 1}', '{"facts": [{"turn": 1}]}', '{"facts": []}'])
        lines = [
            line for line in request.messages[-1].text.splitlines() if line[:1].isdigit() and ': "' in line
        ]
        facts: list[object] = []
        for number, line in enumerate(lines, 1):
            text = json.loads(line[line.index('"') :])
            facts += [self._fact(number, text) for _ in range(chance.choice((0, 1, 1, 2)))]
        return {"facts": facts}

    def _fact(self, number: int, text: str) -> dict[str, object]:
        chance = self._chance
        words = text.split()
        fact: dict[str, object] = {
            "turn": chance.choice((number, number, number, number + 1, -1, 99)),
            "text": chance.choice(
                (f"Ann says {text}", text.replace("I ", "Ann "), "Zorro owns 77 llamas.", "", "x" * 3_000)
            ),
        }
        if chance.random() < 0.5:
            fact["quote"] = chance.choice((text, " ".join(words[:3]), "never said", ""))
        if chance.random() < 0.4:
            fact[chance.choice(("changed", "corrected"))] = [chance.choice(("F1", "F2", "F9", "x"))]
        if chance.random() < 0.4:
            fact |= {
                "when": chance.choice(("today", words[0], "never")),
                "date": chance.choice(("2026-01-01", "x")),
            }
        if chance.random() < 0.3:
            fact["causes"] = [[chance.randrange(5), chance.random()]]
        if chance.random() < 0.4:
            fact["entities"] = [chance.choice(("person:Zorro", "place:Oslo", "Ann", ":"))]
        return fact


def closed(facts: dict[str, Fact]) -> set[str]:
    return {fact.id for fact in facts.values() if not fact.is_open}


SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 253))]


@pytest.mark.parametrize("extractor", ["llm", "refine"])
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_a_model_answers_memory_stays_whole(extractor: str, seed: int) -> None:
    chance = random.Random(1_000 + seed)
    marks: list[str] = []
    gone: set[str] = set()
    with Perdure.open(
        store=MemoryStore(), llm=ScriptedLlm(Chaos(seed)), extractor=extractor, refine_after=None,
        embedder="hashing", reranker="none", tagger="rules", tokens="approximate",
    ) as memory:  # fmt: skip
        for day in range(5):
            turns = []
            for _ in range(chance.randrange(1, 5)):
                marks.append(f"gadget{len(marks)}")
                home = f" I live in {chance.choice(PLACES)} now." if chance.random() < 0.4 else ""
                turns.append({"speaker": "Ann", "content": f"I repaired my {marks[-1]} at home.{home}"})
            memory.retain("b", turns, timestamp=MONDAY + timedelta(days=day), document_id=f"d{day}")
            if extractor == "refine":
                memory.operations.get("b", memory.documents.refine("b").id, wait=60)
            facts = {fact.id: fact for fact in memory.facts.iterate("b", where=EVERYTHING)}
            assert gone <= closed(facts)
            gone = closed(facts)
            current = [fact.text for fact in memory.facts.iterate("b")]
            assert len(current) == len(set(current))
            told = " ".join(
                f"{fact.source_text} {fact.text}" for fact in facts.values() if fact.invalid_reason is None
            )
            assert not set(marks) - set(re.findall(r"gadget\d+", told))
            assert not any("llama" in fact.text or "Zorro" in fact.text for fact in facts.values())
            assert not any("Zorro" in entity.name for entity in memory.entities.list("b"))


def test_without_a_model_nothing_of_it_is_imported() -> None:
    program = """
import sys
from perdure import Perdure
from tests.support.memory_store import MemoryStore
with Perdure.open(store=MemoryStore(), embedder="hashing", reranker="none", tagger="rules") as memory:
    memory.retain("b", "Ann lives in Oslo.")
    memory.recall("b", "Where does Ann live?")
print([name for name in sys.modules if name.startswith(("perdure.llm", "perdure.extract.llm", "perdure.jobs.refine"))])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
