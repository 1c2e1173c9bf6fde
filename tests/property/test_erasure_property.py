"""After any history, what is forgotten is in no file: no word, no vector, no hash from which a short text can be guessed."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from perdure import Filter, Perdure
from perdure.retain.identity import digest
from tests.support.postgres import new_database

BANK = "b"
NAMES = ("Brixo", "Calvue", "Dorwin")
PLAIN = ("The garden is open in July.", "Tea is served at five.", "It rained all day in the harbour.")
EVERYTHING = Filter(include_closed=True, include_expired=True)
OPTIONS: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}


class History:
    """A memory that is used at random; every secret is a word that occurs nowhere else."""

    def __init__(self, memory: Perdure, chance: random.Random) -> None:
        self.memory, self.chance = memory, chance
        self.now = datetime(2024, 1, 1, tzinfo=UTC)
        self._numbers = count(4711)
        self.secrets: dict[str, str] = {}
        """Fact id -> the word of it that has to go with it."""
        self.sentences: list[str] = []

    def step(self) -> None:
        self.now += timedelta(hours=self.chance.randint(1, 90))
        actions: list[Callable[[], None]] = [
            self.retain,
            self.retain,
            self.update,
            self.correct,
            self.consolidate,
            self.export,
        ]
        self.chance.choice(actions)()

    def _sentence(self) -> tuple[str, str]:
        secret = f"quux{next(self._numbers)}"
        sentence = f"{self.chance.choice(NAMES)} said that the code is {secret}."
        self.sentences.append(sentence)
        return secret, sentence

    def retain(self) -> None:
        secret, sentence = self._sentence()
        texts = [sentence, *self.chance.sample(PLAIN, 2)]
        self.chance.shuffle(texts)
        speakers = self.chance.sample(("Ann", "Ben", ""), 1) * 3
        turns = [{"content": text, "speaker": speaker} for text, speaker in zip(texts, speakers, strict=True)]
        document_id = self.chance.choice((None, f"d{secret[-1]}"))
        stored = self.memory.retain(
            BANK,
            turns if document_id else texts[0] if secret in texts[0] else sentence,
            document_id=document_id,
            timestamp=self.now,
            title=self.chance.choice(("", "a talk")),
            update_mode=self.chance.choice(("append", "replace")) if document_id else "replace",
        )
        for fact in self.memory.facts.get_many(BANK, stored.fact_ids):
            if secret in fact.text:
                self.secrets[fact.id] = secret

    def update(self) -> None:
        facts = self._secret_facts()
        if facts:
            fact = self.chance.choice(facts)
            self.memory.facts.update(BANK, fact, context=f"about {self.secrets[fact]}")

    def correct(self) -> None:
        facts = self._secret_facts()
        if facts:
            fact = self.chance.choice(facts)
            secret, sentence = self._sentence()
            self.secrets[self.memory.facts.update(BANK, fact, text=sentence).id] = secret

    def consolidate(self) -> None:
        self.memory.operations.get(BANK, self.memory.consolidate(BANK).id, wait=60)

    def export(self) -> None:
        assert list(self.memory.banks.export(BANK))

    def _secret_facts(self) -> list[str]:
        stored = {fact.id for fact in self.memory.facts.iterate(BANK, where=Filter())}
        return sorted(stored & self.secrets.keys())

    def forget_all(self) -> None:
        """Forget every secret: by fact, by document, or with the person whom the sentence names."""
        for name in self.chance.sample(NAMES, 1):
            for entity in self.memory.entities.list(BANK, name=name):
                assert self.memory.forget(BANK, entity_id=entity.id).mentions_left == 0
        for fact in list(self.memory.facts.iterate(BANK, where=EVERYTHING)):
            if "quux" in fact.text + fact.source_text + fact.context:
                by_document = fact.document_id is not None and self.chance.random() < 0.2
                target = {"document_id": fact.document_id} if by_document else {"fact_id": fact.id}
                self.memory.forget(BANK, **target)


def secret_vectors(file: Path) -> list[str]:
    """The stored vectors of facts with a secret."""
    with sqlite3.connect(file) as db:
        rows = db.execute(
            "SELECT value FROM vector JOIN fact ON fact.bank = vector.bank AND fact.no = vector.fact"
            " WHERE fact.text LIKE '%quux%'"
        ).fetchall()
    return [value.decode("latin-1") for (value,) in rows]


def read_files(folder: Path) -> str:
    return "".join(path.read_bytes().decode("latin-1") for path in folder.iterdir())


def read_tables(url: str) -> str:
    with psycopg.connect(url) as connection:
        named = connection.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        return "".join(
            str(connection.execute(f"SELECT row::text FROM {name} AS row").fetchall())  # type: ignore[arg-type]
            for (name,) in named
        )


def run(history: History, steps: int = 12) -> None:
    history.retain()
    for _ in range(steps):
        history.step()


def check_nothing_left(history: History, stored: str) -> None:
    assert "quux" not in stored.lower()
    guesses = [digest(*parts) for said in history.sentences for parts in ((said,), (said, ""))]
    assert not any(guess in stored for guess in guesses)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_of_what_is_forgotten_is_in_a_file(seed: int, tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "m.db", extractor="local", **OPTIONS) as memory:
        history = History(memory, random.Random(seed))
        run(history)
        vectors = secret_vectors(tmp_path / "m.db")
        assert vectors
        history.forget_all()
        stored = read_files(tmp_path)
        check_nothing_left(history, stored)
        assert not any(vector in stored for vector in vectors)


def test_nothing_of_what_is_forgotten_is_in_a_table() -> None:
    with new_database() as url, Perdure.open(url, extractor="local", **OPTIONS) as memory:
        history = History(memory, random.Random(0))
        run(history, 5)
        assert "quux" in read_tables(url)
        history.forget_all()
        check_nothing_left(history, read_tables(url))
