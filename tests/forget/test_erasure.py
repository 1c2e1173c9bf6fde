"""What is forgotten is nowhere in the files, by any of its wordings, names or hashes."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure import Filter, Perdure
from perdure.ports.store import Traces
from perdure.retain.identity import digest
from tests.support.postgres import Server

WORD = "Zanzibarquux"
OPTIONS: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}


@pytest.fixture(params=["local", "verbatim"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", extractor=request.param, **OPTIONS) as opened:
        yield opened


def traces(folder: Path, word: str = WORD) -> int:
    return b"".join(path.read_bytes() for path in folder.iterdir()).lower().count(word.lower().encode())


def forget_facts_with(memory: Perdure, word: str) -> None:
    for fact in list(memory.facts.iterate("b", where=Filter(include_closed=True))):
        if word in fact.text + fact.source_text:
            assert memory.forget("b", fact_id=fact.id).traces is Traces.CLEARED


def tell_of_person(memory: Perdure) -> str:
    """Retain a conversation about a person; return a statement that is also about somebody else."""
    said = [
        ("Ann", f"{WORD} and I broke up on Sunday."),
        ("Ben", f"Oh no. Is {WORD}'s cat with you?"),
        ("Ann", "She lives with my sister now. My own cat is called Miso."),
        (f"{WORD} Brandt", "I like tea. How are you?"),
    ]
    turns = [{"content": text, "speaker": speaker} for speaker, text in said]
    memory.retain(
        "b",
        turns,
        document_id="d",
        title=f"Chat with {WORD}",
        context=f"after {WORD} left",
        tags=[WORD, "chat"],
        relations=[("Ann", "separated from", f"{WORD} Brandt"), (f"{WORD} Brandt", "likes", "tea")],
    )
    memory.retain(
        "b", f"Ann met {WORD} Brandt.", entities=[(f"{WORD} Brandt", "person")], metadata={"who": WORD}
    )
    memory.operations.get("b", memory.consolidate("b").id, wait=60)
    return next(one.id for one in memory.facts.iterate("b") if one.text.endswith("broke up on Sunday."))


def test_a_forgotten_person_is_nowhere_in_the_files(memory: Perdure, tmp_path: Path) -> None:
    kept = tell_of_person(memory)
    (person,) = memory.entities.list("b", name=f"{WORD} Brandt")
    preview = memory.preview_forget("b", entity_id=person.id)
    assert kept in {one.fact_id for one in preview.statements}
    forgotten = memory.forget("b", entity_id=person.id, keep=[kept])
    assert memory.facts.get("b", kept).text.endswith("[removed] and I broke up on Sunday.")
    assert traces(tmp_path) == 0
    assert forgotten.mentions_left == 0
    assert any("Miso" in fact.text for fact in memory.facts.list("b").facts)


def test_a_forgotten_person_is_nowhere_in_the_files_of_a_postgresql_server() -> None:
    own = Server()
    own.start()
    own.execute("CREATE DATABASE memory")
    try:
        with Perdure.open(own.url("memory"), **OPTIONS) as memory:
            tell_of_person(memory)
            own.execute("CHECKPOINT")
            assert files_of_server_with(own, WORD)
            (person,) = memory.entities.list("b", name=f"{WORD} Brandt")
            forgotten = memory.forget("b", entity_id=person.id)
            assert forgotten.mentions_left == 0
            until(lambda: not files_of_server_with(own, WORD))
            assert any("Miso" in fact.text for fact in memory.facts.list("b").facts)
    finally:
        own.remove()


def files_of_server_with(server: Server, word: str) -> list[str]:
    """Return the files of the data folder that have the word, write-ahead log included, in any case."""
    return sorted(
        path.name
        for path in server.data.rglob("*")
        if path.is_file() and path.parent.name != "log" and word.lower().encode() in path.read_bytes().lower()
    )


def until(holds: Callable[[], bool]) -> None:
    """Wait for what background work brings about."""
    for _ in range(240):
        if holds():
            return
        time.sleep(0.25)
    assert holds()


def test_forgetting_any_wording_forgets_all(memory: Perdure, tmp_path: Path) -> None:
    (first,) = memory.retain("b", f"The code is {WORD}one.").fact_ids
    second = memory.facts.update("b", first, text=f"The code is {WORD}two.")
    memory.facts.update("b", second.id, text=f"The code is {WORD}three.")
    assert memory.preview_forget("b", fact_id=second.id).facts == 3
    assert memory.forget("b", fact_id=first).facts == 3
    assert traces(tmp_path) == 0


def test_a_short_secret_cannot_be_guessed_from_what_is_left(memory: Perdure, tmp_path: Path) -> None:
    around = "The garden is open in July."
    turns = [{"content": text, "speaker": "Ann"} for text in ("My number is 4711.", around)]
    memory.retain("b", turns, document_id="d", timestamp="2024-05-01")
    memory.retain("b", "The box opens with 4712.", timestamp="2024-05-01")
    operation = memory.retain_later("b", "The door opens with 4713.", timestamp="2024-05-01")
    memory.operations.get("b", operation.id, wait=30)
    for number in ("4711", "4712", "4713"):
        forget_facts_with(memory, number)
    assert not memory.records.list("hash_key", bank="b")
    assert [job.body["digest"] for job in memory.records.list("job", bank="b")] == [""]
    with sqlite3.connect(tmp_path / "m.db") as db:
        stored = str(db.execute("SELECT id, content_hash FROM chunk").fetchall())
        stored += str(db.execute("SELECT id, content_hash FROM document").fetchall())
    said = datetime(2024, 5, 1, tzinfo=UTC).isoformat()
    for number in range(4700, 4720):
        for text in (
            f"My number is {number}.",
            f"The box opens with {number}.",
            f"The door opens with {number}.",
        ):
            guesses = [digest(text, said), digest(f"Ann: {text}\nAnn: {around}", said, said)]
            guesses += [digest("b", "document", "", text, said), digest(text)]
            assert not any(guess in stored for guess in guesses)


def test_an_unlinked_entity_leaves_its_facts(memory: Perdure) -> None:
    memory.retain("b", f"Ann met {WORD} Brandt.", entities=[(f"{WORD} Brandt", "person")])
    (person,) = memory.entities.list("b", name=f"{WORD} Brandt")
    assert memory.entities.unlink("b", person.id).facts == 0
    assert not memory.entities.list("b", name=f"{WORD} Brandt")
    assert [WORD in fact.text for fact in memory.facts.list("b").facts] == [True]
