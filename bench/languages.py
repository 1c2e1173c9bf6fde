"""Recall in five languages: `python -m bench.languages [--embedder NAME] [--reranker NAME] [--half unseen]`.

`bench/languages/*.json` has 44 turns of one user and 60 questions per language, the same ones in each, with names and places of
its own: 20 with the words of the turn, 20 in other words, 20 that no turn answers. Half of each kind is `seen`, half `unseen`:
thresholds and weights are chosen on the seen half, the other one tells what they are worth.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.page import PAGE, load_now, table, taken, write_section
from perdure.engine import Perdure
from perdure.evaluation.run import ITEM_KEY
from perdure.settings import Settings

FOLDER = Path(__file__).with_name("languages")
LANGUAGES = ("en", "de", "es", "ja", "zh")
HALVES = ("seen", "unseen")
RECIPES = ("default", "fast")
FIRST_TURN = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
ASKED_AT = datetime(2025, 6, 2, 9, 0, tzinfo=UTC)
HEAD = (
    "language",
    "right first",
    "first, same words",
    "first, other words",
    "in three",
    "strong, answerable",
    "strong and first",
    "strong, unanswerable",
    "weak, unanswerable",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question; `fact` is the turn that answers it, None when none does."""

    text: str
    wording: str
    fact: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a recall gave: the turns in order of their best fact, and the level of evidence."""

    question: Question
    turns: tuple[str, ...]
    level: str

    def within(self, places: int) -> bool:
        """Whether the right turn is among the first."""
        return self.question.fact in self.turns[:places]


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageData:
    """The turns and questions of one language."""

    language: str
    facts: dict[str, str]
    seen: tuple[Question, ...]
    unseen: tuple[Question, ...]

    def questions(self, halves: Sequence[str]) -> tuple[Question, ...]:
        """The questions of these halves."""
        return tuple(q for half in halves for q in (self.seen if half == "seen" else self.unseen))


def read_language(language: str) -> LanguageData:
    """The labelled data of a language."""
    raw: dict[str, Any] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    halves = {half: tuple(Question(**question) for question in raw[half]) for half in HALVES}
    return LanguageData(language=language, facts=raw["facts"], **halves)


def retain_language(engine: Perdure, data: LanguageData) -> None:
    """Each turn a conversation of its own, a day apart."""
    turns = [
        {
            "content": text,
            "role": "user",
            "document_id": name,
            "timestamp": FIRST_TURN + timedelta(days=day),
            "metadata": {ITEM_KEY: name},
        }
        for day, (name, text) in enumerate(data.facts.items())
    ]
    engine.retain(data.language, turns)


def ask_all(engine: Perdure, bank: str, questions: Sequence[Question], recipe: str) -> Iterator[Answer]:
    """The answers of a recipe."""
    for question in questions:
        result = engine.recall(bank, question.text, recipe=recipe, asked_at=ASKED_AT, track=False)
        turns = dict.fromkeys(r.fact.metadata.get(ITEM_KEY, "") for r in result.recollections)
        yield Answer(question=question, turns=tuple(turns), level=result.evidence.value)


def share(answers: Sequence[bool]) -> str:
    """The share of the true ones."""
    return f"{sum(answers) / len(answers):.2f}" if answers else ""


def row(label: str, answers: Sequence[Answer]) -> list[str]:
    """The figures of one language."""
    answerable = [a for a in answers if a.question.fact is not None]
    unanswerable = [a for a in answers if a.question.fact is None]
    strong = [a for a in answerable if a.level == "strong"]
    return [
        label,
        share([a.within(1) for a in answerable]),
        *(share([a.within(1) for a in answerable if a.question.wording == w]) for w in ("same", "other")),
        share([a.within(3) for a in answerable]),
        share([a.level == "strong" for a in answerable]),
        share([a.within(1) for a in strong]),
        share([a.level == "strong" for a in unanswerable]),
        share([a.level == "weak" for a in unanswerable]),
    ]


def measure(
    settings: Settings, languages: Sequence[str], halves: Sequence[str]
) -> dict[str, list[list[str]]]:
    """Recipe -> a row per language."""
    rows: dict[str, list[list[str]]] = {recipe: [] for recipe in RECIPES}
    with (
        tempfile.TemporaryDirectory(prefix="perdure-languages-") as folder,
        Perdure.open(Path(folder) / "memory.db", settings=settings) as engine,
    ):
        for data in map(read_language, languages):
            retain_language(engine, data)
            for recipe in RECIPES:
                answers = list(ask_all(engine, data.language, data.questions(halves), recipe))
                rows[recipe].append(row(data.language, answers))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default=Settings().embedder)
    parser.add_argument("--reranker", default=Settings().reranker)
    parser.add_argument("--languages", nargs="+", default=LANGUAGES, choices=LANGUAGES)
    parser.add_argument("--half", nargs="+", default=HALVES, choices=HALVES)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    chosen = parser.parse_args()
    load = load_now()
    settings = Settings(embedder=chosen.embedder, reranker=chosen.reranker)
    rows = measure(settings, chosen.languages, chosen.half)
    lines = []
    for recipe in RECIPES:
        lines += [f"`{recipe}`:", "", *table(HEAD, rows[recipe]), ""]
    print("\n".join(lines))
    if chosen.write:
        command = f"python -m bench.languages --embedder {chosen.embedder} --reranker {chosen.reranker}"
        head = [f"### Five languages, {chosen.embedder}", "", taken(command, load), ""]
        write_section(f"languages-{chosen.embedder}", [*head, *lines], PAGE)


if __name__ == "__main__":
    main()
